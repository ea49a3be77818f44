"""Index-set splitting: periodic stencils become tileable over time, whatever form their wrap-around has."""

import ctypes
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import Dependences, analyse, violation
from polysched.emit_c import EmitOptions
from polysched.emit_c.function import emit_function
from polysched.measure.programs.instance_trace import verify_order
from polysched.scheduling import (
    STRATEGIES,
    Schedule,
    SchedulerOptions,
    Strategy,
    by_strategy,
    feautrier,
    original,
    pluto,
)
from polysched.scheduling.index_sets import Cut, find_cuts, outer_depths
from polysched.scheduling.strategy import Dimension
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_file, from_c_text
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule
from tests.emit_c.compiled import load
from tests.tiers import and_campaign

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "periodic").glob("*.c"))
SPLIT = SchedulerOptions(split_index_sets=True)
SOURCE = ("Bondhugula, Bandishti, Cohen, Potron, Vasilache, PACT 2014: one cut per periodic dimension in its middle, "
          "rows of opposite direction on its sides, all dimensions in one permutable band")


@cache
def program(path: Path) -> Dependences:
    return analyse(from_c_file(path))


@cache
def scheduled(path: Path, options: SchedulerOptions) -> Schedule:
    """Computed once for the tests of its order, its code and its text."""
    return pluto(program(path), options=options)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_golden_schedule(path: Path, golden) -> None:
    dependences = program(path)
    schedule = scheduled(path, SPLIT)
    assert violation(dependences, schedule.tree) is None
    depth = max(s.depth for s in dependences.scop.statements)
    assert set(outer_depths(schedule.tree).values()) == {depth}, "every loop is in the outermost band"
    assert set(outer_depths(pluto(dependences).tree).values()) == {1}, "without the cut only time is"
    golden(HERE / "golden" / f"{path.stem}.txt",
           f"# {SOURCE}\n# {schedule.report.rungs[0]}\n{tree_text(schedule.tree)}")


@cache
def in_time_tiles(path: Path, options: SchedulerOptions, edge: int) -> TiledSchedule:
    """For the tests of its order and of its results."""
    return tile(scheduled(path, options), TilingOptions(sizes=edge))


CONCURRENT = replace(SPLIT, concurrent_start=1)
EVERY = [(path, options) for options in (SPLIT, CONCURRENT) for path in PROGRAMS]
FEW = [(path, options) for path, options in EVERY
       if (path.stem, options) not in (("torus_2d", SPLIT), ("torus_borders_history_2d", CONCURRENT))]


@pytest.mark.parametrize(("path", "options"), and_campaign(FEW, EVERY), ids=lambda value: value.stem if isinstance(
    value, Path) else "concurrent" if value.concurrent_start else "boxes")
def test_time_tiles_run_in_order(path: Path, options: SchedulerOptions) -> None:
    tiled = in_time_tiles(path, options, 3)
    assert any(len(band.sizes) > 1 and band.parallel_member is not None for band in tiled.bands)
    verify_order(tiled)


ANY_SIZE = [p for p in PROGRAMS if "fixed" not in p.stem]


@pytest.mark.parametrize(("path", "edge"), and_campaign([(p, 3) for p in ANY_SIZE], [(p, 4) for p in ANY_SIZE]),
                         ids=lambda value: value.stem if isinstance(value, Path) else str(value))
def test_time_tiles_compute_the_same(path: Path, edge: int, tmp_path: Path) -> None:
    dependences = program(path)
    as_written = tile(original(dependences), TilingOptions(sizes="off", register=False))
    split = in_time_tiles(path, SPLIT, edge)
    options = EmitOptions(vector_bits=0)
    functions = [load(emit_function(t, name="run", options=options).text, tmp_path).run for t in (as_written, split)]
    for steps, size in ((1, 3), (5, 4), (7, 11), (9, 24), (3, 5)):
        results = []
        for function in functions:
            arrays = [np.random.default_rng(size).random(
                (*((steps + 1,) if "_history" in path.stem else (2,) if "_buffers" in path.stem else ()),
                 *(size,) * (2 if "2d" in path.stem else 1))) for _ in dependences.scop.arrays]
            function(*(ctypes.c_int(steps if p.name == "T" else size) for p in dependences.scop.parameters),
                     *(a.ctypes.data_as(ctypes.c_void_p) for a in arrays))
            results.append(arrays)
        assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True)), (steps, size)


def test_the_cut_is_the_middle_of_the_long_dependences() -> None:
    (cut,) = find_cuts(program(HERE / "periodic" / "ring_1d.c"))
    assert cut == Cut(dimension=0, coefficients=(0, 1), constant=-1)
    assert [c.dimension for c in find_cuts(program(HERE / "periodic" / "torus_2d.c"))] == [0, 1]
    assert find_cuts(program(HERE / "periodic" / "ring_fixed_buffers_1d.c")) == (Cut(0, (0,), 999),)


@pytest.mark.parametrize("name", ["jacobi_1d", "jacobi_2d", "seidel_2d", "gemm", "lu", "nussinov", "deriche", "adi"])
def test_programs_without_a_ring_stay_as_they_are(name: str) -> None:
    dependences = analyse(from_c_file(HERE.parent / "kernels" / f"{name}.c"))
    plain, split = pluto(dependences), pluto(dependences, options=SPLIT)
    assert tree_text(split.tree) == tree_text(plain.tree)
    assert split.report.rungs[0].startswith("no index-set splitting: ")


def test_cuts_that_gain_nothing_are_not_made() -> None:
    once = analyse(from_c_text("""
        void f(int n, double a[restrict n], double b[restrict n], double c[restrict n]) {
        #pragma scop
        for (int i = 0; i < n; i++)
          b[i] = a[i];
        for (int i = 0; i < n; i++)
          c[i] = b[(i + 1) % n];
        #pragma endscop
        }"""))
    assert find_cuts(once)
    schedule = pluto(once, options=SPLIT)
    assert schedule.report.rungs[0] == "no index-set splitting: the outermost bands would be no deeper"
    assert tree_text(schedule.tree) == tree_text(pluto(once).tree)


def test_feautrier_and_strategies_may_split_too() -> None:
    ring = program(HERE / "periodic" / "ring_1d.c")
    assert violation(ring, feautrier(ring, options=SPLIT).tree) is None
    followed = by_strategy(ring, STRATEGIES["pluto"], options=SPLIT)
    assert tree_text(followed.tree) == tree_text(pluto(ring, options=SPLIT).tree)
    assert followed.report.rungs[0].startswith("index-set splitting of S0, S1")
    wished = by_strategy(ring, Strategy(vectorize={"S0": "i"}), options=SPLIT)
    assert violation(ring, wished.tree) is None


def test_the_parts_of_a_statement_have_its_wishes() -> None:
    row = Dimension(cost=("weights",), rows={"S": {"i": 1}}, forbidden={"T": ({"j": 1},)})
    whole = Strategy(dimensions=(row,), together=(("S", "T"),), apart=(("S", "U"),), weights={"T": {"i": 2}})
    parts = whole.for_parts({"S": ("S_low", "S_high"), "T": ("T",), "U": ("U",)})
    assert parts.dimensions[0].rows == {"S_low": {"i": 1}, "S_high": {"i": 1}}
    assert parts.dimensions[0].forbidden == {"T": ({"j": 1},)}
    assert parts.together == (("S_low", "S_high", "T"),)
    assert parts.apart == (("S_low", "U"), ("S_high", "U")), "parts of one statement are not kept apart"
    assert parts.weights == {"T": {"i": 2}}
