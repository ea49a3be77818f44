"""Sums in parts: the same values at random sizes, exact for integers; what is not a sum of its own is refused."""

from __future__ import annotations

import random

import numpy as np
import pytest

import polysched
from polysched.errors import IllegalScheduleError, UsageError
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling import steps
from polysched.scheduling.primitives import SplitReduction, StripMine
from polysched.scheduling.primitives.split_reduction import neutral
from polysched.scheduling.primitives.stored import step_from_json
from polysched.scop.dtypes import BY_NAME
from polysched.scop.interpreter import execute
from tests.scheduling.primitives.changed_programs import as_written

DOT = """
void dot(int n, {t} *s, {t} a[n], {t} b[n]) {{
#pragma scop
  for (int k = {first}; k < n; k++)
    *s {update};
#pragma endscop
}}
"""
ROWS = """
void rows(int n, int m, {t} y[n], {t} A[n][m], {t} x[m]) {{
#pragma scop
  for (int i = 0; i < n; i++) {{
    y[i] = 3;
    for (int k = 0; k <= i && k < m; k++)
      y[i] {update};
    x[0] = y[i];
  }}
#pragma endscop
}}
"""
PARTS = [(2, 1), (3, 1), (8, 1), (2, 2), (3, 5), (4, 100)]


def values(draw: np.random.Generator, kind: str, *shape: int) -> np.ndarray:
    info = np.iinfo(kind) if np.issubdtype(kind, np.integer) else None
    if info is not None:
        return draw.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
    return draw.integers(-8, 8, shape).astype(kind)   # sums of these have no rounding


def same(text: str, step: SplitReduction, sizes: dict[str, int], arrays: dict[str, np.ndarray]) -> None:
    before = as_written(text)
    after = steps.apply(before, step, reassociate=True)
    old = {k: v.copy() for k, v in arrays.items()}
    new = {k: v.copy() for k, v in arrays.items()}
    execute(before.scop, sizes, old, tree=before.tree)
    execute(after.scop, sizes, new, tree=after.tree)
    for name in arrays:
        np.testing.assert_array_equal(new[name], old[name], err_msg=f"{name} at {sizes}")


@pytest.mark.parametrize(("parts", "run"), [(3, 1), (2, 5)])
@pytest.mark.parametrize(("kind", "update", "first"), [
    ("double", "+= a[k] * b[k]", 0), ("double", "= *s + a[k] * k", 2), ("float", "-= a[k]", 0),
    ("int", "+= a[k] & 7", 0), ("int", "^= a[k]", -3 + 3), ("unsigned", "*= a[k] | 1", 1),
    ("short", "&= a[k]", 0), ("long", "|= b[k]", 0), ("int", "= *s > a[k] ? *s : a[k]", 0),
    ("double", "= *s < a[k] ? *s : a[k]", 0), ("float", "= a[k] > *s || a[k] != a[k] ? a[k] : *s", 0)])
def test_one_element(kind: str, update: str, first: int, parts: int, run: int) -> None:
    draw = np.random.default_rng(parts * 100 + run)
    numpy = {"int": "int32", "unsigned": "uint32", "short": "int16", "long": "int64", "float": "float32",
             "double": "float64"}[kind]
    text = DOT.format(t=kind, update=update, first=first)
    for n in (1, 2, *draw.integers(3, 40, 2)):
        same(text, SplitReduction(loop="k", parts=parts, run=run), {"n": int(n)}, {
            "s": np.array([5], numpy),
            "a": values(draw, numpy, max(1, n)), "b": values(draw, numpy, max(1, n))})


@pytest.mark.parametrize("place", range(7))
def test_nan_in_any_part_is_the_extremum(place: int) -> None:
    text = DOT.format(t="double", update="= a[k] < *s || a[k] != a[k] ? a[k] : *s", first=0)
    data = np.arange(7.0)
    data[place] = np.nan
    same(text, SplitReduction(loop="k", parts=3), {"n": 7}, {"s": np.array([5.0]), "a": data, "b": data.copy()})


