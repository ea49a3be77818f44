"""Copies of a driver: neighbouring rows at once, transpositions in blocks."""

import numpy as np
import pytest

from polysched.emit_c import EmitOptions
from polysched.graph import from_text, interpret
from polysched.model import compile_graph
from polysched.pipeline.options import PipelineOptions


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


LONG = """graph f(x: float32[{rows}, 40, 50], z: float32[{rows}, 3, 2000], v: float32[N, 300]) {{
  const pads: int64[6] = [0, 1, 0, 0, 2, 0]
  const wide: int64[3] = [5, 1, 1]
  const first: int64[1] = [49]
  const last: int64[1] = [-100]
  const axis: int64[1] = [2]
  const step: int64[1] = [-1]
  let t = Transpose(x; perm=[0, 2, 1])
  let p = Pad(z, pads)
  let c = Concat(v, v; axis=1)
  let e = Expand(v, wide)
  let s = Slice(x, first, last, axis, step)
  return t, p, c, e, s
}}"""


@pytest.mark.parametrize(("rows", "shared"), [(40, 5), (2, 0)])
def test_a_team_shares_long_copies(rows: int, shared: int) -> None:
    graph = from_text(LONG.format(rows=rows))
    model = compile_graph(graph)
    lines = [line.strip() for line in model.c_source.splitlines() if "#pragma omp" in line]
    assert lines.count("#pragma omp parallel for if(1200 * (s0) >= 65536)") == 2, "both parts of c"
    assert sum("if(" not in line for line in lines) == shared
    assert ("#pragma omp parallel for collapse(2)" in lines) == (shared > 0)
    rng = np.random.default_rng(0)
    for length in (1, 400):
        given = {n: rng.normal(size=[int(e) if e.is_constant else length for e in t.shape]).astype(np.float32)
                 for n, t in graph.inputs}
        found, wanted = model.run(given), interpret(graph, given)
        assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
    for alone in (PipelineOptions(parallel=False), PipelineOptions(emission=EmitOptions(openmp=False))):
        assert "#pragma omp" not in compile_graph(graph, options=alone).c_source


def test_a_team_shares_few_long_rows_in_parts() -> None:
    graph = from_text("""graph f(x: float32[3, 9001], y: float32[3, 11]) {
  let a = Concat(x, y, x; axis=1)
  let b = Concat(x, x; axis=0)
  return a, b
}""")
    model = compile_graph(graph)
    assert model.c_source.count("at += 4096") == 4
    assert "#pragma omp parallel for collapse(2)\n" in model.c_source
    rng = np.random.default_rng(0)
    given = {"x": rng.normal(size=(3, 9001)).astype(np.float32), "y": rng.normal(size=(3, 11)).astype(np.float32)}
    found, wanted = model.run(given), interpret(graph, given)
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
