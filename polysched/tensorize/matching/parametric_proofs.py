"""What isl is asked about the elements of operands and the order of sums, with the sizes as parameters.

The maps are those of the proofs at sample sizes.  They are affine with parameters as well, where the extents of loops
that share a group with one around them are numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polysched.records import dataclass
from polysched.tensorize.matching.encoding import grouped
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.proofs.correspondence import Correspondence, is_shared
from polysched.tensorize.proofs.sum_order import reordered, runs_in_order
from polysched.tensorize.software.fragment import Fragment, SoftwareLoop
from polysched.tensorize.software.sizes import is_general


@dataclass(frozen=True, eq=False, kw_only=True)
class ParametricFragment(Fragment):
    """A fragment whose domain has the sizes as parameters.

    Parameters
    ----------
    given : the loops, whose least values and extents may be known at run time only; `loops` has those of the samples.
    relations : of its accesses, on this domain.
    lowers : per loop that begins at a size its least value in isl's words.
    unknown : the parameters in these.
    """

    given: tuple[SoftwareLoop, ...]
    relations: Mapping[str, isl.Map]
    lowers: Mapping[str, str]
    unknown: Sequence[str]

    @property
    def parameters_text(self) -> str:
        """In front of a map that names the sizes."""
        return f"[{', '.join(self.unknown)}] -> "

    def first_text(self, name: str) -> str:
        """The least value of a loop over the sizes."""
        return self.lowers.get(name) or super().first_text(name)

    @property
    def is_box(self) -> bool:
        """Sampling, which would ask for this, proves nothing about all sizes."""
        return False

    def relation(self, reference: str) -> isl.Map:
        """An access relation for all sizes."""
        return self.relations[reference]


def at_all_sizes(fragment: Fragment, given: tuple[SoftwareLoop, ...], domain: isl.Set,
                 relations: Mapping[str, isl.Map], *, lowers: Mapping[str, str],
                 unknown: Sequence[str]) -> ParametricFragment:
    """The fragment of a match for all sizes, as isl is asked about it."""
    return ParametricFragment(
        scop=fragment.scop, statement=fragment.statement, sizes=fragment.sizes, domain=domain, loops=fragment.loops,
        target=fragment.target, update=fragment.update, others=fragment.others, given=given, relations=relations,
        lowers={loop.name: lowers[loop.name] for loop in given if is_general(loop.lower)}, unknown=unknown)


def unknown_digits(match: Match, fragment: ParametricFragment) -> str:
    """Why tiles and lanes are no affine functions of the iterations at all sizes; "" where they are."""
    loops = {loop.name: loop for loop in fragment.given}
    for members in match.loops:
        for at, name in enumerate(members):
            if at and is_general(loops[name].extent):
                return f"how long loop {name} is tells lanes apart and is not known"
    return ""


def several_elements(match: Match, fragment: ParametricFragment) -> str:
    """Why a place of an operand that instances share would need several elements at some size; "" where none does."""
    if not any(is_shared(match.intrinsic, o.name) for o in match.intrinsic.operands):
        return ""
    if why := unknown_digits(match, fragment):
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
    if why := unknown_digits(match, fragment):
        return why
    groups, equal = grouped(match.intrinsic, match.groups), frozenset[str]() if match.overlapping else frozenset(told)
    refusal = reordered(fragment, match.intrinsic, own, groups, match.loops, equal=equal)
    return "" if refusal is None else refusal.reason
