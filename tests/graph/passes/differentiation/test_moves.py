"""Derivatives of slices, repetitions, padding, gathered and scattered elements."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.passes.differentiation.gradients import differentiated
from tests.graph.passes.differentiation.test_derivatives import check


@pytest.mark.parametrize("bounds", [
    ("[0]", "[7]", "[2]"), ("[1]", "[6]", "[3]"), ("[6]", "[0]", "[-1]"), ("[-1]", "[-9]", "[-2]"),
    ("[5]", "[1]", "[-3]"), ("[3]", "[3]", "[1]"), ("[100]", "[-100]", "[-1]")])
def test_a_slice_with_steps(bounds: tuple[str, str, str]) -> None:
    start, end, step = bounds
    check(f"""graph g(x: float64[2, 7]) {{
  const axis: int64[1] = [1]
  const start: int64[1] = {start}
  const end: int64[1] = {end}
  const step: int64[1] = {step}
  let f = Slice(x, start, end, axis, step)
  let y = Mul(f, f)
  return y
}}""")


@pytest.mark.parametrize("line", [
    "Tile(x, twice)", "GatherElements(x, places; axis=1)", "GatherND(x, points)",
    'ScatterElements(x, places, u; axis=1, reduction="add")', "ScatterElements(x, places, u; axis=1)",
    'ScatterND(x, points, v; reduction="add")', "ScatterND(x, points, v)", "Dilate(x; strides=[2, 3])",
    "Pad(x, pads, s)", 'Pad(x, pads; mode="edge")', 'Pad(x, ones; mode="reflect")', 'Pad(x, ones; mode="wrap")',
    "Trilu(x)"])
def test_moved_elements(line: str) -> None:
    check(f"""graph g(x: float64[2, 3], u: float64[2, 2], v: float64[2], s: float64[]) {{
  const twice: int64[2] = [2, 3]
  const places: int64[2, 2] = [0, 2, -1, 1]
  const points: int64[2, 2] = [1, 0, 0, -1]
  const pads: int64[4] = [1, -1, 0, 2]
  const ones: int64[4] = [1, 1, 0, 1]
  let f = {line}
  let y = Mul(f, f)
  return y
}}""")


def test_the_smallest_of_what_is_scattered_is_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="the derivative of ScatterElements by 'min'"):
        check("""graph g(x: float64[3], u: float64[2]) {
  const i: int64[2] = [0, 2]
  let y = ScatterElements(x, i, u; reduction="min")
  return y
}""")


def test_rows_that_occur_twice_have_both_gradients() -> None:
    graph = differentiated(from_text("""graph g(x: float64[3, 2]) {
  const i: int64[3, 1] = [1, 1, 0]
  let y = GatherND(x, i)
  let d = Gradient(x; xs=["x"], y="y")
  return d
}"""))
    assert interpret(graph, {"x": np.zeros((3, 2))})["d"].tolist() == [[1, 1], [2, 2], [0, 0]]
