"""A match inside a larger program: what runs before the instruction's nest, and what runs behind it.

The matched statement is distributed out of the nest that it stands in (Allen and Kennedy 2001, section 5.2): first the
statements written before it, then all of its instances through the instruction, then the statements written after it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.errors import IllegalScheduleError, NoIntrinsicMatchError
from polysched.scop.body import Assign, Cast, Expr, Literal
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop, union_set
from polysched.tensorize.emission.plan import PlanChoice
from polysched.tensorize.isl_check import loops_kept_outside
from polysched.tensorize.match import Match


@dataclass(frozen=True, eq=False, kw_only=True)
class TensorizedProgram:
    """The program in three parts; `before` and `after` are None where nothing is left.

    Parameters
    ----------
    zero : the statement that cleared the result is gone from `before`: the nest starts its sums at zero.
    choice : of the plan, where it was measured; None for the models' best.
    """

    match: Match
    before: Scop | None
    after: Scop | None
    zero: bool = False
    choice: PlanChoice | None = None


def tensorize(match: Match, *, dependences: Dependences | None = None) -> TensorizedProgram:
    """Split the program of a match around the matched statement.

    Raises
    ------
    IllegalScheduleError : a dependence ties the statement to others inside a loop; the witness names it.
    NoIntrinsicMatchError : an array has elements of another C type than the function that reads them (`long long` for
        `long`, an enumeration), which C's rules of aliasing forbid.
    """
    scop, own = match.fragment.scop, match.fragment.statement.name
    reasons, impossible = loops_kept_outside(match.fragment, dependences or analyse(scop))
    if reasons or impossible:
        raise IllegalScheduleError(
            f"{own} cannot be taken out of the nest that it shares with other statements", where=scop.name,
            witness=impossible or "; ".join(reasons.values()),
            hint="match the body of that loop as a program of its own")
    foreign = [a for access in match.fragment.statement.accesses if not (a := scop.array(access.array)).own_type]
    if foreign:
        raise NoIntrinsicMatchError(
            f"{own} cannot be computed by a function that reads {foreign[0].name} as {foreign[0].dtype.c_name}",
            where=scop.name, witness=f"{foreign[0].name} is declared with another type of the same values",
            hint=f"declare it as {foreign[0].dtype.c_name}")
    names = [s.name for s in scop.statements]
    at = names.index(own)
    clears = None if match.intrinsic.library else clearing_statement(match)   # a call adds to what is there
    return TensorizedProgram(match=match, before=part(scop, [n for n in names[:at] if n != clears]),
                             after=part(scop, names[at + 1:]), zero=clears is not None)


def clearing_statement(match: Match) -> str | None:
    """The statement that sets exactly the result's elements to zero, ahead of everything that uses them; or None."""
    fragment = match.fragment
    names = [s.name for s in fragment.scop.statements]
    array = fragment.statement.access(fragment.target).array
    users = [s for s in fragment.scop.statements[: names.index(fragment.statement.name)]
             if any(a.array == array for a in s.accesses)]
    if len(users) != 1 or len(users[0].body) != 1:
        return None
    assign = users[0].body[0]
    if not isinstance(assign, Assign) or assign.op is not None or not _is_zero(assign.value):
        return None
    cleared = users[0].access(assign.target)
    written = fix_parameters(cleared.relation, fragment.sizes).intersect_domain(
        fix_parameters(users[0].domain, fragment.sizes)).range()
    summed = fragment.relation(fragment.target).range()
    return users[0].name if cleared.exact and written.is_equal(summed) else None


def _is_zero(e: Expr) -> bool:
    while isinstance(e, Cast):
        e = e.operand
    return isinstance(e, Literal) and e.value == 0 and not e.text.startswith("-")


def part(scop: Scop, names: Collection[str]) -> Scop | None:
    """The Scop of some statements only, in their own order; None for none."""
    kept = tuple(s for s in scop.statements if s.name in names)
    if not kept:
        return None
    used = {a.array for s in kept for a in s.accesses}
    return replace(scop, statements=kept, arrays=tuple(a for a in scop.arrays if a.name in used),
                   schedule=scop.schedule.intersect_domain(union_set(s.domain for s in kept)))
