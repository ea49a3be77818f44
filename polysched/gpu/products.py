"""Matches that are products of two matrices: which of an instruction's dimensions are rows, columns and sums."""

from __future__ import annotations

from collections.abc import Collection

from polysched.tensorize.matching.mapping import Match


def product_groups(match: Match) -> tuple[frozenset[str], ...]:
    """The operands that rows, columns and sums of a product index; empty where it is no product of two matrices."""
    inputs, result = tuple(match.assignment.held), match.intrinsic.output.name
    if len(inputs) != 2 or len(match.groups) != 3:
        return ()
    left, right = inputs
    wanted = (frozenset({left, result}), frozenset({right, result}), frozenset({left, right}))
    return wanted if {group.indexes for group in match.groups} == set(wanted) else ()


def needs_more(match: Match, outside: Collection[str] = ()) -> bool:
    """Whether there is more to compute than the products of the instruction.

    Parameters
    ----------
    outside : loops that somebody else runs around the whole, one iteration after the other.
    """
    return bool(set(match.fragment.kept) - set(outside) or match.rest or match.adds_at_the_end
                or match.assignment.correction is not None)
