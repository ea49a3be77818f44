"""Layouts: before and after, and the same values."""

import numpy as np
import pytest

from polysched.graph import from_text, interpret
from polysched.graph.passes.kernel_layout import drop_unit_dimensions, pack_weights, pad_explicitly
from polysched.graph.passes.simple import with_types
from polysched.graph.values.graph import Graph
from tests.graph.passes.golden import behind

MATMUL = """graph f(x: float32[{rows}, 3]) {{
  const w: float32[3, {columns}] = [{values}]
  let y = MatMul(x, w)
  return y
}}"""
CONV = """graph f(x: float32[{x}], w: float32[{w}]) {{
  let y = Conv(x, w{attributes})
  return y
}}"""


def same(before: Graph, after: Graph, **inputs: np.ndarray) -> list[str]:
    """The operators after a pass that keeps the values and their types."""
    left, right = interpret(before, inputs)["y"], interpret(after, inputs)["y"]
    assert np.array_equal(left, right)
    assert with_types(after).type_of("y") == with_types(before).type_of("y")
    return [n.op for n in after.nodes]


def product(rows: object, columns: int) -> Graph:
    values = ", ".join(str(v) for v in range(3 * columns))
    return from_text(MATMUL.format(rows=rows, columns=columns, values=values))


def test_dimensions_of_one_are_dropped() -> None:
    assert behind(drop_unit_dimensions, CONV.format(x="1, 2, 1, 4", w="3, 2, 1, 2", attributes=""), 1e-6) == """
  const c_0: int64[1] = [2]
  let squeeze_0 = Squeeze(x, c_0)
  let squeeze_1 = Squeeze(w, c_0)
  let conv_0 = Conv(squeeze_0, squeeze_1; group=1, pads=[0, 0])
  let y = Unsqueeze(conv_0, c_0)
  return y
"""


def test_padding_is_a_step_of_its_own() -> None:
    assert behind(pad_explicitly, CONV.format(x="1, 2, 4", w="3, 2, 3", attributes="; pads=[1, 0]"), 1e-6) == """
  const c_0: int64[6] = [0, 0, 1, 0, 0, 0]
  let pad_0 = Pad(x, c_0)
  let y = Conv(pad_0, w)
  return y
"""


@pytest.mark.parametrize(("rows", "panel"), [(5, 4), (64, 4), (65, 8), ("N", 8)])
def test_panels_are_wider_for_many_rows(rows: object, panel: int) -> None:
    before = product(rows, 16)
    after = pack_weights(before, lanes=lambda _: 4)
    x = np.random.default_rng(0).integers(-3, 3, (rows if isinstance(rows, int) else 7, 3)).astype(np.float32)
    assert same(before, after, x=x) == ["Einsum", "Reshape"]
    assert [a.shape for a in after.constants.values() if a.ndim == 3] == [(16 // panel, 3, panel)]


def test_weights_of_two_products_are_packed_once() -> None:
    before = from_text("""graph f(x: float32[2, 2], z: float32[3, 2]) {
  const w: float32[2, 4] = [1, 2, 3, 4, 5, 6, 7, 8]
  let a = MatMul(x, w)
  let b = MatMul(z, w)
  let y = Concat(a, b; axis=0)
  return y
}""")
    after = pack_weights(before, lanes=lambda _: 4)
    assert same(before, after, x=np.ones((2, 2), np.float32), z=np.full((3, 2), 2, np.float32)).count("Einsum") == 2
    assert sum(a.ndim == 3 for a in after.constants.values()) == 1


def test_columns_that_do_not_fill_panels_stay() -> None:
    before = product(5, 6)
    assert pack_weights(before, lanes=lambda _: 4).nodes == before.nodes


def test_weights_that_are_inputs_stay() -> None:
    graph = from_text("graph f(x: float32[2, 3], w: float32[3, 4]) {\n  let y = MatMul(x, w)\n  return y\n}")
    assert pack_weights(graph, lanes=lambda _: 4) is not graph
    assert [n.op for n in pack_weights(graph, lanes=lambda _: 4).nodes] == ["MatMul"]


def arrays(x: tuple[int, ...], w: tuple[int, ...]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {"x": rng.integers(-3, 3, x).astype(np.float32), "w": rng.integers(-3, 3, w).astype(np.float32)}


def conv(x: tuple[int, ...], w: tuple[int, ...], attributes: str = "") -> Graph:
    return from_text(CONV.format(x=", ".join(map(str, x)), w=", ".join(map(str, w)), attributes=attributes))


@pytest.mark.parametrize(("x", "w", "attributes", "expected"), [
    ((2, 3, 9, 1), (4, 3, 3, 1), "; strides=[2, 1], pads=[1, 0, 1, 0]", ["Squeeze", "Squeeze", "Conv", "Unsqueeze"]),
    ((2, 4, 1, 1), (4, 2, 1, 1), "; group=2", ["Squeeze", "Squeeze", "Conv", "Unsqueeze"]),
    ((1, 2, 5, 1), (2, 2, 3, 1), "; pads=[0, 1, 0, 1]", ["Conv"]),
    ((1, 2, 1), (2, 2, 1), "", ["Conv"])])
def test_unit_dimensions_are_dropped(x: tuple[int, ...], w: tuple[int, ...], attributes: str,
                                     expected: list[str]) -> None:
    before = conv(x, w, attributes)
    assert same(before, drop_unit_dimensions(before), **arrays(x, w)) == expected


@pytest.mark.parametrize(("attributes", "expected"), [
    ("; pads=[1, 0, 2, 1]", ["Pad", "Conv"]), ("; auto_pad=\"SAME_UPPER\", strides=[2, 2]", ["Pad", "Conv"]),
    ("; auto_pad=\"VALID\"", ["Conv"]), ("", ["Conv"])])
def test_padding_is_a_copy(attributes: str, expected: list[str]) -> None:
    before = conv((2, 3, 6, 7), (4, 3, 3, 2), attributes)
    assert same(before, pad_explicitly(before), **arrays((2, 3, 6, 7), (4, 3, 3, 2))) == expected
