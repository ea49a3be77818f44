"""Several codes of one region behind tests of a size."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from polysched.emit_c.alternatives.variants import with_variants
from polysched.errors import UsageError
from polysched.pipeline import optimize
from polysched.pipeline.recipe import Recipe, apply_recipe
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
