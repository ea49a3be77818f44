"""Scheduling by hand: apply steps to a schedule, each checked exactly; list, store and replay them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import islpy as isl

from polysched.dependence import Dependences, analyse, check_legal
from polysched.dependence.legality import LEGALITY_OPERATIONS, LEGALITY_SECONDS, all_active, backward, total_values
from polysched.errors import BudgetExceededError, IllegalScheduleError, UsageError
from polysched.scheduling.primitives import (
    ComputeAt,
    Distribute,
    Fuse,
    Interchange,
    Loop,
    Parallel,
    Peel,
    Privatize,
    ProgramStep,
    Reorder,
    Reverse,
    Scale,
    Shift,
    Skew,
    SplitAt,
    SplitReduction,
    Step,
    Stitch,
    StripMine,
    Tile,
    Unroll,
    UnrollAndJam,
    Vectorize,
    loops,
)
from polysched.scheduling.primitives.requests import BandStep, UseInstruction
from polysched.scheduling.primitives.stored import step_from_json
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.flags import with_flags_in_budget
from polysched.scheduling.tree.loop_tree import (
    Band,
    LoopTree,
    Node,
    Sequence,
    from_isl,
    multi_union_pw_aff,
    split_bands,
    to_isl,
    walk,
)
from polysched.scheduling.tree.promises import check_promises
from polysched.scop.budget import with_budget
from polysched.scop.scop import Scop, Storage


def loop_tree(tree: isl.Schedule) -> LoopTree:
    """The tree as the steps see it: every band split into single loops."""
    decoded = from_isl(tree)
    return replace(decoded, root=split_bands(decoded.root))


def apply(schedule: Schedule, *steps: Step, reassociate: bool = False) -> Schedule:
    """Apply steps one after the other; each intermediate schedule must be legal.

    Parameters
    ----------
    reassociate : steps may sum up floating-point numbers in another order, which rounds differently.

    Raises
    ------
    IllegalScheduleError : a step breaks a dependence; the witness is one pair of instances.
    UsageError : a step has no meaning at this place.
    """
    for step in steps:
        schedule = _apply_one(schedule, step, reassociate)
    return schedule


def _apply_one(schedule: Schedule, step: Step, reassociate: bool) -> Schedule:
    tree = loop_tree(schedule.tree) if step.SPLITS else from_isl(schedule.tree)
    dependences, encoded = _checked(schedule, step, tree, reassociate)
    flagged = with_flags_in_budget(dependences, encoded, permutable=not step.SPLITS)
    return replace(schedule, dependences=dependences, tree=flagged, steps=(*schedule.steps, step))


def _checked(schedule: Schedule, step: Step, tree: LoopTree, reassociate: bool) -> tuple[Dependences, isl.Schedule]:
    """The program and its tree behind a step, legal and without flags; raises as `apply`.

    Parameters
    ----------
    tree : that of the schedule, as the step sees it.
    """
    dependences = schedule.dependences
    if isinstance(step, ProgramStep):
        if not reassociate and (sums := step.rounds_differently(dependences, tree)):
            raise IllegalScheduleError(f"step {step.NAME} changes how a result is rounded", witness=sums,
                                       hint="allow it: PipelineOptions(reassociate=True), --reassociate")
        scop, changed_tree = step.rewrite_program(dependences, tree)
        changed = analyse(scop, value_based=dependences.value_based)
        step.check_values(dependences, changed, tree)
        tree = changed_tree
        dependences = changed
    else:
        tree = step.rewrite(tree)
    encoded = to_isl(tree)
    check_legal(dependences, encoded, what=f"step {step.NAME}")
    check_promises(dependences, encoded, what=f"step {step.NAME}")
    return dependences, encoded


def replay(schedule: Schedule, steps: Iterable[Step | Mapping[str, Any]], *, reassociate: bool = False) -> Schedule:
    """Apply stored steps to the schedule that they began from; gives the same tree."""
    return apply(schedule, *(s if isinstance(s, Step) else step_from_json(s) for s in steps), reassociate=reassociate)


def available(schedule: Schedule, *kinds: type[Step]) -> tuple[Step, ...]:
    """Every place where some kinds of steps are known to be legal, as ready steps with small default arguments.

    Loops are named by position.  Amounts, factors and sizes are small: a loop is shifted by one, split after its first
    values, scaled by two.  Of the orders of a nest, those are listed that bring one loop outward or inward.  Of steps
    that a later room judges (bands, register blocks, copies, split tiles, instructions) none is known to be legal here.

    Raises
    ------
    UsageError : this is no kind of step.
    """
    judged = [kind for kind in kinds if not issubclass(kind, BandStep | UseInstruction)]
    if unknown := [kind.NAME for kind in judged if kind.NAME not in _CANDIDATES]:
        raise UsageError(f"no kind of step is called {unknown[0]!r}",
                         hint=f"these are: {', '.join(sorted(_CANDIDATES))}")
    split, whole = loop_tree(schedule.tree), from_isl(schedule.tree)
    forward = _forward_loops(schedule.dependences)
    return tuple(step for kind in judged for step in _CANDIDATES[kind.NAME](split, schedule.scop)
                 if _is_legal(schedule, step, split if step.SPLITS else whole, forward))


def _is_legal(schedule: Schedule, step: Step, tree: LoopTree, forward: Callable[[Loop], bool]) -> bool:
    """Whether a step can be listed; the order behind it is looked at only where the kind of step leaves it open."""
    try:
        if not any(_is_promise(node) for node in walk(tree.root)) and (
                step.KEEPS_ORDER or (all(map(forward, permuted := step.permuted(tree))) and permuted)):
            changed = step.rewrite(tree)
            if any(_is_promise(node) for node in walk(changed.root)):
                check_promises(schedule.dependences, to_isl(changed), what=f"step {step.NAME}")
        else:
            _checked(schedule, step, tree, reassociate=False)
    except (BudgetExceededError, IllegalScheduleError, UsageError):
        return False
    return True


def _is_promise(node: Node) -> bool:
    """Whether a node is a loop that is marked parallel or simd."""
    return isinstance(node, Band) and node.mark is not None and (node.mark.parallel or node.mark.simd)


def _forward_loops(dependences: Dependences) -> Callable[[Loop], bool]:
    """Whether a loop of one tree runs no dependence backward, whatever is outside it."""
    pairs = [part for part in all_active(dependences) if part.ordered]
    known: dict[int, bool] = {}

    def all_forward(loop: Loop) -> bool:
        values = total_values(multi_union_pw_aff(loop.band.members), 0)
        return all(backward(part, values).is_empty() for part in pairs
                   if {part.dependence.source, part.dependence.sink} <= set(loop.statements))

    def forward(loop: Loop) -> bool:
        if loop.position not in known:
            found = with_budget(LEGALITY_OPERATIONS, partial(all_forward, loop), seconds=LEGALITY_SECONDS)
            known[loop.position] = bool(found)
        return known[loop.position]

    return forward


def _nested(all_loops: tuple[Loop, ...]) -> Iterator[tuple[Loop, Loop]]:
    for outer, inner in itertools.combinations(all_loops, 2):
        if any(band is outer.band for band in inner.outer_bands):
            yield outer, inner


def _nests(tree: LoopTree) -> Iterator[tuple[int, ...]]:
    """Every run of two or more loops that stand directly inside each other, by position."""
    all_loops = loops(tree)
    for start in all_loops:
        nest = [start]
        while isinstance(nest[-1].band.child, Band):
            below = nest[-1].band.child
            nest.append(next(loop for loop in all_loops if loop.band is below))
            yield tuple(loop.position for loop in nest)


def _tiles(tree: LoopTree, _: Scop) -> Iterator[Step]:
    for nest in _nests(tree):
        yield Tile(loops=nest, sizes=(32,) * len(nest))


def _orders(tree: LoopTree, _: Scop) -> Iterator[Step]:
    """Orders of a nest that move one loop to either end."""
    for nest in _nests(tree):
        orders = [order for k, loop in enumerate(nest)
                  for rest in (nest[:k] + nest[k + 1:],) for order in ((loop, *rest), (*rest, loop))]
        yield from (Reorder(order=order) for order in dict.fromkeys(orders) if order != nest)


def _shifts(tree: LoopTree, _: Scop) -> Iterator[Step]:
    return (Shift(loop=loop.position, statement=name, amount=1) for loop in loops(tree) for name in loop.statements)


def _splits(tree: LoopTree, _: Scop) -> Iterator[Step]:
    """Just after the least value of a loop, where that is one number."""
    for loop in loops(tree):
        values = isl.Set.from_union_set(
            isl.UnionMap.from_union_pw_aff(loop.band.members[0]).intersect_domain(tree.domain).range())
        least = values.project_out_all_params().dim_min_val(0)
        if least.is_int():
            yield SplitAt(loop=loop.position, at=int(least.to_python()) + 1)


def _copies(tree: LoopTree, scop: Scop) -> Iterator[Step]:
    return (Privatize(array=array.name, loop=loop.position) for array in scop.arrays
            if array.storage is Storage.LOCAL for loop in loops(tree))


def _producers(tree: LoopTree, scop: Scop) -> Iterator[Step]:
    return (ComputeAt(producer=statement.name, loop=loop.position) for statement in scop.statements
            for loop in loops(tree) if statement.name not in loop.statements)


def _stitches(_: LoopTree, scop: Scop) -> Iterator[Step]:
    return (Stitch(dominant=statement.name, sizes=(32,)) for statement in scop.statements if statement.depth)


def _fusions(tree: LoopTree, _: Scop) -> Iterator[Step]:
    by_band = {id(loop.band): loop.position for loop in loops(tree)}
    for loop in loops(tree):
        around = loop.ancestors[-1] if loop.ancestors else None
        if isinstance(around, Sequence):
            heads = [by_band.get(id(child)) for _, child in around.branches]
            at = heads.index(loop.position)
            following = heads[at + 1] if at + 1 < len(heads) else None
            if following is not None:
                yield Fuse(first=loop.position, second=following)


_CANDIDATES: dict[str, Callable[[LoopTree, Scop], Iterator[Step]]] = {
    "tile": _tiles,
    "reorder": _orders,
    "shift": _shifts,
    "split_at": _splits,
    "privatize": _copies,
    "compute_at": _producers,
    "stitch": _stitches,
    "split_reduction": lambda t, _: (SplitReduction(loop=loop.position, parts=4) for loop in loops(t)),
    "scale": lambda t, _: (Scale(loop=loop.position, factor=2) for loop in loops(t)),
    "fuse": _fusions,
    "interchange": lambda t, _: (Interchange(outer=o.position, inner=i.position) for o, i in _nested(loops(t))),
    "distribute": lambda t, _: (Distribute(loop=loop.position) for loop in loops(t)),
    "skew": lambda t, _: (Skew(loop=i.position, by=o.position, factor=1) for o, i in _nested(loops(t))),
    "reverse": lambda t, _: (Reverse(loop=loop.position) for loop in loops(t)),
    "strip_mine": lambda t, _: (StripMine(loop=loop.position, size=32) for loop in loops(t)),
    "parallel": lambda t, _: (Parallel(loop=loop.position) for loop in loops(t)),
    "vectorize": lambda t, _: (Vectorize(loop=loop.position) for loop in loops(t)),
    "unroll": lambda t, _: (Unroll(loop=loop.position, factor=4) for loop in loops(t)),
    "unroll_and_jam": lambda t, _: (UnrollAndJam(loop=loop.position, factor=4) for loop in loops(t)),
    "peel": lambda t, _: (Peel(loop=loop.position) for loop in loops(t)),
}
