"""Several codes of one region behind tests of a size."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from polysched.emit_c import splice
from polysched.emit_c.alternatives.safe import as_written
from polysched.emit_c.alternatives.variants import with_variants
from polysched.errors import UsageError
from polysched.pipeline import optimize
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.search.programs import OPTIONS, product


@pytest.fixture(scope="module")
def sources():
    return [optimize(product(), apply_recipe(OPTIONS, Recipe(tile=edge))).source for edge in (4, 8, 16)]


def test_each_size_runs_its_own(sources):
    made = with_variants(sources, "n", [20, 40])
    first, second = made.text.index("if ((n) < 20)"), made.text.index("if ((n) < 40)")
    assert first < second
    assert made.teams == sum(s.teams for s in sources)
    assert with_variants(sources[:1], "n", []).text == sources[0].text


def test_borders_that_do_not_grow_are_refused(sources):
    for borders in ([40, 20], [20], [20, 20]):
        with pytest.raises(UsageError, match="growing thresholds"):
            with_variants(sources, "n", borders)


def test_functions_outside_of_the_region_are_refused(sources):
    with pytest.raises(UsageError, match="functions of its own"):
        with_variants([sources[0], SimpleNamespace(preamble="void f(void);", text="")], "n", [20])


STEPPED = """void f(int n, float *p, const float *q, float **end)
{
#pragma scop
  for (int i = 0; i < n; i++) *p++ = 2 * *q++;
#pragma endscop
  *end = p;
}
"""


@pytest.mark.parametrize("first_is_written", [False, True])
@pytest.mark.parametrize("n", [7, 33])
def test_variables_are_stepped_once_by_code_as_written_and_by_other_code(n: int, first_is_written: bool,
                                                                         tmp_path: Path) -> None:
    made = optimize(from_c_text(STEPPED), OPTIONS).source
    pair = [as_written(made), made] if first_is_written else [made, as_written(made)]
    function = load(splice(STEPPED, [with_variants(pair, "n", [20])]), tmp_path, strict=False).f
    p, q, end = np.zeros(n, np.float32), np.arange(n, dtype=np.float32), ctypes.c_void_p()
    function(n, *(ctypes.c_void_p(a.ctypes.data) for a in (p, q)), ctypes.byref(end))
    np.testing.assert_array_equal(p, 2 * q)
    assert end.value == p.ctypes.data + 4 * n


def test_code_as_written_alone_steps_its_variables_itself() -> None:
    made = as_written(optimize(from_c_text(STEPPED), OPTIONS).source)
    assert with_variants([made], "n", []).kept
    assert with_variants([made, made], "n", [20]).kept
