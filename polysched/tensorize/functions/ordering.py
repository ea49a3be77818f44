"""Whether the statements of a match can be taken out of their nests, and what then runs before and behind the calls.

The calls run one after the other, in ascending order of the loops around them.  Every pair of accesses that conflicts
must keep its order; what the calls no longer touch (temporaries that were dead) orders nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from polysched.dependence.dependences import Dependence, Dependences
from polysched.records import dataclass
from polysched.tensorize.functions.function_match import FunctionMatch
from polysched.tensorize.functions.recurrences import later_iterations
from polysched.tensorize.software.conflicts import conflicts

BEFORE, CALLS, BEHIND = 0, 1, 2


@dataclass(frozen=True, kw_only=True)
class Place:
    """The statements that run before the calls and behind them, in textual order."""

    before: tuple[str, ...]
    behind: tuple[str, ...]


def place(found: FunctionMatch) -> Place | str:
    """Where the calls can run, or which conflict ties the statements to others."""
    names = [s.name for s in found.scop.statements]
    mine = {*found.statements}
    first, last = names.index(found.statements[0]), names.index(found.statements[-1])
    pairs = conflicts(found.scop)
    refused = ""
    for between in (BEFORE, BEHIND):
        times = {n: CALLS if n in mine else BEFORE if at < first else BEHIND if at > last else between
                 for at, n in enumerate(names)}
        tied = next(_tied(found, pairs, times), None)
        if tied is None:
            return Place(before=tuple(n for n in names if times[n] == BEFORE),
                         behind=tuple(n for n in names if times[n] == BEHIND))
        refused = refused or f"{tied.sink} has to stay behind {tied.source}: both access {tied.array}"
    return refused


def _tied(found: FunctionMatch, pairs: Dependences, times: dict[str, int]) -> Iterator[Dependence]:
    """Conflicts whose order would be lost."""
    touched = {o.array for o in found.state.operands.values()}
    touched |= {a for n in found.state.numbers.values() for a, _ in n.elements}
    gone = {*found.program.written} - touched
    for pair in pairs.pairs:
        source, sink = times[pair.source], times[pair.sink]
        if CALLS in (source, sink) and pair.array in gone:
            continue
        if source > sink or (source == sink == CALLS and not later_iterations(
                pair.relation, found.outer[pair.source], found.outer[pair.sink]).is_empty()):
            yield pair