@pytest.mark.parametrize(("parts", "run"), PARTS)
def test_rows_whose_element_others_write_before_and_read_behind(parts: int, run: int) -> None:
    draw, source = np.random.default_rng(parts), random.Random(run)
    for _ in range(2):
        n, m = source.randrange(1, 9), source.randrange(1, 30)
        same(ROWS.format(t="double", update="+= A[i][k] * x[k]"), SplitReduction(loop="k", parts=parts, run=run),
             {"n": n, "m": m}, {"y": values(draw, "float64", n), "A": values(draw, "float64", n, m),
                                "x": values(draw, "float64", m)})


def test_sums_of_floats_need_leave_and_integers_do_not() -> None:
    floats, ints = (as_written(DOT.format(t=t, update="+= a[k]", first=0)) for t in ("double", "int"))
    with pytest.raises(IllegalScheduleError, match="changes how a result is rounded") as refusal:
        steps.apply(floats, SplitReduction(loop="k", parts=4))
    assert "another order rounds differently" in str(refusal.value.witness)
    after = steps.apply(ints, SplitReduction(loop="k", parts=4))
    assert after.scop.array("s_parts").dtype.name == "uint32", "partial sums may leave the range of int"
    with pytest.raises(IllegalScheduleError, match="rounded"):
        polysched.optimize(floats.scop, PipelineOptions(steps=(SplitReduction(loop="k", parts=4),)))


@pytest.mark.parametrize(("text", "match"), [
    (DOT.format(t="double", update="= a[k]", first=0), "is no reduction"),
    (DOT.format(t="double", update="= a[k] - *s", first=0), "is no reduction"),
    (DOT.replace("*s {update};", "{{ *s {update}; b[k] = *s; }}").format(t="int", update="+= a[k]", first=0),
     "has 2 statements"),
    (DOT.replace("*s", "b[k]").replace("{t} b[k]", "{t} *s").format(t="int", update="+= a[k]", first=0),
     "moves the element"),
    (DOT.format(t="_Bool", update="|= a[k]", first=0), "in a way that is not split"),
    (DOT.format(t="int", update="= a[k] + (*s + b[k])", first=0), "is no reduction|at once")])
def test_what_is_not_split_is_refused(text: str, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        steps.apply(as_written(text), SplitReduction(loop="k", parts=4), reassociate=True)


@pytest.mark.parametrize(("parts", "run"), [(1, 1), (0, 1), (2, 0), (1 << 21, 1), (2, -1)])
def test_odd_numbers_of_parts_are_refused(parts: int, run: int) -> None:
    with pytest.raises(UsageError, match="two or more parts"):
        steps.apply(as_written(DOT.format(t="int", update="+= a[k]", first=0)),
                    SplitReduction(loop="k", parts=parts, run=run))


def test_a_tiled_loop_is_refused() -> None:
    tiled = steps.apply(as_written(DOT.format(t="int", update="+= a[k]", first=0)), StripMine(loop="k", size=8))
    with pytest.raises(UsageError, match="does not enumerate one iterator"):
        steps.apply(tiled, SplitReduction(loop="k", parts=4))


def test_the_step_is_stored_and_its_code_computes_the_sum() -> None:
    step = SplitReduction(loop="k", parts=8)
    assert step_from_json(step.to_json()) == step
    scop = as_written(DOT.format(t="long", update="+= a[k] * b[k]", first=0)).scop
    made = polysched.optimize(scop, PipelineOptions(steps=(step,)))
    assert "s_parts" in made.text


def test_what_changes_nothing() -> None:
    assert neutral("product", BY_NAME["float32"]).text == "1.0f"   # type: ignore[union-attr]
    assert str(neutral("sum", BY_NAME["float64"])).count("-") == 1
