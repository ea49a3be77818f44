"""`polysched match` for functions that are described by their C code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polysched.dependence.dependences import Dependences
    from polysched.tensorize.description.library_function import LibraryFunction
    from polysched.tensorize.functions.function_match import FunctionMatches
    from polysched.tensorize.matching.facts import Numerics

MOST_REASONS = 5


def matched(dependences: Dependences, function: LibraryFunction, numerics: Numerics,
            sizes: Mapping[str, int]) -> FunctionMatches:
    """The parts of one program that a function computes."""
    from polysched.tensorize.functions.function_match import match_function
    return match_function(dependences, function, numerics, sizes=sizes)


def show(found: FunctionMatches) -> None:
    """Every match with its call, or why there is none."""
    from polysched.tensorize.functions.call_c import calls_c
    print(f"{found.scop.name} on {found.function.name}: {found.count} match{'es' * (found.count != 1)} "
          f"({found.milliseconds:.0f} ms)")
    for m in found.matches:
        print(f"  {' and '.join(m.statements)} by")
        for line in calls_c(m).lines:
            print(f"    {line}")
        if m.dead:
            print(f"    temporaries that are gone: {', '.join(m.dead)}")
        for assumption in m.assumptions:
            print(f"    takes for granted: {assumption}")
    for reason in found.reasons[:MOST_REASONS] if not found.count else ():
        print(f"  {reason}")
