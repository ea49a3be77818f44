"""A described function as equations."""

from __future__ import annotations

from functools import lru_cache

from polysched.dependence.dependences import Dependences
from polysched.errors import SourceSyntaxError
from polysched.scop.body import Assign
from polysched.tensorize.description.library_function import Variant
from polysched.tensorize.functions.recurrences import Recurrences, recurrences
from polysched.tensorize.functions.state import PREFIX
from polysched.tensorize.preparing.branches import with_choices_for_branches


@lru_cache(maxsize=512)
def assigned(variant: Variant) -> Dependences:
    """A described function with its branches as assignments of choices.

    Raises
    ------
    SourceSyntaxError : a branch reads what it wrote, or writes no elements that are the same in every instance.
    """
    dependences = variant.dependences
    while (made := with_choices_for_branches(dependences, anywhere=True)) is not None:
        dependences = made
    if branch := next((s.name for s in dependences.scop.statements if not isinstance(s.body[0], Assign)), None):
        raise SourceSyntaxError("a described function consists of assignments", where=variant.name,
                                witness=f"statement {branch} is a branch that reads what it wrote before, or that "
                                        "writes different elements",
                                hint="write each result once, by a choice: y = c ? a : y")
    return dependences


@lru_cache(maxsize=512)
def described(variant: Variant) -> Recurrences:
    """The equations of a described function, for the values of its parameters that it is called with."""
    dependences = assigned(variant)
    return recurrences(dependences, [s.name for s in dependences.scop.statements], prefix=PREFIX,
                       context=variant.preconditions)


def outputs_of(variant: Variant) -> list[str]:
    """The arrays of the caller that a described function writes."""
    return [a for a in described(variant).written if Variant.is_output(variant.scop, a)]
