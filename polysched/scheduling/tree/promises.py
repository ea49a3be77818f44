"""What a tree promises beyond its order, checked exactly: marks `parallel` and `simd`, and the flags of bands."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import (
    LEGALITY_OPERATIONS,
    LEGALITY_SECONDS,
    Active,
    active_below,
    all_active,
    backward,
    carrier,
    same_tiles,
    total_values,
    witness_of,
)
from polysched.errors import BudgetExceededError, IllegalScheduleError, UsageError
from polysched.scheduling.marks import LoopMark
from polysched.scop.budget import in_words, require_budget, with_budget

_TYPE: Any = isl.schedule_node_type


class _Refusal(Protocol):
    """Makes the error for a claim that a dependence, with its violated pairs, contradicts."""

    def __call__(self, claim: str, part: Active) -> IllegalScheduleError: ...


PRIVATIZE = "choose another loop, or privatize the array if each iteration writes it before it reads it"


def check_promises(dependences: Dependences, tree: isl.Schedule, *, what: str, flags: bool = False,
                   hint: str = PRIVATIZE) -> None:
    """Refuse a legal tree in which a loop marked parallel or simd carries a dependence.

    Parameters
    ----------
    what : what the refusal calls the tree, for instance `step parallel`.
    flags : the flags of bands are checked, too: no coincident member carries a dependence that is active at its band,
        and no member of a permutable band runs one backward.
    hint : of the refusal.

    Raises
    ------
    IllegalScheduleError : with one pair of instances as witness.
    BudgetExceededError : isl cannot decide it within the budget.
    """
    if not flags and not any(_is_promise(node) for node in _nodes(tree.get_root())):
        return

    def check() -> bool:
        _check_below(tree.get_root(), all_active(dependences), partial(_broken, dependences, what, hint), flags)
        return True

    if not with_budget(LEGALITY_OPERATIONS, check, seconds=LEGALITY_SECONDS):
        require_budget()   # where that of the caller is spent, the caller says so
        raise BudgetExceededError(f"{what}: whether the loops called parallel or simd are independent needs "
                                  f"more than {in_words(LEGALITY_OPERATIONS, LEGALITY_SECONDS)}",
                                  where=dependences.scop.name, hint="use smaller constants in the schedule")


def require_readable_marks(tree: isl.Schedule) -> None:
    """Refuse marks that cannot be read, and those of register tiles, which only tiling may set.

    Raises
    ------
    UsageError : there is such a mark.
    """
    for node in _nodes(tree.get_root()):
        if node.get_type() != _TYPE.mark:
            continue
        text = node.mark_get_id().get_name()
        try:
            mark = LoopMark.from_text(text)
        except ValueError:
            raise UsageError("a mark of the schedule tree cannot be read", witness=text,
                             hint="for instance `polysched role=loop parallel=1`, or any text that does not begin with "
                                  "`polysched`") from None
        if mark is not None and mark.register:
            raise UsageError("the schedule tree has marks of register tiles", witness=text,
                             hint="store the schedule, not its tiles: tiling sets these marks")


def _nodes(node: isl.ScheduleNode) -> list[isl.ScheduleNode]:
    return [node, *(n for position in range(node.n_children()) for n in _nodes(node.child(position)))]


def _is_promise(node: isl.ScheduleNode) -> bool:
    """Whether a node marks the band below it as parallel or simd."""
    if node.get_type() != _TYPE.mark or node.child(0).get_type() != _TYPE.band:
        return False
    mark = LoopMark.from_text(node.mark_get_id().get_name())
    return mark is not None and (mark.parallel or mark.simd)


def _check_below(node: isl.ScheduleNode, active: list[Active], broken: _Refusal, flags: bool) -> None:
    if not active:
        return
    kind = node.get_type()
    if kind == _TYPE.mark:
        mark = LoopMark.from_text(node.mark_get_id().get_name())
        band = node.child(0)
        if mark is not None and _is_promise(node):
            values = total_values(band.band_get_partial_schedule(), 0)
            if (found := carrier(active, values)) is not None:
                raise broken(f"the loop marked {'parallel' if mark.parallel else 'simd'} carries", found)
    if kind == _TYPE.band and flags:
        _check_band(node, active, broken)
    for position in range(node.n_children()):
        _check_below(node.child(position), active_below(node, active, position, equal=same_tiles), broken, flags)


def _check_band(band: isl.ScheduleNode, active: list[Active], broken: _Refusal) -> None:
    """The flags of one band, against what is active at it."""
    values = [total_values(band.band_get_partial_schedule(), member) for member in range(band.band_n_member())]
    for member, own in enumerate(values):
        if band.band_member_get_coincident(member) and (found := carrier(active, own)) is not None:
            raise broken(f"the loop {member} of a band is called coincident and carries", found)
    for member, own in enumerate(values):
        for part in active if band.band_get_permutable() and member else ():
            if part.ordered and not (wrong := backward(part, own)).is_empty():
                raise broken(f"the loop {member} of a band called permutable runs backward",
                             replace(part, relation=wrong))


def _broken(dependences: Dependences, what: str, hint: str, claim: str, part: Active) -> IllegalScheduleError:
    """The refusal of one promise."""
    pair = part.dependence
    return IllegalScheduleError(
        f"{what}: {claim} the {pair.kind.value} dependence {pair.source_reference} -> {pair.sink_reference} "
        f"on {pair.array}", where=dependences.scop.name,
        witness=str(witness_of(part, "the two run in different iterations of that loop")), hint=hint)
