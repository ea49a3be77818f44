"""Which statements around a match may begin and end each block of its results: those that touch each sum once.

    t[p, q, k] = bias[k]; t[p, q, k] += ...; Y[p, q, k] = f(t[p, q, k])

What is left of the region is the matched statement alone, and the sums are a temporary that nothing else reads.  isl
proves for all sizes that all three have the same elements, and that no element of what the last one writes is written
twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    Binary,
    Call,
    Expr,
    IteratorRef,
    Literal,
    ParameterRef,
    walk,
)
from polysched.scop.scop import Access, Array, Scop, Statement, Storage
from polysched.tensorize.emission.correction import is_constant
from polysched.tensorize.emission.joined import Joined, JoinedStatement, can_be_joined
from polysched.tensorize.matching.any_size import GeneralMatch, over
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.program import TensorizedProgram


def with_joined(program: TensorizedProgram) -> TensorizedProgram:
    """The program whose other statements are joined to the nest; as it was where they cannot be."""
    general = program.general
    if general is None or program.match.intrinsic.library or program.loops or program.after is None:
        return program
    if not (_is_plain(program.match) and _is_plain(general.match)):
        return program
    first = _only(program.before)
    last = _only(program.after)
    if (first is None) is not (program.before is None) or last is None or (first is None and not program.zero):
        return program
    joined = _joined(general, program.match.fragment.sizes, first, last)
    if joined is None:
        return program
    return program.with_joined(joined)


def _is_plain(match: Match) -> bool:
    """Sums that one nest computes whole, where they lie."""
    correction = match.assignment.correction
    return not (match.overlapping or match.adds_at_the_end or (correction is not None and not is_constant(correction))
                or match.ordered or match.fragment.others or match.starts_anew
                or not match.intrinsic.contraction.accumulates or match.intrinsic.contraction.others)


def _only(scop: Scop | None) -> Statement | None:
    """The statement of a part that has one."""
    return scop.statements[0] if scop is not None and len(scop.statements) == 1 else None


def _joined(general: GeneralMatch, sizes: Mapping[str, int], first: Statement | None, last: Statement) -> Joined | None:
    """The statements as they are joined to a match for all sizes; None where they cannot be."""
    match, fragment = general.match, general.match.fragment
    target = fragment.statement.access(fragment.target)
    names = _loops_of_subscripts(match)
    if names is None or not can_be_joined(match, names):
        return None
    same = _Elements(fragment.iterations_of_all_sizes[0].params(), sizes, general.unknown, target.relation)
    begins = _statement(fragment.scop, first, target.array, names, same, writes=True) if first is not None else None
    ends = _statement(fragment.scop, last, target.array, names, same, writes=False)
    if ends is None or (first is not None and begins is None):
        return None
    made = Joined(first=begins, last=ends)
    dense = all(_is_dense(fragment.scop.array(a)) and fragment.extents_inside(a) is not None for a in made.arrays)
    return made if dense and _writes_apart(made, ends, match, same) else None


def _writes_apart(made: Joined, last: JoinedStatement, match: Match, elements: _Elements) -> bool:
    """Whether the end writes every element once, and nobody reads what it writes but itself the sums."""
    fragment = match.fragment
    target, sums = last.statement.access(last.assign.target), fragment.scop.array(last.sums)
    statements = [fragment.statement, last.statement, *([made.first.statement] if made.first is not None else [])]
    read = {a.array for s in statements for a in s.accesses if a.reference != target.reference} - {sums.name}
    gone = sums.storage is Storage.LOCAL or target.array == sums.name
    return gone and target.array not in read and bool(elements.of_calls(target.relation).is_injective())


def _loops_of_subscripts(match: Match) -> list[str] | None:
    """Per subscript of the result the loop that it is; None where it is anything else than a loop's value."""
    fragment = match.fragment
    indices = fragment.indices[fragment.target]
    if any(len(i.coefficients) != 1 or i.coefficients[0][1] != 1 for i in indices) or any(
            fragment.constant(fragment.target, at) != 0 for at in range(len(indices))):
        return None
    return [i.coefficients[0][0] for i in indices]


