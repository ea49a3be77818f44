"""Copies of a driver: neighbouring rows at once, transpositions in blocks."""

import numpy as np
import pytest

from polysched.graph import from_text, interpret
from polysched.model import compile_graph


@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (17, 33), (48, 16), (15, 40), (31, 1), (100, 97)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_transpositions(rows: int, columns: int, dtype: str) -> None:
    model = compile_graph(from_text(f"""graph f(x: {dtype}[3, {rows}, {columns}], z: {dtype}[2, {columns}, {rows}]) {{
  let t = Transpose(x; perm=[0, 2, 1])
  let y = Concat(z, t, z; axis=0)
  return y
}}"""))
    assert ("block[16][16]" in model.c_source) == (min(rows, columns) >= 16)
    x = np.arange(3 * rows * columns).reshape(3, rows, columns).astype(dtype)
    z = np.ones((2, columns, rows), dtype)
    assert np.array_equal(model(x=x, z=z)["y"], np.concatenate([z, x.transpose(0, 2, 1), z]))


@pytest.mark.parametrize("perm", [[0, 2, 1, 3], [2, 0, 1, 3], [3, 1, 2, 0], [1, 3, 0, 2], [0, 1, 3, 2]])
def test_permutations(perm: list[int]) -> None:
    model = compile_graph(from_text(f"""graph f(x: float32[17, 3, 20, 18]) {{
  let y = Transpose(x; perm={perm})
  return y
}}"""))
    x = np.random.default_rng(0).normal(size=(17, 3, 20, 18)).astype(np.float32)
    assert np.array_equal(model(x=x)["y"], x.transpose(perm))


def test_neighbours_are_one_loop_and_rows_one_copy() -> None:
    graph = from_text("""graph f(x: float32[2, 3, 4, 5], v: float32[N, 4, 5]) {
  const pads: int64[8] = [0, 1, 0, 0, 0, 0, 2, 0]
  let y = Pad(x, pads)
  let c = Concat(v, v; axis=1)
  return y, c
}""")
    model = compile_graph(graph)
    assert "memcpy(to + 120 * l0 + 30 * l1 + 30, from + 60 * l0 + 20 * l1, 20 * sizeof *to);" in model.c_source
    assert "memcpy(to + 40 * l0 + 20, from + 20 * l0, 20 * sizeof *to);" in model.c_source
    rng = np.random.default_rng(0)
    given = {"x": rng.normal(size=(2, 3, 4, 5)).astype(np.float32), "v": rng.normal(size=(3, 4, 5)).astype(np.float32)}
    found, wanted = model.run(given), interpret(graph, given)
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
