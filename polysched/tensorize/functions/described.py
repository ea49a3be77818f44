"""A described function as equations."""

from __future__ import annotations

from functools import lru_cache

from polysched.tensorize.description.library_function import Variant
from polysched.tensorize.functions.recurrences import Recurrences, recurrences
from polysched.tensorize.functions.state import PREFIX


@lru_cache(maxsize=512)
def described(variant: Variant) -> Recurrences:
    """The equations of a described function, for the values of its parameters that it is called with."""
    return recurrences(variant.dependences, [s.name for s in variant.scop.statements], prefix=PREFIX,
                       context=variant.preconditions)


def outputs_of(variant: Variant) -> list[str]:
    """The arrays of the caller that a described function writes."""
    return [a for a in described(variant).written if Variant.is_output(variant.scop, a)]
