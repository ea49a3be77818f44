"""Scheduling by hand: apply steps to a schedule, each checked exactly; list, store and replay them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import islpy as isl

from polysched.dependence import analyse, check_legal
from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import active_at, carrier, member_values, witness_of
from polysched.dependence.same_values import check_same_values
from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling.flags import with_exact_flags
from polysched.scheduling.loop_tree import Band, LoopTree, Sequence, from_isl, split_bands, to_isl
from polysched.scheduling.marks import LoopMark
from polysched.scheduling.primitives import (
    Distribute,
    Fuse,
    Interchange,
    Loop,
    Parallel,
    Peel,
    ProgramStep,
    Reverse,
    Skew,
    Step,
    StripMine,
    Tile,
    Unroll,
    UnrollAndJam,
    Vectorize,
    loops,
)
from polysched.scheduling.primitives.stored import step_from_json
from polysched.scheduling.schedule import Schedule

_TYPE: Any = isl.schedule_node_type


def loop_tree(tree: isl.Schedule) -> LoopTree:
    """The tree as the steps see it: every band split into single loops."""
    decoded = from_isl(tree)
    return replace(decoded, root=split_bands(decoded.root))


def apply(schedule: Schedule, *steps: Step) -> Schedule:
    """Apply steps one after the other; each intermediate schedule must be legal.

    Raises
    ------
    IllegalScheduleError : a step breaks a dependence; the witness is one pair of instances.
    UsageError : a step has no meaning at this place.
    """
    for step in steps:
        schedule = _apply_one(schedule, step)
    return schedule


def _apply_one(schedule: Schedule, step: Step) -> Schedule:
    dependences = schedule.dependences
    tree = loop_tree(schedule.tree)
    if isinstance(step, ProgramStep):
        scop, tree = step.rewrite_program(dependences, tree)
        changed = analyse(scop, value_based=dependences.value_based)
        check_same_values(dependences, changed)
        dependences = changed
    else:
        tree = step.rewrite(tree)
    encoded = to_isl(tree)
    check_legal(dependences, encoded, what=f"step {step.NAME}")
    _check_promises(dependences, encoded, step)
    return replace(schedule, dependences=dependences, tree=with_exact_flags(dependences, encoded, permutable=False),
                   steps=(*schedule.steps, step))


def _nodes(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    yield node
    for position in range(node.n_children()):
        yield from _nodes(node.child(position))


def _check_promises(dependences: Dependences, tree: isl.Schedule, step: Step) -> None:
    """Loops marked parallel or simd must carry nothing."""
    for node in _nodes(tree.get_root()):
        if node.get_type() != _TYPE.mark:
            continue
        mark = LoopMark.from_text(node.mark_get_id().get_name())
        band = node.child(0)
        if mark is None or not (mark.parallel or mark.simd) or band.get_type() != _TYPE.band:
            continue
        broken = carrier(active_at(dependences, band), member_values(band.band_get_partial_schedule(), 0))
        if broken is not None:
            pair = broken.dependence
            raise IllegalScheduleError(
                f"step {step.NAME}: the loop marked {'parallel' if mark.parallel else 'simd'} carries the "
                f"{pair.kind.value} dependence {pair.source_reference} -> {pair.sink_reference} on {pair.array}",
                where=dependences.scop.name,
                witness=str(witness_of(broken, "the two run in different iterations of that loop")),
                hint="choose another loop, or privatize the array if each iteration writes it before it reads it")


def replay(schedule: Schedule, steps: Iterable[Step | Mapping[str, Any]]) -> Schedule:
    """Apply stored steps to the schedule that they began from; gives the same tree."""
    return apply(schedule, *(s if isinstance(s, Step) else step_from_json(s) for s in steps))


def available(schedule: Schedule, kind: type[Step]) -> tuple[Step, ...]:
    """Every place where a kind of step is legal, as ready steps with small default arguments.

    Loops are named by position.  Steps that need names from the user (shift, privatize, compute_at,
    reorder, split_at, scale) have no finite list of places and are refused.

    Raises
    ------
    UsageError : the kind cannot be enumerated.
    """
    candidates = _CANDIDATES.get(kind.NAME)
    if candidates is None:
        raise UsageError(f"places for {kind.NAME} cannot be listed",
                         hint=f"these can: {', '.join(sorted(_CANDIDATES))}")
    found = []
    for step in candidates(loop_tree(schedule.tree)):
        try:
            apply(schedule, step)
        except (IllegalScheduleError, UsageError):
            continue
        found.append(step)
    return tuple(found)


def _nested(all_loops: tuple[Loop, ...]) -> Iterator[tuple[Loop, Loop]]:
    for outer, inner in itertools.combinations(all_loops, 2):
        if any(band is outer.band for band in inner.outer_bands):
            yield outer, inner



def _tiles(tree: LoopTree) -> Iterator[Step]:
    all_loops = loops(tree)
    for start in all_loops:
        nest = [start]
        while isinstance(nest[-1].band.child, Band):
            below = nest[-1].band.child
            nest.append(next(loop for loop in all_loops if loop.band is below))
            yield Tile(loops=tuple(loop.position for loop in nest), sizes=(32,) * len(nest))


def _fusions(tree: LoopTree) -> Iterator[Step]:
    by_band = {id(loop.band): loop.position for loop in loops(tree)}
    for loop in loops(tree):
        around = loop.ancestors[-1] if loop.ancestors else None
        if isinstance(around, Sequence):
            heads = [by_band.get(id(child)) for _, child in around.branches]
            at = heads.index(loop.position)
            following = heads[at + 1] if at + 1 < len(heads) else None
            if following is not None:
                yield Fuse(first=loop.position, second=following)


_CANDIDATES: dict[str, Callable[[LoopTree], Iterator[Step]]] = {
    "tile": _tiles,
    "fuse": _fusions,
    "interchange": lambda t: (Interchange(outer=o.position, inner=i.position) for o, i in _nested(loops(t))),
    "distribute": lambda t: (Distribute(loop=loop.position) for loop in loops(t)),
    "skew": lambda t: (Skew(loop=i.position, by=o.position, factor=1) for o, i in _nested(loops(t))),
    "reverse": lambda t: (Reverse(loop=loop.position) for loop in loops(t)),
    "strip_mine": lambda t: (StripMine(loop=loop.position, size=32) for loop in loops(t)),
    "parallel": lambda t: (Parallel(loop=loop.position) for loop in loops(t)),
    "vectorize": lambda t: (Vectorize(loop=loop.position) for loop in loops(t)),
    "unroll": lambda t: (Unroll(loop=loop.position, factor=4) for loop in loops(t)),
    "unroll_and_jam": lambda t: (UnrollAndJam(loop=loop.position, factor=4) for loop in loops(t)),
    "peel": lambda t: (Peel(loop=loop.position) for loop in loops(t)),
}
