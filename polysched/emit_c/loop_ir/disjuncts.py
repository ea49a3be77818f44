"""Whether conditions meet: one disjunct of their intersection is enough to know that they do.

A condition with a minimum or maximum is a union of convex sets.  The intersection of several has as many disjuncts as
there are choices of one set each, and mostly the first is not empty.
"""

from __future__ import annotations

from itertools import count

import islpy as isl

from polysched.scop.budget import require_budget


class Intersection:
    """An intersection as a list of convex sets that grows only as far as it is looked at.

    Attributes
    ----------
    found : the disjuncts so far; none of them is empty at first sight.
    is_whole : there are no others.
    """

    def __init__(self, made: isl.Set, outer: Intersection | None = None) -> None:
        """Of a set, with another intersection if there is one."""
        self._outer, self._arms = outer, tuple(map(isl.Set.from_basic_set, made.get_basic_sets()))
        require_budget()   # a set made beyond the budget may be a part of one
        self._tried = 0   # pairs of a disjunct of the other one and of the set
        self.found: list[isl.Set] = [] if outer else list(self._arms)
        self.is_whole = outer is None or not self._arms

    def is_empty(self) -> bool:
        """Whether no values are in all sets.

        Raises
        ------
        isl.Error : the budget around is spent; what was found stays.
        """
        for number in count():
            self._find(number)
            if number == len(self.found):
                break
            empty = self.found[number].is_empty()
            require_budget()   # nor is what isl says then an answer
            if not empty:
                return False
        return True

    def _find(self, number: int) -> None:
        """Look for the disjunct of this number, if there is one."""
        asked = [(self, number)]   # not by recursion: intersections lie deeper in each other than calls may
        while asked:
            one, wanted = asked[-1]
            if wanted < len(one.found) or one.is_whole or one._outer is None:
                asked.pop()
                continue
            base, arm = divmod(one._tried, len(one._arms))
            if base < len(one._outer.found):
                made = one._outer.found[base].intersect(one._arms[arm])
                require_budget()
                one._tried += 1
                one.found += [] if made.plain_is_empty() else [made]
            elif one._outer.is_whole:
                one.is_whole = True
            else:
                asked.append((one._outer, base))
