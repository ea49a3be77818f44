"""What isl is asked about the elements of operands and the order of sums, with the sizes as parameters.

The maps are those of the proofs at sample sizes.  They are affine with parameters as well where the first iterations of
loops are numbers, and so are the extents of loops that share a group with one around them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from polysched.tensorize.matching.encoding import grouped
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.proofs.correspondence import Correspondence, is_shared
from polysched.tensorize.proofs.sum_order import reordered, runs_in_order
from polysched.tensorize.software.fragment import Fragment
from polysched.tensorize.software.sizes import is_general


@dataclass(frozen=True, eq=False, kw_only=True)
class ParametricFragment(Fragment):
    """A fragment whose domain has the sizes as parameters.

    Parameters
    ----------
    relations : of its accesses, on this domain.
    """

    relations: Mapping[str, isl.Map]

    @property
    def is_box(self) -> bool:
        """Sampling, which would ask for this, proves nothing about all sizes."""
        return False

    def relation(self, reference: str) -> isl.Map:
        """An access relation for all sizes."""
        return self.relations[reference]


def at_all_sizes(match: Match, domain: isl.Set, relations: Mapping[str, isl.Map]) -> ParametricFragment:
    """The fragment of a match for all sizes, as isl is asked about it."""
    fragment = match.fragment
    return ParametricFragment(
        scop=fragment.scop, statement=fragment.statement, sizes=fragment.sizes, domain=domain, loops=fragment.loops,
        target=fragment.target, update=fragment.update, others=fragment.others, relations=relations)


def unknown_digits(match: Match) -> str:
    """Why tiles and lanes are no affine functions of the iterations at all sizes; "" where they are."""
    for members in match.loops:
        for at, name in enumerate(members):
            loop = match.fragment.loop(name)
            if is_general(loop.lower) or (at and is_general(loop.extent)):
                return f"where loop {name} begins, or how long it is, tells lanes apart and is not known"
    return ""


def several_elements(match: Match, fragment: ParametricFragment) -> str:
    """Why a place of an operand that instances share would need several elements at some size; "" where none does."""
    if not any(is_shared(match.intrinsic, o.name) for o in match.intrinsic.operands):
        return ""
    if why := unknown_digits(match):
        return why
    check = Correspondence(fragment, match.intrinsic, grouped(match.intrinsic, match.groups), adds_up=match.overlapping)
    refusal = check.refusal(match.contents, match.loops)
    return "" if refusal is None else refusal.reason


def changed_order(match: Match, fragment: ParametricFragment, own: Sequence[isl.Map]) -> str:
    """Why sums that keep their order would not at some size; "" where they do.

    Parameters
    ----------
    own : the dependences between updates of one element, for all sizes.
    """
    told = fragment.loops_of(match.result)
    if not match.ordered or told >= {loop.name for loop in fragment.loops if loop.extent > 1}:
        return ""
    if not runs_in_order(match.intrinsic):
        return "sums keep their order"
    if why := unknown_digits(match):
        return why
    groups, equal = grouped(match.intrinsic, match.groups), frozenset[str]() if match.overlapping else frozenset(told)
    refusal = reordered(fragment, match.intrinsic, own, groups, match.loops, equal=equal)
    return "" if refusal is None else refusal.reason
