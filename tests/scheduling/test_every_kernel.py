"""Every scheduler, fusion policy and option on every kernel: each schedule is legal and its flags are exact."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import islpy as isl
import pytest

from polysched.dependence import Dependences, analyse, violation
from polysched.dependence.legality import active_below, all_active, judge_band
from polysched.emit_c import scan
from polysched.emit_c.generation.loop_run import compile_loops
from polysched.measure.programs.execution_order import check_order, execution_of
from polysched.measure.programs.instance_trace import small_sizes
from polysched.scheduling import STRATEGIES, Schedule, SchedulerOptions, by_strategy, feautrier, isl_schedule, pluto
from polysched.scheduling.schedule import Schedule as ScheduleValue
from polysched.scop import from_c_file
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.tiling import TilingOptions, tile
from tests.tiers import and_campaign

KERNELS = sorted((Path(__file__).parent.parent / "kernels").glob("*.c"))

WAYS: dict[str, Callable[[Dependences], ScheduleValue]] = {
    "none": lambda d: pluto(d, options=SchedulerOptions(fusion="none")),
    "max": lambda d: pluto(d, options=SchedulerOptions(fusion="max")),
    "typed": lambda d: pluto(d, options=SchedulerOptions(fusion="typed")),
    "diamond": lambda d: pluto(d, options=SchedulerOptions(concurrent_start=2)),
    "feautrier": feautrier,
    "isl none": lambda d: isl_schedule(d, options=SchedulerOptions(fusion="none")),
    "isl max": lambda d: isl_schedule(d, options=SchedulerOptions(fusion="max")),
    "contiguous": lambda d: by_strategy(d, STRATEGIES["contiguous"]),
}


@lru_cache(maxsize=1)
def dependences_of(path: Path) -> Dependences:
    return analyse(from_c_file(path))


@pytest.mark.parametrize(("path", "turn"), and_campaign(
    [(path, at % 2) for at, path in enumerate(KERNELS)], [(path, at) for path in KERNELS for at in (0, 1)]),
    ids=lambda p: p.stem if isinstance(p, Path) else str(p))
def test_legal_with_sound_flags(path: Path, turn: int) -> None:
    """Every second way for a kernel, and the order of loops for one; tests/end_to_end runs the named schedulers."""
    dependences = dependences_of(path)
    for number, (name, way) in enumerate(WAYS.items()):
        if number % 2 != turn:
            continue
        schedule = way(dependences)
        assert violation(dependences, schedule.tree) is None, name
        check_flags(schedule, name)
        if number == KERNELS.index(path) % len(WAYS):
            check_order_of_loops(schedule)


def check_order_of_loops(schedule: Schedule) -> None:
    """The loops, tiled, run at small sizes: every instance once, and those that touch one element in order."""
    scop = schedule.scop
    sizes = small_sizes(scop)
    visited = compile_loops(scan(tile(schedule, TilingOptions(sizes=2))).loops)(sizes)
    number = {s.name: k for k, s in enumerate(scop.statements)}
    records = [value for statement, point in visited for value in (number[statement], len(point), *point)]
    check_order(scop, sizes, execution_of(records, list(number)))


@pytest.mark.parametrize("path", and_campaign(KERNELS[::2], KERNELS), ids=lambda p: p.stem)
def test_memory_based_and_relaxed_dependences(path: Path) -> None:
    scop = from_c_file(path)
    strict = dependences_of(path)
    memory = pluto(analyse(scop, value_based=False))
    assert violation(strict, memory.tree) is None, "memory-based dependences imply the value-based ones"
    relaxed = analyse(scop, reductions="reassociate")
    check_flags(pluto(relaxed), "relaxed")
    close = analyse(scop, inputs=True)
    assert violation(strict, pluto(close, options=SchedulerOptions(input_dependences=True)).tree) is None


def check_flags(schedule: Schedule, name: str) -> None:
    """No band claims more than the dependences allow."""
    _check_below(schedule.tree.get_root(), all_active(schedule.dependences), name)


def _check_below(node: isl.ScheduleNode, active: list, name: str) -> None:
    if kind_of(node) == NodeKind.band:
        judged = judge_band(active, node)
        assert judged.permutable or not node.band_get_permutable(), name
        for member, coincident in enumerate(judged.coincident):
            assert coincident or not node.band_member_get_coincident(member), name
    for position in range(node.n_children()):
        _check_below(node.child(position), active_below(node, active, position), name)