@dataclass(frozen=True, eq=False)
class _Elements:
    """The elements of the result at the sizes for which the nest may run.

    Parameters
    ----------
    calls : the sizes of such calls.
    result : from iterations of the matched statement to the elements.
    """

    calls: isl.Set
    sizes: Mapping[str, int]
    unknown: Sequence[str]
    result: isl.Map

    def of_calls(self, relation: isl.Map) -> isl.Map:
        """A relation at these sizes."""
        return over(relation, self.sizes, self.unknown).intersect_params(self.calls)

    def are_those_of(self, relation: isl.Map) -> bool:
        """Whether a relation reaches exactly these elements."""
        return bool(self.of_calls(relation).range().is_equal(self.of_calls(self.result).range()))


def _statement(scop: Scop, statement: Statement, sums: str, names: Sequence[str], elements: _Elements, *,
               writes: bool) -> JoinedStatement | None:
    """A statement as one that touches each sum once, by its iterators in their order; None for any other."""
    if len(statement.body) != 1 or not isinstance(assign := statement.body[0], Assign) or assign.op is not None:
        return None
    order = _order_of_sums(statement, sums, elements, writes=writes)
    if order is None or len(order) != len(names) or sorted(order) != sorted(statement.iterators):
        return None
    if (writes and statement.access(assign.target).array != sums) or not all(map(_is_exact, walk(assign.value))):
        return None
    if not all(_is_simple(scop, a) for a in statement.accesses if a.array != sums):
        return None
    loop = dict(zip(order, names, strict=True))
    return JoinedStatement(statement=statement, assign=assign, loops=tuple(loop[n] for n in statement.iterators),
                           sums=sums, ends=not writes)


def _order_of_sums(statement: Statement, sums: str, elements: _Elements, *, writes: bool) -> list[str] | None:
    """The iterators by which a statement reaches the sums, the same in every access; None where it is not so."""
    mine = [a for a in statement.accesses if a.array == sums]
    told = [a for a in mine if a.is_write is writes]
    if not told or (writes and len(told) < len(mine)):
        return None
    orders = {tuple(map(_iterator, a.subscripts)) for a in mine}
    exact = len(orders) == 1 and all(a.exact and elements.are_those_of(a.relation) for a in mine)
    return [*orders.pop()] if exact else None


def _iterator(subscript: Expr) -> str:
    """The iterator that a subscript is; "" for any other."""
    return subscript.name if isinstance(subscript, IteratorRef) else ""


def _is_simple(scop: Scop, access: Access) -> bool:
    """Whether an access reaches an array of the program by subscripts over iterators and sizes."""
    whole = len(access.subscripts) == access.relation.dim(isl.dim_type.out)
    outside = scop.array(access.array).storage is not Storage.LOCAL
    return outside and access.exact and whole and all(map(_is_affine, access.subscripts))


def _is_exact(e: Expr) -> bool:
    """Whether C computes a node alike everywhere: no function, no sum of floats that may be fused with a product."""
    if isinstance(e, Call):
        return False
    return not (isinstance(e, Binary) and e.dtype.is_float and e.op in "+-" and any(
        isinstance(x, Binary) and x.op == "*" for x in (e.left, e.right)))


def _is_affine(e: Expr) -> bool:
    """Whether a subscript is computed from iterators, sizes and numbers."""
    return all(isinstance(x, IteratorRef | ParameterRef | Literal | Binary) and (
        not isinstance(x, Binary) or x.op in ("+", "-", "*")) for x in walk(e))


def _is_dense(array: Array) -> bool:
    """Whether the elements lie behind one another, under the array's own name and type."""
    spelling, whole = array.c_element.replace(" ", ""), array.name + "[{}]" * len(array.extents)
    known = bool(array.extents) and all(e is not None for e in array.extents[1:])
    return array.own_type and known and spelling in ("", whole)


__all__ = ["with_joined"]
