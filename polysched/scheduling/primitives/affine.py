"""Steps that change the value of one loop by an affine function: `Skew`, `Shift`, `Reverse`, `Scale`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import islpy as isl

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.primitives.loops import Loop, LoopRef, find_loop
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.tree.loop_tree import LoopTree, replace_node
from polysched.scop.points import isl_value


def _change(tree: LoopTree, loop: Loop, change: Callable[[isl.UnionPwAff], isl.UnionPwAff]) -> LoopTree:
    band = replace(loop.band, members=(change(loop.band.members[0]),), coincident=(False,))
    return replace(tree, root=replace_node(tree.root, loop.band, band))


@dataclass(frozen=True, kw_only=True)
class Skew(Step):
    """Add a multiple of an outer loop to an inner one.

    Rewrite:  [t, i]  ->  [t, i + factor*t]

    The order of instances does not change by itself (so it is always legal), but it can make the two loops
    permutable, hence tileable.

    Parameters
    ----------
    loop : the inner loop.
    by : a loop around it.
    factor : any integer.

    Source: M. Wolfe, "Loop skewing: the wavefront method revisited", IJPP 15(4), 1986.
    """

    NAME: ClassVar[str] = "skew"
    KEEPS_ORDER: ClassVar[bool] = True
    loop: LoopRef
    by: LoopRef
    factor: int

    def rewrite(self, tree: LoopTree) -> LoopTree:
        loop, by = find_loop(tree, self.loop), find_loop(tree, self.by)
        if not any(band is by.band for band in loop.outer_bands):
            raise UsageError(f"loop {by.name!r} is not around loop {loop.name!r}", hint="skew by an outer loop")
        return _change(tree, loop, lambda m: m.add(by.band.members[0].scale_val(isl_value(self.factor))))


@dataclass(frozen=True, kw_only=True)
class Shift(Step):
    """Delay one statement in a loop by an amount (statement-wise retiming).

    Rewrite:  S: [i]  ->  S: [i + amount]

    Parameters
    ----------
    loop : the loop.
    statement : the statement to move.
    amount : an integer, or an affine expression over parameters such as `N - 1`.

    Source: A. Darte, G. Huard, "Loop shifting for loop compaction", IJPP 28(5), 2000.
    """

    NAME: ClassVar[str] = "shift"
    loop: LoopRef
    statement: str
    amount: int | str

    def rewrite(self, tree: LoopTree) -> LoopTree:
        loop = find_loop(tree, self.loop)
        if self.statement not in loop.statements:
            raise UsageError(f"loop {loop.name!r} does not contain {self.statement}",
                             hint=f"it contains {', '.join(loop.statements)}")
        return _change(tree, loop, lambda m: _shift(m, tree.domain, self.statement, self.amount))


def _shift(member: isl.UnionPwAff, domain: isl.UnionSet, statement: str, amount: int | str) -> isl.UnionPwAff:
    moved = isl.UnionSet.empty(domain.get_space())
    sets = domain.get_set_list()
    for i in range(sets.n_set()):
        if sets.get_at(i).get_tuple_name() == statement:
            moved = moved.union(isl.UnionSet.from_set(isl.Set.universe(sets.get_at(i).get_space())))
    offset = isl.UnionPwAff.pw_aff_on_domain(moved, parametric(str(amount), domain))
    return member.add(offset).intersect_domain(moved).union_add(member.subtract_domain(moved))


def parametric(text: str, domain: isl.UnionSet) -> isl.PwAff:
    """An affine expression over the parameters of `domain`.

    Raises
    ------
    UsageError : the text is no affine expression over these parameters.
    """
    space = domain.get_space()
    names = [str(space.get_dim_name(isl.dim_type.param, i)) for i in range(space.dim(isl.dim_type.param))]
    try:
        return isl.PwAff.read_from_str(isl.DEFAULT_CONTEXT, f"[{', '.join(names)}] -> {{ [({text})] }}")
    except isl.Error as error:
        raise UsageError(f"{text!r} is no affine expression over the parameters",
                         hint=f"the parameters are {', '.join(names) or 'none'}") from error


@dataclass(frozen=True, kw_only=True)
class Reverse(Step):
    """Run a loop backwards.

    Rewrite:  [i]  ->  [-i]

    Parameters
    ----------
    loop : the loop.
    """

    NAME: ClassVar[str] = "reverse"
    loop: LoopRef

    def rewrite(self, tree: LoopTree) -> LoopTree:
        return _change(tree, find_loop(tree, self.loop), lambda m: m.neg())


@dataclass(frozen=True, kw_only=True)
class Scale(Step):
    """Multiply the value of a loop, so that two loops of different stride can be fused; always legal.

    Rewrite:  [i]  ->  [factor*i]

    Parameters
    ----------
    loop : the loop.
    factor : >= 1.
    """

    NAME: ClassVar[str] = "scale"
    loop: LoopRef
    factor: int

    def rewrite(self, tree: LoopTree) -> LoopTree:
        if self.factor < 1:
            raise UsageError("a loop is scaled by a factor of at least 1", witness=str(self.factor),
                             hint="use reverse to run it backwards")
        return _change(tree, find_loop(tree, self.loop), lambda m: m.scale_val(isl_value(self.factor)))
