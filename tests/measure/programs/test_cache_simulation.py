"""Simulated caches against a second simulation in Python, over the order that the interpreter runs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import pytest

from polysched.dependence import analyse
from polysched.errors import UsageError
from polysched.measure.programs.bounds import extents_at
from polysched.measure.programs.cache_simulation import PAGE_BYTES, CacheCounts, predicted_bytes, simulate
from polysched.scheduling import ALGORITHMS
from polysched.scop import from_c_text
from polysched.scop.points import fix_parameters, instances_in_order, pairs_of
from polysched.scop.scop import Scop
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.explain import explanations
from polysched.tiling.tiled_schedule import TiledSchedule

CACHES = (CacheLevel(level=1, size_bytes=512, line_bytes=64, ways=2),
          CacheLevel(level=2, size_bytes=3 * 512, line_bytes=64, ways=3))
PRODUCT = """void product(int n, double A[n][n], double B[n][n], double C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}"""
STEPS = """void steps(int n, float A[n][2 * n], float s) {
#pragma scop
  for (int i = n - 1; i >= 0; i -= 3) {
    A[i][2 * i] = s;
    for (int j = i; j < n; j++) if (j % 2 == 0) A[n - 1 - i][n - 1 - j] = A[j][i + j] + A[j][i];
  }
#pragma endscop
}"""
WIDE = """void wide(int n, long double A[n]) {
#pragma scop
  for (int i = 1; i < n; i++) A[i] = A[i - 1] + A[n - i];
#pragma endscop
}"""


class Level:
    """Sets of ordered dictionaries: the last line is the one used last, the value says whether it is dirty."""

    def __init__(self, sets: int, ways: int, below: Level | None) -> None:
        self.sets: list[OrderedDict[int, bool]] = [OrderedDict() for _ in range(sets)]
        self.ways, self.below, self.misses, self.write_backs = ways, below, 0, 0

    def access(self, line: int, *, write: bool, demanded: bool = True) -> None:
        held = self.sets[line % len(self.sets)]
        dirty = held.pop(line, None)
        if dirty is None:
            self.misses += demanded
            if len(held) == self.ways:
                old, was_dirty = held.popitem(last=False)
                if was_dirty:
                    self.write_backs += 1
                    if self.below:
                        self.below.access(old, write=True, demanded=False)
            if demanded and self.below:
                self.below.access(line, write=False)
        held[line] = bool(dirty) or write

    def give_up(self) -> None:
        """Write dirty lines back, those used last first."""
        for held in self.sets:
            for line in [line for line in reversed(held) if held[line]]:
                held[line] = False
                self.write_backs += 1
                if self.below:
                    self.below.access(line, write=True, demanded=False)


def expected(tiled: TiledSchedule, sizes: Mapping[str, int], *,
             with_sets: bool) -> tuple[list[tuple[int, int]], list[int]]:
    """Misses and write-backs per level of CACHES, and what the levels write back behind the loops."""
    scop = tiled.schedule.scop
    below = None
    levels: list[Level] = []
    for cache in reversed(CACHES):
        lines = cache.size_bytes // cache.line_bytes
        below = Level(lines // cache.ways, cache.ways, below) if with_sets else Level(1, lines, below)
        levels.insert(0, below)
    begin, begins = 0, {}
    for array in scop.arrays:
        if not array.is_scalar:
            extents = extents_at(scop, array, sizes)
            begins[array.name] = (begin, extents)
            begin += -(-prod(extents) * array.dtype.bytes // PAGE_BYTES) * PAGE_BYTES
    reached = {a.reference: dict(pairs_of(fix_parameters(a.relation.intersect_domain(s.domain), sizes)))
               for s in scop.statements for a in s.accesses}
    for name, point in instances_in_order(scop.domain, tiled.tree, sizes, [s.name for s in scop.statements]):
        statement = next(s for s in scop.statements if s.name == name)
        for access in (*statement.reads, *statement.writes):
            array = scop.array(access.array)
            if array.is_scalar or point not in reached[access.reference]:
                continue
            index = reached[access.reference][point]
            start, extents = begins[access.array]
            at = sum(i * prod(extents[d + 1:]) for d, i in enumerate(index)) * array.dtype.bytes + start
            for line in range(at // 64, (at + array.dtype.bytes - 1) // 64 + 1):
                levels[0].access(line, write=access.is_write)
    found = [(level.misses, level.write_backs) for level in levels]
    totals = [level.write_backs for level in levels]
    for level in levels:
        level.give_up()
    return found, [level.write_backs - before for level, before in zip(levels, totals, strict=True)]


def tiled_of(scop: Scop, size: int | None) -> TiledSchedule:
    return tile(ALGORITHMS["pluto"](analyse(scop)), TilingOptions(sizes=size, register=None))


def shown(counts: CacheCounts) -> Sequence[tuple[int, int]]:
    return [(level.misses, level.write_backs) for level in counts.levels]


@pytest.mark.parametrize(("source", "n"), [(PRODUCT, 8), (STEPS, 13), (WIDE, 40)])
def test_the_counts_are_those_of_a_second_simulation(source: str, n: int) -> None:
    tiled = tiled_of(from_c_text(source), 4)
    counts = simulate(tiled, {"n": n}, CACHES)
    found, last = expected(tiled, {"n": n}, with_sets=True)
    assert shown(counts) == found
    assert counts.levels[0].last_write_backs == last[0] > 0
    without, last = expected(tiled, {"n": n}, with_sets=False)
    assert [(level.misses_without_sets, level.write_backs_without_sets) for level in counts.levels] == without
    assert [level.last_write_backs_without_sets for level in counts.levels] == last
    for level in counts.levels:
        assert sum(level.by_array.values()) == level.misses


def test_rows_a_power_of_two_apart_conflict_and_odd_rows_do_not() -> None:
    cache = CacheLevel(level=1, size_bytes=32768, line_bytes=64, ways=8)
    scop = from_c_text(PRODUCT)
    tiled = tile(ALGORITHMS["pluto"](analyse(scop)), TilingOptions(sizes=32, register=None))
    even, odd = (simulate(tiled, {"n": n}, (cache,)).levels[0] for n in (128, 131))
    assert even.many_conflicts
    assert not odd.many_conflicts


def test_no_iteration_makes_no_miss() -> None:
    counts = simulate(tiled_of(from_c_text(WIDE), 4), {"n": 1}, CACHES)
    assert (counts.accesses, shown(counts)) == (0, [(0, 0), (0, 0)])


@pytest.mark.parametrize(("sizes", "message"), [
    ({}, "n has no value"), ({"n": 100_000}, "too many to simulate")])
def test_sizes_are_refused(sizes: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        simulate(tiled_of(from_c_text(PRODUCT), 4), sizes, CACHES)


def test_caches_of_several_lines_are_refused() -> None:
    lines = (CACHES[0], CacheLevel(level=2, size_bytes=4096, line_bytes=128, ways=2))
    with pytest.raises(UsageError, match="one line length"):
        simulate(tiled_of(from_c_text(WIDE), 4), {"n": 4}, lines)


def test_subscripts_on_data_are_refused() -> None:
    scop = from_c_text("""void gather(int n, int p[n], double A[n], double B[n]) {
#pragma scop
  for (int i = 0; i < n; i++) B[i] = A[p[i]];
#pragma endscop
}""")
    with pytest.raises(UsageError, match="depends on data"):
        simulate(tiled_of(scop, 4), {"n": 4}, CACHES)


def test_predictions_hold_for_whole_regions_at_their_sizes() -> None:
    target = Target(caches=CACHES, vector_bits=0)
    sizes = {"n": 24}
    tiled = tile(ALGORITHMS["pluto"](analyse(from_c_text(PRODUCT))),
                 TilingOptions(sizes=4, register=None, target=target, parameters=sizes))
    bands = explanations(tiled, target)
    scop = tiled.schedule.scop
    assert set(predicted_bytes(bands, scop, sizes)) == {1, 2}
    assert predicted_bytes(bands, scop, {"n": 25}) == {}
    inner = [replace(b, plan=replace(b.plan, nest=replace(b.plan.nest, extents=(1, 24, 24)))) for b in bands if b.plan]
    assert predicted_bytes(inner, scop, sizes) == {}


def test_names_of_the_simulator_are_free_for_programs() -> None:
    scop = from_c_text("""void f(int LINE, int counts, int touch, int whole, double fetch[counts][LINE]) {
#pragma scop
  for (int way = touch; way < counts; way++)
    for (int accesses = whole; accesses < LINE; accesses++)
      fetch[way][accesses] = 0.0;
#pragma endscop
}""")
    counts = simulate(tiled_of(scop, 4), {"LINE": 8, "counts": 3, "touch": 1, "whole": 0}, CACHES)
    assert (counts.accesses, counts.levels[0].misses) == (16, 2)
