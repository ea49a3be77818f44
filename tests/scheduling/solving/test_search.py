"""The search for bands: as many rows as fit, stopped by what the caller does not accept."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.solving.problem import initial_active, make_problem
from polysched.scheduling.solving.rows import FEAUTRIER, NEGATIVE, NON_NEGATIVE, UNBOUNDED
from polysched.scheduling.solving.search import Band, Search, among, find_band, missing_of
from polysched.scheduling.strategy import Strategy
from tests.scheduling.primitives.programs import product, stencil, two_loops


def search_of(schedule: Schedule, **strategy: object) -> Search:
    return Search(problem=make_problem(schedule.dependences), options=SchedulerOptions(),
                  modes=(NON_NEGATIVE, NEGATIVE, UNBOUNDED, FEAUTRIER), strategy=Strategy(**strategy))


def band_of(search: Search, **more: object) -> Band | None:
    names = tuple(search.problem.spaces)
    return find_band(search, (names,), initial_active(search.problem), dict.fromkeys(names, ()), **more)


@pytest.mark.parametrize(("program", "depth"), [(product, 3), (stencil, 2), (two_loops, 1)])
def test_a_band_is_as_deep_as_rows_are_found(program: Callable[[], Schedule], depth: int) -> None:
    search = search_of(program())
    band = band_of(search)
    assert band is not None
    assert len(band.rows) == depth
    found = {n: tuple(row.of[n].iterators for row in band.rows) for n in band.names}
    assert all(not missing_of(search, n, found) for n in band.names)


def test_a_row_that_is_not_accepted_ends_the_band() -> None:
    band = band_of(search_of(product()), accept=lambda row: row.of["S0"].iterators != (0, 0, 1))
    assert band is not None
    assert [row.of["S0"].iterators for row in band.rows] == [(1, 0, 0), (0, 1, 0)]
    assert band_of(search_of(product()), accept=lambda row: False) is None


def test_edges_are_computed_once() -> None:
    search = search_of(stencil())
    active = initial_active(search.problem)
    assert search.edges(active) == search.edges(active)
    assert len(search.edge_cache) == len(active)


def test_dependences_among_some_statements() -> None:
    search = search_of(two_loops())
    active = initial_active(search.problem)
    assert among(active, ("S0", "S1")) == active
    assert among(active, ("S1",)) == []


def test_a_rung_is_noted_once_and_pairs_that_a_strategy_keeps_apart_are_known() -> None:
    search = search_of(two_loops(), apart=(("S0", "S1"),))
    search.note("one")
    search.note("one")
    assert list(search.rungs) == ["one"]
    assert search.apart(("S0",), ("S1",))
