"""`SplitAt` and `Peel`: index-set splitting."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import ClassVar

import islpy as isl

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.primitives.affine import parametric
from polysched.scheduling.primitives.loops import Loop, LoopRef, find_loop
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.tree.loop_tree import Band, LoopTree, Sequence, multi_union_pw_aff, replace_node


def _instances(tree: LoopTree, loop: Loop) -> isl.UnionSet:
    """The instances that reach a loop: the domain within the filters around it."""
    domain = tree.domain
    nodes = (*loop.ancestors, loop.band)
    for node, below in pairwise(nodes):
        if isinstance(node, Sequence):
            domain = domain.intersect(next(keep for keep, child in node.branches if child is below))
    return domain


def _sequence(loop: Loop, parts: list[isl.UnionSet]) -> Sequence | Band:
    parts = [part for part in parts if not part.is_empty()]
    if len(parts) < 2:
        return loop.band
    return Sequence(branches=tuple((part, replace(loop.band)) for part in parts))


@dataclass(frozen=True, kw_only=True)
class SplitAt(Step):
    """Cut a loop in two at a value; the order does not change, so it is always legal.

    Rewrite:  for i  ->  sequence(for i < at; for i >= at)

    Parameters
    ----------
    loop : the loop.
    at : an integer or an affine expression over parameters; the first iteration of the second loop.

    Source: M. Griebl, P. Feautrier, C. Lengauer, "Index set splitting", IJPP 28(6), 2000.
    """

    NAME: ClassVar[str] = "split_at"
    loop: LoopRef
    at: int | str

    def rewrite(self, tree: LoopTree) -> LoopTree:
        loop = find_loop(tree, self.loop)
        instances = _instances(tree, loop)
        member = loop.band.members[0].intersect_domain(instances)
        at = isl.UnionPwAff.pw_aff_on_domain(instances, parametric(str(self.at), tree.domain))
        one = isl.UnionPwAff.pw_aff_on_domain(instances, parametric("1", tree.domain))
        # i < at exactly when at - i - 1 >= 0
        below = _nonnegative(at.sub(member).sub(one))
        split = _sequence(loop, [instances.intersect(below), instances.subtract(below)])
        return replace(tree, root=replace_node(tree.root, loop.band, split))


def _nonnegative(function: isl.UnionPwAff) -> isl.UnionSet:
    """The instances where a function is zero or more."""
    result = isl.UnionSet.empty(function.get_space())
    pieces = function.get_pw_aff_list()
    for i in range(pieces.n_pw_aff()):
        result = result.union(isl.UnionSet.from_set(pieces.get_at(i).nonneg_set()))
    return result


@dataclass(frozen=True, kw_only=True)
class Peel(Step):
    """Take the first or the last iterations out of a loop, for every iteration of the loops around it.

    Rewrite:  for i in [a, b)  ->  sequence(for i in [a, a+count); for i in [a+count, b))

    The order does not change, so it is always legal.

    Parameters
    ----------
    loop : the loop.
    count : iterations to take out; >= 1.
    where : `first` or `last`.
    """

    NAME: ClassVar[str] = "peel"
    KEEPS_ORDER: ClassVar[bool] = True
    loop: LoopRef
    count: int = 1
    where: str = "first"

    def rewrite(self, tree: LoopTree) -> LoopTree:
        if self.count < 1 or self.where not in ("first", "last"):
            raise UsageError("peel takes out at least one iteration, first or last",
                             witness=f"count={self.count}, where={self.where!r}")
        loop = find_loop(tree, self.loop)
        instances = _instances(tree, loop)
        peeled = _within(instances, loop, self.count, first=self.where == "first")
        rest = instances.subtract(peeled)
        parts = [peeled, rest] if self.where == "first" else [rest, peeled]
        return replace(tree, root=replace_node(tree.root, loop.band, _sequence(loop, parts)))


def _within(instances: isl.UnionSet, loop: Loop, count: int, *, first: bool) -> isl.UnionSet:
    """Instances whose loop value is less than `count` away from the extreme one of the same outer iteration."""
    outer = multi_union_pw_aff(tuple(b.members[0] for b in loop.outer_bands)) if loop.outer_bands else None
    value = isl.UnionMap.from_union_pw_aff(loop.band.members[0]).intersect_domain(instances)
    if outer is None:
        origin = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ [] }")
        prefix = isl.UnionMap.from_domain_and_range(instances, origin)
    else:
        prefix = isl.UnionMap.from_multi_union_pw_aff(outer).intersect_domain(instances)
    by_prefix = prefix.reverse().apply_range(value)          # outer iteration -> values of the loop
    extreme = by_prefix.lexmin() if first else by_prefix.lexmax()
    near = " and ".join(["0 <= d < " + str(count), "v = e + d" if first else "v = e - d"])
    neighbours = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, f"{{ [e] -> [v] : exists d : {near} }}")
    wanted = prefix.apply_range(extreme).apply_range(neighbours)
    return value.intersect(wanted).domain()
