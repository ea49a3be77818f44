"""Bands that steps by hand ask for: their loops joined, which every step before left alone."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling.primitives.loops import chain
from polysched.scheduling.primitives.requests import BandStep
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.steps import loop_tree
from polysched.scheduling.tree.flags import with_exact_flags
from polysched.scheduling.tree.loop_tree import Band, LoopTree, from_isl, replace_node, to_isl, walk


def with_bands(schedule: Schedule) -> tuple[Schedule, tuple[tuple[int, BandStep], ...]]:
    """The schedule with the bands that its steps ask for, and each step with the number of its band in pre-order.

    Raises
    ------
    UsageError : the loops of a band do not stand directly inside each other, or carry marks of other steps.
    IllegalScheduleError : the loops of a band cannot be interchanged.
    """
    asked = [step for step in schedule.steps if isinstance(step, BandStep)]
    if not asked:
        return schedule, ()
    tree = loop_tree(schedule.tree)
    places = {step: tuple(sorted(loop.position for loop in chain(tree, step.loops))) for step in asked}
    joined = _joined(tree, sorted(set(places.values())))
    made = with_exact_flags(schedule.dependences, to_isl(joined))
    bands = [node for node in walk(from_isl(made).root) if isinstance(node, Band)]
    firsts = _firsts(bands)
    numbered = tuple((firsts[places[step][0]], step) for step in asked)
    for number, step in numbered:
        if not bands[number].permutable:
            raise IllegalScheduleError("the loops of a band by hand cannot be interchanged",
                                       where=f"step {step.NAME}", witness=", ".join(map(str, step.loops)),
                                       hint="skew one by another first, or name fewer loops")
    return replace(schedule, tree=made), numbered


def _firsts(bands: list[Band]) -> dict[int, int]:
    """The number of a band by the position of its first loop among all loops."""
    found, position = {}, 0
    for number, band in enumerate(bands):
        found[position] = number
        position += len(band.members)
    return found


def _joined(tree: LoopTree, nests: list[tuple[int, ...]]) -> LoopTree:
    """The tree with the loops of each nest, by position, in one band."""
    bands = [node for node in walk(tree.root) if isinstance(node, Band)]
    taken = [position for nest in nests for position in nest]
    if twice := [position for position in taken if taken.count(position) > 1]:
        raise UsageError("a loop stands in one band by hand", witness=f"loop {twice[0]}",
                         hint="name the same loops in all steps for a band")
    # inner nests first, since an outer band holds the inner ones
    return reduce(lambda made, nest: _with_band(made, [bands[p] for p in nest]), sorted(nests, reverse=True), tree)


def _with_band(tree: LoopTree, parts: list[Band]) -> LoopTree:
    now = [node for node in walk(tree.root) if isinstance(node, Band) and any(
        node.members[0] is part.members[0] for part in parts) and len(node.members) == 1]
    if any(part.mark is not None for part in now):
        raise UsageError("a loop with a mark of another step is in no band", where="step band",
                         hint="tile the other loops, or leave the step that marks it out")
    joined = replace(now[0], members=tuple(p.members[0] for p in now), permutable=False,
                     coincident=tuple(p.coincident[0] for p in now), child=now[-1].child)
    return replace(tree, root=replace_node(tree.root, now[0], joined))
