"""The least and the largest element of a set of numbers, within a budget and kept for whoever asks again."""

from __future__ import annotations

from collections import OrderedDict

import islpy as isl

from polysched.emit_c.limits import LIMITS
from polysched.records import dataclass
from polysched.scop.budget import operations_left, require_budget, seconds_left, seconds_of, with_budget

MOST_OPERATIONS = LIMITS.extremes_operations
KEPT = LIMITS.kept_extremes
MORE = LIMITS.more_extremes

Extremes = tuple[isl.PwAff, isl.PwAff]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Found:
    """What was found for a set.

    Parameters
    ----------
    ends : None where there are none in time.
    exact : they belong to the set; otherwise there is time for no more than larger bounds of it.
    operations, seconds : the budget that there was.
    """

    numbers: isl.Set
    ends: Extremes | None
    exact: bool
    operations: int
    seconds: float

    def answers(self, numbers: isl.Set, operations: int, seconds: float) -> bool:
        """Whether a budget would lead to the same."""
        return self.numbers.plain_is_equal(numbers) and (
            self.exact or (operations <= MORE * self.operations and seconds <= MORE * self.seconds))


_KNOWN: OrderedDict[int, _Found] = OrderedDict()
"""By the hash of the set; regions that are tried one after another ask for the same arrays."""


def extremes(numbers: isl.Set) -> Extremes | None:
    """The least and the largest element, as functions of the parameters; None where none are found in time.

    A set in many pieces has extremes in more.  Where these take too long, they are those of a convex set around it.

    Parameters
    ----------
    numbers : of one dimension, bounded.
    """
    operations = min(operations_left(), MOST_OPERATIONS)
    seconds = min(seconds_left(), seconds_of(MOST_OPERATIONS))
    key = hash(numbers)
    known = _KNOWN.get(key)
    if known is None or not known.answers(numbers, operations, seconds):
        known = _found(numbers, operations, seconds)
    _KNOWN.pop(key, None)   # another thread may have dropped it
    _KNOWN[key] = known
    if len(_KNOWN) > KEPT:
        _KNOWN.popitem(last=False)
    return known.ends


def _found(numbers: isl.Set, operations: int, seconds: float) -> _Found:
    exact = with_budget(MOST_OPERATIONS, lambda: _ends(numbers))
    ends = exact if exact is not None else with_budget(MOST_OPERATIONS, lambda: _around(numbers))
    return _Found(numbers=numbers, ends=ends, exact=exact is not None, operations=operations, seconds=seconds)


def _ends(numbers: isl.Set) -> Extremes:
    ends = numbers.dim_min(0), numbers.dim_max(0)
    require_budget()
    return ends


def _around(numbers: isl.Set) -> Extremes | None:
    """The extremes of a convex set around the numbers; None where it has none."""
    hull = isl.Set.from_basic_set(numbers.remove_divs().simple_hull())
    hull = hull.drop_constraints_not_involving_dims(isl.dim_type.set, 0, 1)
    if not (hull.dim_has_lower_bound(isl.dim_type.set, 0) and hull.dim_has_upper_bound(isl.dim_type.set, 0)):
        return None
    return _ends(hull)
