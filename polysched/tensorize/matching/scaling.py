"""What a library function does to its result ahead of the sum: a statement of the program that it replaces.

    for i, j: C[i][j] *= beta;  for i, j, k: C[i][j] += alpha * A[i][k] * B[k][j];
    ->  cblas_dgemm(..., alpha, A, B, beta, C)             (and `C[i][j] = 0` is beta = 0, which reads no old value)
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polysched.records import dataclass
from polysched.scop.body import Assign, Binary, Cast, Expr, IteratorRef, Literal, Load, walk
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Statement
from polysched.tensorize.equality.normal_form import widens
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.proofs.ideal import sums_from_zero
from polysched.tensorize.software.fragment import Fragment, statement_fragment
from polysched.tensorize.software.surroundings import surroundings


@dataclass(frozen=True, eq=False)
class Scale:
    """A statement that multiplies every element of a result by the same number, once, ahead of all that uses it.

    Parameters
    ----------
    fragment : the statement.
    value : the number; its loads are accesses of that statement.
    """

    fragment: Fragment
    value: Expr

    @property
    def statement(self) -> str:
        """Its name."""
        return self.fragment.statement.name

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays (scalars, in most programs) that the number is computed from."""
        return tuple(dict.fromkeys(self.fragment.statement.access(e.reference).array
                                   for e in walk(self.value) if isinstance(e, Load)))


def clearing_statement(match: Match, names: Sequence[str]) -> str | None:
    """The statement that sets exactly the result's elements to zero, ahead of everything that uses them; or None.

    Parameters
    ----------
    names : of the statements that run in one iteration of the kept loops, in textual order.
    """
    found = _only_user(match, names)
    if found is None or found[1].op is not None or not _is_zero(found[1].value):
        return None
    return found[0].name


def keeps_old_value(match: Match) -> str:
    """Why an instruction that sums from zero would lose what the result held; "" where nothing is lost.

    Its executions replace the result, so one of them has to compute the whole sum, and zero has to stand there before.
    """
    if not sums_from_zero(match.intrinsic):
        return ""
    fragment, name = match.fragment, match.intrinsic.name
    chosen = fragment.loops_of(match.result)
    added = [loop.name for loop in fragment.loops if loop.extent > 1 and loop.name not in chosen]
    longer = [n for n in added if n in match.outer]
    longer += [n for g, members in enumerate(match.loops) if match.table.tiles(g, members)[1] > 1
               for n in members if n in added]
    if longer or match.adds_at_the_end:
        return (f"{name} replaces its result by one sum, and the sum over {longer[0] if longer else 'lanes'} takes "
                "several executions")
    if clearing_statement(match, inside_kept(fragment)) is None:
        array = fragment.statement.access(fragment.target).array
        return (f"{name} replaces its result by a sum from zero, and no statement clears exactly these elements of "
                f"{array} ahead of {fragment.statement.name}")
    return ""


def inside_kept(fragment: Fragment) -> list[str]:
    """The statements that run in one iteration of the kept loops, in textual order."""
    if not fragment.kept:
        return [s.name for s in fragment.scop.statements]
    return list(surroundings(fragment.scop, fragment.statement.name)[len(fragment.kept) - 1].statements)


def scaling_statement(match: Match, names: Sequence[str]) -> Scale | None:
    """The statement that the function's factor of the old result stands for; or None.

    Parameters
    ----------
    names : as for `clearing_statement`.
    """
    found = _only_user(match, names)
    if found is None or not match.intrinsic.contraction.scale or not _reached_by_one_call(match):
        return None
    scaled = statement_fragment(match.fragment.scop, found[0], match.fragment.sizes)
    value = None if scaled is None else _factor(scaled, found[1])
    if scaled is None or value is None or not widens(value.dtype, scaled.update.dtype):
        return None
    once = _with_iteration(scaled.relation(scaled.target), len(match.fragment.kept))
    if not (isinstance(value, Literal) and value.value in (0, 1)) and not once.is_injective():
        return None   # what is multiplied twice is scaled by a square
    written = {a.array for s in match.fragment.scop.statements for a in s.writes}
    return None if written & {*Scale(scaled, value).arrays} else Scale(scaled, value)


def _only_user(match: Match, names: Sequence[str]) -> tuple[Statement, Assign] | None:
    """The one statement ahead of the matched one that uses the result's array, where it writes just its elements."""
    fragment = match.fragment
    if fragment.others:   # each would have a statement of its own
        return None
    array = fragment.statement.access(fragment.target).array
    users = [s for s in map(fragment.scop.statement, names[: names.index(fragment.statement.name)])
             if any(a.array == array for a in s.accesses)]
    if len(users) != 1 or len(users[0].body) != 1 or not isinstance(assign := users[0].body[0], Assign):
        return None
    written, depth = users[0].access(assign.target), len(fragment.kept)
    first = fix_parameters(written.relation, fragment.sizes).intersect_domain(
        fix_parameters(users[0].domain, fragment.sizes))
    same = _per_iteration(first, depth).is_equal(_per_iteration(fragment.relation(fragment.target), depth))
    return (users[0], assign) if written.array == array and written.exact and same else None


def _per_iteration(relation: isl.Map, depth: int) -> isl.Map:
    """The elements of every iteration of the outer loops."""
    inner = relation.dim(isl.dim_type.in_) - depth
    return relation.project_out(isl.dim_type.in_, depth, inner).reset_tuple_id(isl.dim_type.in_)


def _reached_by_one_call(match: Match) -> bool:
    """Every element of the result belongs to one call: loops around the calls do not add to an element again."""
    fragment = match.fragment
    calls = _with_iteration(fragment.relation(fragment.target), len(fragment.kept))
    for position, name in reversed(list(enumerate(fragment.statement.iterators))):
        if name not in match.outer:
            calls = calls.project_out(isl.dim_type.in_, position, 1)
    return bool(calls.is_injective())


def _with_iteration(relation: isl.Map, depth: int) -> isl.Map:
    """`{ S[t, i] -> [t, element] }`: elements of different iterations of the outer loops are told apart."""
    space = relation.domain().get_space()
    kept = isl.Map.identity(space.map_from_set())
    kept = kept.project_out(isl.dim_type.out, depth, kept.dim(isl.dim_type.out) - depth)
    return kept.reset_tuple_id(isl.dim_type.out).flat_range_product(relation.reset_tuple_id(isl.dim_type.out))


def _factor(scaled: Fragment, assign: Assign) -> Expr | None:
    """What the old value is multiplied by, the same in all iterations; zero for a statement that clears."""
    if assign.op is None and _is_zero(assign.value):
        return Literal("0", 0, scaled.update.dtype)
    update = scaled.update
    if not (isinstance(update, Binary) and update.op == "*" and update.dtype == scaled.result.dtype):
        return None
    others = [e for e in (update.left, update.right) if e != scaled.result]
    if len(others) != 1 or (update.dtype.is_float and _is_zero(others[0])):
        return None   # infinity times zero is no number; a function with the factor zero reads no old value
    return others[0] if _is_one_number(scaled, others[0]) else None


def _is_one_number(scaled: Fragment, e: Expr) -> bool:
    """Whether an expression is the same in all iterations, and nothing of the result."""
    parts = list(walk(e))
    loads = [x for x in parts if isinstance(x, Load)]
    return not any(isinstance(x, IteratorRef) for x in parts) \
        and not any(scaled.loops_of(x) or x == scaled.result for x in loads)


def _is_zero(e: Expr) -> bool:
    while isinstance(e, Cast):
        e = e.operand
    return isinstance(e, Literal) and e.value == 0 and not e.text.startswith("-")
