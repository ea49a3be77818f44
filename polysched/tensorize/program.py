"""A match inside a larger program: what runs before the instruction's nest, and what runs behind it.

The matched statement is distributed out of the nest that it stands in (Allen and Kennedy 2001, section 5.2): first the
statements written before it, then all of its instances through the instruction, then the statements written after it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.errors import IllegalScheduleError
from polysched.scop.scop import Scop, union_set
from polysched.tensorize.isl_check import loops_kept_outside
from polysched.tensorize.match import Match


@dataclass(frozen=True, eq=False, kw_only=True)
class TensorizedProgram:
    """The program in three parts; `before` and `after` are None where nothing is left."""

    match: Match
    before: Scop | None
    after: Scop | None


def tensorize(match: Match, *, dependences: Dependences | None = None) -> TensorizedProgram:
    """Split the program of a match around the matched statement.

    Raises
    ------
    IllegalScheduleError : a dependence ties the statement to others inside a loop; the witness names it.
    """
    scop, own = match.fragment.scop, match.fragment.statement.name
    reasons, impossible = loops_kept_outside(match.fragment, dependences or analyse(scop))
    if reasons or impossible:
        raise IllegalScheduleError(
            f"{own} cannot be taken out of the nest that it shares with other statements", where=scop.name,
            witness=impossible or "; ".join(reasons.values()),
            hint="match the body of that loop as a program of its own")
    names = [s.name for s in scop.statements]
    at = names.index(own)
    return TensorizedProgram(match=match, before=part(scop, names[:at]), after=part(scop, names[at + 1:]))


def part(scop: Scop, names: Collection[str]) -> Scop | None:
    """The Scop of some statements only, in their own order; None for none."""
    kept = tuple(s for s in scop.statements if s.name in names)
    if not kept:
        return None
    used = {a.array for s in kept for a in s.accesses}
    return replace(scop, statements=kept, arrays=tuple(a for a in scop.arrays if a.name in used),
                   schedule=scop.schedule.intersect_domain(union_set(s.domain for s in kept)))
