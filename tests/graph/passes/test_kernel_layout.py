"""Layouts: before and after, and the same values."""

import numpy as np
import pytest

from polysched.graph import from_text, interpret
from polysched.graph.passes.kernel_layout import (
    drop_unit_dimensions,
    pack_weights,
    pad_explicitly,
    products_of_places,
    transposed_by_phases,
)
from polysched.graph.passes.simple import with_types
from polysched.graph.values.graph import Graph
from tests.graph.passes.golden import behind, same_values

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


TRANSPOSED = """graph f(x: float32[{x}], w: float32[{w}], b: float32[{b}]) {{
  let y = ConvTranspose(x, w, b; {attributes})
  return y
}}"""


def test_phases_of_a_stride_are_channels() -> None:
    before = TRANSPOSED.format(x="1, 2, 2, 2", w="2, 3, 2, 2", b="3", attributes="strides=[2, 2]")
    assert behind(transposed_by_phases, before, 1e-5) == """
  const c_0: int64[7] = [1, 2, 3, 1, 2, 1, 2]
  const c_1: int64[4] = [12, 2, 1, 1]
  const c_2: int64[6] = [0, 3, 2, 2, 2, 2]
  const c_3: int64[4] = [0, 0, 4, 4]
  const c_4: int64[3] = [-1, 1, 1]
  let reshape_0 = Reshape(w, c_0)
  let transpose_0 = Transpose(reshape_0; perm=[0, 2, 4, 6, 1, 3, 5])
  let reshape_1 = Reshape(transpose_0, c_1)
  let conv_0 = Conv(x, reshape_1; group=1, pads=[0, 0, 0, 0])
  let reshape_2 = Reshape(conv_0, c_2)
  let transpose_1 = Transpose(reshape_2; perm=[0, 1, 4, 2, 5, 3])
  let reshape_3 = Reshape(transpose_1, c_3)
  let reshape_4 = Reshape(b, c_4)
  let y = Add(reshape_3, reshape_4)
  return y
"""


def test_a_convolution_with_one_window_is_a_product() -> None:
    graph = from_text("""graph f(x: float32[N, 2, 1, 2]) {
  const w: float32[3, 2, 1, 2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
  const b: float32[3] = [1.0, 2.0, 3.0]
  let y = Conv(x, w, b)
  return y
}""")
    made = products_of_places(graph)
    assert [n.op for n in made.nodes] == ["Reshape", "Transpose", "Reshape", "MatMul", "Add", "Reshape"]
    same_values(graph, made, 1e-6)
    larger = graph.but(inputs=(("x", with_types(graph).type_of("x").with_shape((1, 2, 1, 3))),))
    assert [n.op for n in products_of_places(larger).nodes] == ["Conv"]


@pytest.mark.parametrize(("x", "w", "attributes"), [
    ("2, 4, 3", "4, 1, 3", "strides=[2], pads=[1, 0], output_padding=[1]"),
    ("1, 4, 4", "4, 1, 5", "strides=[3], pads=[2, 1], output_padding=[2]"),
    ("1, 4, 2", "4, 1, 1", "strides=[3], output_padding=[2]"),
    ("1, 4, 3, 2", "4, 1, 3, 4", "strides=[2, 1], pads=[1, 0, 1, 2]"),
    ("1, 4, 3, 3", "4, 1, 3, 3", 'strides=[2, 2], auto_pad="SAME_UPPER"'),
    ("1, 4, 3, 3", "4, 1, 3, 3", "strides=[2, 2], output_shape=[8, 5]"),
    ("1, 4, 2, 1, 3", "4, 1, 2, 3, 1", "strides=[2, 3, 2], pads=[0, 1, 0, 1, 0, 0]")])
@pytest.mark.parametrize("groups", [1, 2])
def test_all_kinds_of_strides_and_paddings(x: str, w: str, attributes: str, groups: int) -> None:
    before = from_text(TRANSPOSED.format(x=x, w=w, b=groups, attributes=f"{attributes}, group={groups}"))
    made = transposed_by_phases(before)
    assert all(n.op != "ConvTranspose" for n in made.nodes)
    same_values(before, made, 1e-5)


@pytest.mark.parametrize(("x", "attributes"), [
    ("1, 4, 3", "strides=[1]"), ("1, 4, 3", "strides=[2], dilations=[2]"), ("0, 4, 3", "strides=[1]")])
def test_other_transposed_convolutions_stay(x: str, attributes: str) -> None:
    before = from_text(TRANSPOSED.format(x=x, w="4, 1, 3", b="1", attributes=attributes))
    assert [n.op for n in transposed_by_phases(before).nodes] == ["ConvTranspose"]


@pytest.mark.parametrize(("rows", "panel"), [(1, 4), (2, 16), (4, 16), (5, 8), (65, 8), ("N", 8)])
def test_panels_are_wider_for_few_rows_that_are_several(rows: object, panel: int) -> None:
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


@pytest.mark.parametrize(("rows", "columns", "panel"), [(4, 12, 12), (4, 20, 4), (1, 12, 4), (5, 12, 12), (5, 20, 0)])
def test_panels_are_as_narrow_as_the_columns_want(rows: int, columns: int, panel: int) -> None:
    after = pack_weights(product(rows, columns), lanes=lambda _: 4)
    found = [a.shape for a in after.constants.values() if a.ndim == 3]
    assert found == ([(columns // panel, 3, panel)] if panel else []), "one vector alone serves several rows badly"


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
