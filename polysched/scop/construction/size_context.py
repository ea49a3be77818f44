"""What a program asks of its sizes: the context of a Scop, kept to one convex piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polysched.scop.assumptions import ASSUMED
from polysched.scop.limits import LIMITS
from polysched.scop.plain_c import c_condition
from polysched.scop.points import with_sizes
from polysched.scop.scop import Assumption

MOST_PIECES = LIMITS.context_pieces


class SizeContext:
    """The parameter values that a Scop is for.

    Parameters
    ----------
    context : what is known of the parameters from the start.
    hint : sizes that the context should keep where it has to choose between cases.

    Attributes
    ----------
    context : the parameter values that the Scop is for; may leave out values for which some loops are empty.
    valid : contains all parameter values for which the program is defined; not more while that is simple to say.
    assumptions : what was taken for granted, in words.
    names : of the parameters.
    """

    def __init__(self, context: isl.Set, hint: Mapping[str, int]) -> None:
        self.context = context
        self.valid = context
        self.hint = hint
        self.assumptions: list[Assumption] = []
        self.names: list[str] = []

    def assume(self, condition: isl.Set, *, kind: str, text: str, exact: bool = True) -> None:
        """Restrict the context; with a text, say so among the assumptions unless it is known already."""
        if exact:
            self.valid = self.valid.intersect(condition).coalesce()
        if text and not self.context.is_subset(condition):
            self.assumptions.append(Assumption(kind=kind, text=text, parameters=condition,
                                               condition=c_condition(condition)))
        self.context = self.context.intersect(condition).coalesce()

    def exclude(self, violated: isl.Set, ways: Sequence[tuple[isl.Set, isl.Set]], *, kind: str, text: str) -> bool:
        """Take parameter values out of the context; False when none would be left.

        Parameters
        ----------
        violated : exactly the values that must go.
        ways : sets that contain them, each with the values for which something happens at all; the first way that
            leaves a convex condition is taken.
        """
        if violated.intersect(self.valid).is_empty():
            return True
        self.valid = _bounded(self.valid.subtract(violated).coalesce())
        good = self.context.subtract(violated).coalesce()
        if good.is_empty():
            return False
        needed = good.gist(self.context)
        for wider, usual in ways:
            if needed.n_basic_set() == 1:
                break
            simple = self.context.subtract(wider).intersect(usual).gist(usual.intersect(self.context)).coalesce()
            kept = simple.intersect(self.context)
            if simple.n_basic_set() < needed.n_basic_set() and self._keeps_usual(good, kept) and kept.is_subset(good):
                needed = simple
        self.assume(self._one_piece(needed), kind=kind, text=text, exact=False)
        return True

    def _usual_sizes(self) -> list[Mapping[str, int]]:
        """Sizes that a context should keep: those hinted at, else large equal ones."""
        typical = dict.fromkeys(self.names, ASSUMED.typical_size)
        return [self.hint, {**typical, **self.hint}] if self.hint else [typical]

    def _keeps_usual(self, good: isl.Set, kept: isl.Set) -> bool:
        """Whether a smaller condition still has the usual sizes, if the exact one has them."""
        sizes = self._usual_sizes()[0]
        return not kept.is_empty() and (with_sizes(good, sizes).is_empty() or not with_sizes(kept, sizes).is_empty())

    def _one_piece(self, condition: isl.Set) -> isl.Set:
        """One basic set of a condition: the one that has the sizes that were hinted at, else large equal sizes.

        A context of many cases costs every later step dearly, and the cases differ in sizes that hardly
        meet, such as that one array is shorter than the loops over another.
        """
        pieces = [isl.Set.from_basic_set(piece) for piece in condition.get_basic_sets()]
        if len(pieces) <= 1:
            return condition
        for sizes in self._usual_sizes():
            for piece in pieces:
                if not with_sizes(piece.intersect(self.context), sizes).is_empty():
                    return piece
        return pieces[0]


def _bounded(params: isl.Set) -> isl.Set:
    """A set that contains this one and has few pieces."""
    return params if params.n_basic_set() <= MOST_PIECES else isl.Set.from_basic_set(params.simple_hull())
