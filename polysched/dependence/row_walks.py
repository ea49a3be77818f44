"""Nested loops that walk whole rows of every array they touch, and what one loop in their place looks like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import islpy as isl

from polysched.dependence.limits import LIMITS
from polysched.dependence.source_loops import SourceLoop, source_loop
from polysched.records import dataclass
from polysched.scop.body import Expr, IteratorRef, statement_expressions, walk
from polysched.scop.points import isl_value
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.scop.scop import Access, Array, Scop, Statement, Storage

_IN, _SET, _PARAM = isl.dim_type.in_, isl.dim_type.set, isl.dim_type.param
LONGEST_ROW = LIMITS.constant_row_length
_CAST = re.compile(r"(?P<cast>\(\((?:const )?[\w ]+ \*\))(?P<inner>.*\[\{\}\])\)\[\{\}\]")


@dataclass(frozen=True)
class Shift:
    """An affine function of iterators: coefficients by position, and a constant."""

    coefficients: tuple[tuple[int, int], ...]
    constant: int

    @property
    def is_zero(self) -> bool:
        return not self.coefficients and not self.constant


@dataclass(frozen=True, eq=False, kw_only=True)
class RowLoops:
    """A loop directly around another one, in the tree of the program as written.

    Parameters
    ----------
    path : children to take from the root to the outer band.
    position : of the outer loop's iterator by statement; the inner one's follows it.
    row : iterations of the inner loop.
    walked : per reference that walks the rows, what is added to the outer iterator in its subscript.
    """

    path: tuple[int, ...]
    position: dict[str, int]
    row: int
    walked: dict[str, Shift]


def row_loops(scop: Scop) -> Iterator[RowLoops]:
    """Every pair of nested loops of which all statements agree what their rows are."""
    def below(node: isl.ScheduleNode, path: tuple[int, ...]) -> Iterator[RowLoops]:
        pair = _pair(scop, node, path)
        if pair is not None:
            yield pair
        for k in range(node.n_children()):
            yield from below(node.child(k), (*path, k))

    yield from below(scop.schedule.get_root(), ())


def _pair(scop: Scop, node: isl.ScheduleNode, path: tuple[int, ...]) -> RowLoops | None:
    if kind_of(node) != NodeKind.band or node.band_n_member() != 1:
        return None
    child = node.child(0)
    if kind_of(child) != NodeKind.band or child.band_n_member() != 1:
        return None
    here = node.get_domain()
    statements = [s for s in scop.statements if not here.extract_set(s.domain.get_space()).is_empty()]
    names = [s.name for s in statements]
    outer, inner = (source_loop(scop, n.band_get_partial_schedule().get_union_pw_aff(0), names) for n in (node, child))
    if outer is None or inner is None or not all(s.domain.is_subset(here.extract_set(s.domain.get_space()))
                                                 for s in statements):
        return None
    row = _common_row(scop, statements, outer, inner)
    if row is None:
        return None
    position = {name: outer.counters[name][0] for name in names}
    walked: dict[str, Shift] = {}
    for statement in statements:
        found = _walked(scop, statement, position[statement.name], row)
        if found is None:
            return None
        walked.update(found)
    return RowLoops(path=path, position=position, row=row, walked=walked) if walked else None


def _common_row(scop: Scop, statements: Sequence[Statement], outer: SourceLoop, inner: SourceLoop) -> int | None:
    """Iterations of the inner loop, where they are the same for all statements."""
    rows = {_row(scop, s, outer, inner) for s in statements}
    return rows.pop() if len(rows) == 1 else None


def _row(scop: Scop, statement: Statement, outer: SourceLoop, inner: SourceLoop) -> int | None:
    """Iterations of the inner loop, where they are 0, 1, ... for each of the outer one; None where they are not."""
    (p, p_added), (q, q_added) = outer.counters[statement.name], inner.counters[statement.name]
    if q != p + 1 or p_added or q_added or outer.sign < 0 or inner.sign < 0:
        return None
    domain = statement.domain.intersect_params(scop.context)
    if domain.is_empty():
        return None
    least, most = domain.dim_min_val(q), domain.dim_max_val(q)
    if not (least.is_int() and most.is_int() and least.is_zero()):
        return None
    row = int(most.to_python()) + 1
    return row if 1 < row <= LONGEST_ROW and joined_domain(scop, statement, p, row) is not None else None


def _names_any(expressions: Iterable[Expr], iterators: Sequence[str]) -> bool:
    """Whether one of the iterators stands in one of the expressions."""
    return any(isinstance(e, IteratorRef) and e.name in iterators for top in expressions for e in walk(top))


def _walked(scop: Scop, statement: Statement, p: int, row: int) -> dict[str, Shift] | None:
    """The references that walk rows; None when something else moves with the loops at p and p + 1."""
    names = statement.iterators[p:p + 2]
    if _names_any(statement_expressions(statement.body), names):
        return None
    walked: dict[str, Shift] = {}
    for access in statement.accesses:
        moves = _names_any(access.subscripts, names)
        if not moves and not access.relation.involves_dims(_IN, p, 2):
            continue
        shift = _shift(scop, statement, access, p, row)
        if shift is not None:
            walked[access.reference] = shift
        elif moves or not is_still(statement, access, p, 2):
            return None
    return walked


def is_still(statement: Statement, access: Access, p: int, count: int) -> bool:
    """Whether an access reaches the same element in all iterations of the loops at p, p + 1, ..., so many of them."""
    free = access.relation.project_out(_IN, p, count).insert_dims(_IN, p, count)
    free = free.set_tuple_name(_IN, statement.name).intersect_domain(statement.domain)
    return bool(free.is_equal(access.relation))


def _subscript_functions(access: Access) -> list[isl.Aff] | None:
    """The subscripts as affine functions; None where one has several pieces."""
    function = isl.PwMultiAff.from_map(access.relation)
    parts = [function.get_pw_aff(k).get_pieces() for k in range(len(access.subscripts))]
    return [aff for ((_, aff),) in parts] if all(len(part) == 1 for part in parts) else None


def _shift(scop: Scop, statement: Statement, access: Access, p: int, row: int) -> Shift | None:
    """What the access `A[..., p + shift, q]` adds to the outer iterator; None for any other access."""
    array = scop.array(access.array)
    rank = len(array.extents)
    if not access.exact or rank < 2 or len(access.subscripts) != rank or not _has_rows(array, row):
        return None
    affs = _subscript_functions(access)
    if affs is None:
        return None
    across, along = (_form(statement, aff) for aff in affs[-2:])
    if across is None or along is None or any(aff.involves_dims(_IN, p, 2) for aff in affs[:-2]) or _names_any(
            access.subscripts[:-2], statement.iterators[p:p + 2]):
        return None
    (row_of, added), (column, offset) = across, along
    if column != {p + 1: 1} or offset or row_of.get(p) != 1 or p + 1 in row_of:
        return None
    return Shift(tuple(sorted((k, c) for k, c in row_of.items() if k != p)), added)


def _has_rows(array: Array, row: int) -> bool:
    """Whether the innermost extent is this number, and the rows are one behind the other in memory."""
    last = array.extents[-1]
    if last is None or not (last.is_cst() and last.min_val().eq(isl_value(row)) and last.max_val().eq(isl_value(row))):
        return False
    return flat_element(array) is not None


def flat_element(array: Array) -> str | None:
    """The template of an element with the two last subscripts in one; None where rows may lie anywhere.

    None also where a pointer to the elements would have another type than they have, and C compilers would take it
    for granted that it points elsewhere (C11 6.5p7).
    """
    if any(extent is None for extent in array.c_extents[1:]) and array.storage is not Storage.LOCAL:
        return None
    rank = len(array.extents)
    template = array.c_element or array.name + "[{}]" * rank
    if template.count("{}") != rank:
        return None
    if (cast := _CAST.fullmatch(template)) is not None:
        return f"{cast['cast']}{cast['inner'].removesuffix('[{}]')})[{{}}]"
    if not template.endswith("[{}]" * rank):
        return None
    if array.storage is Storage.LOCAL:
        return template.removesuffix("[{}]")
    if not array.own_type:
        return None
    const = "const " if array.constant else ""
    return f"(({const}{array.dtype.c_name} *){template.removesuffix('[{}][{}]')})[{{}}]"


def _form(statement: Statement, aff: isl.Aff) -> tuple[dict[int, int], int] | None:
    """Coefficients by iterator, and the constant; an iterator of one value counts as constant."""
    if aff.dim(isl.dim_type.div) or aff.involves_dims(_PARAM, 0, aff.dim(_PARAM)):
        return None
    coefficients: dict[int, int] = {}
    constant = aff.get_constant_val()
    for k in range(statement.depth):
        factor = aff.get_coefficient_val(_IN, k)
        if factor.is_zero():
            continue
        fixed = statement.domain.plain_get_val_if_fixed(_SET, k)
        if fixed.is_int():
            constant = constant.add(factor.mul(fixed))
        elif factor.is_int():
            coefficients[k] = int(factor.to_python())
        else:
            return None
    return (coefficients, int(constant.to_python())) if constant.is_int() else None


def consistent(scop: Scop, pairs: list[RowLoops]) -> list[RowLoops]:
    """The pairs all of whose arrays are walked in the same rows by every access to them.

    Rows that a pair walks with a shift may only be read: distances of whole rows would be long ones afterwards.
    """
    array_of = {a.reference: a.array for s in scop.statements for a in s.accesses}
    while True:
        bad = _walked_otherwise(scop, pairs)
        kept = [pair for pair in pairs if not any(array_of[r] in bad for r in pair.walked)]
        if len(kept) == len(pairs):
            return kept
        pairs = kept


def _walked_otherwise(scop: Scop, pairs: Sequence[RowLoops]) -> set[str]:
    """The arrays with an access that walks no rows, or that are written and walked with a shift."""
    walked = {reference for pair in pairs for reference in pair.walked}
    shifted = {r for pair in pairs for r, shift in pair.walked.items() if not shift.is_zero}
    accesses = [a for s in scop.statements for a in s.accesses]
    written = {a.array for a in accesses if a.is_write}
    return {a.array for a in accesses
            if a.reference not in walked or (a.reference in shifted and a.array in written)}


def joint_iterator(scop: Scop, statement: Statement, p: int) -> str:
    """A name for the loop, after those of the two."""
    taken = {*statement.iterators, *(x.name for x in scop.parameters), *(a.name for a in scop.arrays)}
    name = "".join(statement.iterators[p:p + 2])
    while name in taken:
        name += "_"
    return name


def joining(name: str, rank: int, p: int, row: int) -> isl.Map:
    """`{ S[i, p, q, j] -> S[i, row p + q, j] : 0 <= q < row }`."""
    old = [f"i{k}" for k in range(rank)]
    new = [*old[:p], f"{row}*i{p} + i{p + 1}", *old[p + 2:]]
    return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, f"{{ {name}[{', '.join(old)}] -> {name}[{', '.join(new)}] : "
                                                      f"0 <= i{p + 1} < {row} }}")


def joined_domain(scop: Scop, statement: Statement, p: int, row: int) -> isl.Set | None:
    """The domain over the collapsed loop, without quotients; None where it has no such form."""
    parts = statement.domain.get_basic_sets()
    if len(parts) != 1 or parts[0].dim(isl.dim_type.div):
        return None
    space = statement.domain.get_space().drop_dims(_SET, p + 1, 1).set_tuple_name(_SET, statement.name)
    space = space.set_dim_name(_SET, p, joint_iterator(scop, statement, p))
    joined = isl.Set.universe(space)
    for constraint in parts[0].get_constraints():
        own = constraint.get_coefficient_val(_SET, p)
        if not constraint.get_coefficient_val(_SET, p + 1).is_zero():
            continue   # the bounds of the row: whatever else they were shows in the comparison below
        if not own.is_zero() and (constraint.is_equality() or abs(int(own.to_python())) != 1):
            return None
        joined = joined.add_constraint(_joined_constraint(constraint, space, p, row))
    named = statement.domain.apply(joining(statement.name, statement.depth, p, row))
    same = joined.intersect_params(scop.context).is_equal(named.intersect_params(scop.context))
    return joined if same else None


def _joined_constraint(constraint: isl.Constraint, space: isl.Space, p: int, row: int) -> isl.Constraint:
    """`p >= f` becomes `z >= row f`, `p <= f` becomes `z <= row f + row - 1`; others stay."""
    own = constraint.get_coefficient_val(_SET, p)
    factor = isl_value(1 if own.is_zero() else row)
    make = isl.Constraint.equality_alloc if constraint.is_equality() else isl.Constraint.inequality_alloc
    made = make(isl.LocalSpace.from_space(space))
    for k in range(space.dim(_PARAM)):
        made = made.set_coefficient_val(_PARAM, k, constraint.get_coefficient_val(_PARAM, k).mul(factor))
    for k in range(space.dim(_SET)):
        old = constraint.get_coefficient_val(_SET, k if k <= p else k + 1)
        made = made.set_coefficient_val(_SET, k, old if k == p else old.mul(factor))
    constant = constraint.get_constant_val().mul(factor)
    return made.set_constant_val(constant.add(isl_value(row - 1)) if own.is_neg() else constant)
