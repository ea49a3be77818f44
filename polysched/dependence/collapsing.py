"""Two nested loops over whole rows of every array in them become one loop over the elements as they lie in memory.

    for o, y, x < 56, c:  Y[o][y][x] += W[o][c] * X[c][y][x];
    ->  for o, yx, c:     Y[o][yx] += W[o][c] * X[c][yx];       (rows of 56 elements, one behind the other)

A row of 56 floats is three and a half vectors of 16; behind one another the rows are whole vectors.  Done only where
the rows end within a vector and lose a sixteenth or more of their vectors by that, or where the rows of a sum end
within a register block and it takes a sixteenth longer for that (seven vectors of 8 are three and a half blocks of
two); and where a sum keeps another loop besides for the rows of a register block.  The order as written stays what it
was; the dependences of the program after are those before, instance by instance, which is checked.

Source: D. Padua, M. Wolfe, "Advanced Compiler Optimizations for Supercomputers", CACM 29(12), 1986 (loop collapsing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence.analysis import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.limits import LIMITS
from polysched.dependence.row_walks import (
    RowLoops,
    Shift,
    consistent,
    flat_element,
    is_still,
    joined_domain,
    joining,
    joint_iterator,
    row_loops,
)
from polysched.errors import IllegalScheduleError
from polysched.records import dataclass
from polysched.scop.body import Binary, Expr, IteratorRef, Literal
from polysched.scop.dtypes import INT64
from polysched.scop.points import isl_value
from polysched.scop.scop import Access, Array, Scop, Statement

LEAST_LOSS = LIMITS.collapsed_least_loss

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


@dataclass(frozen=True, kw_only=True)
class CollapsedLoops:
    """Two loops that became one.

    Parameters
    ----------
    outer, inner : their iterators, as the first statement calls them.
    row : iterations of the inner one.
    statements : what stands in them.
    """

    outer: str
    inner: str
    row: int
    statements: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.outer} and {self.inner} of {', '.join(self.statements)}: one loop over rows of {self.row}"


def collapse_rows(dependences: Dependences, vector_bytes: int, row_loss: Callable[[int], float] | None = None,
                  ) -> tuple[Dependences, tuple[CollapsedLoops, ...]]:
    """The program with loops over short rows collapsed, analysed; the same dependences where there is nothing to do.

    Two loops are collapsed when one stands directly in the other, the inner one runs over whole rows of constant
    length, and every access inside either walks those rows or does not move with either loop; no iterator of theirs
    may be used in another way.  All accesses to such an array must be of that kind.

    Parameters
    ----------
    vector_bytes : of the vectors that code will be made for.
    row_loss : how many times longer register blocks take along rows of so many vectors than along rows without an end;
        None takes blocks of any number of vectors for equally good.

    Raises
    ------
    BudgetExceededError : as `analyse`.
    IllegalScheduleError : the dependences are not those before, which would be a fault here.
    """
    done: list[CollapsedLoops] = []
    while dependences.value_based and vector_bytes:
        scop = dependences.scop
        pairs = _at_once(group for group in _groups(scop, consistent(scop, list(row_loops(scop))))
                         if any(_pays(scop, pair, vector_bytes, row_loss) for pair in group) and all(
                             _keeps_rows(scop, pair) for pair in group))
        if not pairs:
            break
        changed = _collapsed(scop, pairs)
        if changed is None:
            break
        after = analyse(changed.scop, value_based=True, inputs=dependences.inputs, known=dependences)
        if not after.value_based:
            break
        _check_same(dependences, after, changed.back)
        dependences = after
        done += changed.loops
    return dependences, tuple(done)


def _check_same(before: Dependences, after: Dependences, back: isl.UnionMap) -> None:
    for name in ("flow", "anti", "output"):
        old, new = getattr(before, name), getattr(after, name).apply_domain(back).apply_range(back)
        if not new.is_equal(old):
            raise IllegalScheduleError(f"collapsing two loops changed the {name} dependences", where=before.scop.name,
                                       witness=str(new.subtract(old).union(old.subtract(new))),
                                       hint="this is a fault of polysched: please report it with the source file")


def _groups(scop: Scop, pairs: Sequence[RowLoops]) -> list[list[RowLoops]]:
    """Pairs that walk an array in common belong together."""
    array_of = {a.reference: a.array for s in scop.statements for a in s.accesses}
    groups: list[tuple[set[str], list[RowLoops]]] = []
    for pair in pairs:
        arrays = {array_of[r] for r in pair.walked}
        own = [group for group in groups if group[0] & arrays]
        groups = [group for group in groups if not group[0] & arrays]
        groups.append((arrays.union(*(g[0] for g in own)), [*(p for g in own for p in g[1]), pair]))
    return [group for _, group in groups]


def _at_once(groups: Iterable[list[RowLoops]]) -> list[RowLoops]:
    """The pairs of the first groups that have no statement in common; others wait until these are collapsed.

    Pairs of one group inside each other, which walk one array in two ways, stay.
    """
    chosen: list[RowLoops] = []
    for group in groups:
        names = [name for pair in (*chosen, *group) for name in pair.position]
        if len(set(names)) == len(names):
            chosen += group
    return chosen


def _pays(scop: Scop, pair: RowLoops, vector_bytes: int, row_loss: Callable[[int], float] | None) -> bool:
    """Whether vectors along a row would be partly empty at its end, or register blocks of a sum would be."""
    array_of = {a.reference: a.array for s in scop.statements for a in s.accesses}
    lanes = vector_bytes // max(scop.array(array_of[r]).dtype.bytes for r in pair.walked)
    if lanes < 2:
        return False
    if pair.row % lanes:
        return -pair.row % lanes >= LEAST_LOSS * pair.row
    sums = any(len(moving) < len(others) for others, moving in _other_loops(scop, pair))
    return sums and row_loss is not None and row_loss(pair.row // lanes) >= 1 + LEAST_LOSS


def _keeps_rows(scop: Scop, pair: RowLoops) -> bool:
    """Whether every sum in the loops has a third loop that moves its element: the rows of a register block."""
    return all(moving or not others for others, moving in _other_loops(scop, pair))


def _other_loops(scop: Scop, pair: RowLoops) -> Iterator[tuple[list[int], list[int]]]:
    """Per element that is written in rows: the other loops around it, and those of them that move it."""
    for name, p in pair.position.items():
        statement = scop.statement(name)
        others = [k for k in range(statement.depth)
                  if k not in (p, p + 1) and not statement.domain.plain_get_val_if_fixed(_SET, k).is_int()]
        for write in (a for a in statement.writes if a.reference in pair.walked):
            yield others, [k for k in others if not is_still(statement, write, k, 1)]


@dataclass(frozen=True, eq=False)
class _Changed:
    """A program with collapsed loops, and the instance of the program before that each of its instances is."""

    scop: Scop
    back: isl.UnionMap
    loops: list[CollapsedLoops]


def _collapsed(scop: Scop, pairs: Sequence[RowLoops]) -> _Changed | None:
    pair_of = {name: pair for pair in pairs for name in pair.position}
    rows = {a.array: pair_of[s.name].row for s in scop.statements if s.name in pair_of
            for a in s.accesses if a.reference in pair_of[s.name].walked}
    back = isl.UnionPwMultiAff.from_union_map(isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ }"))
    statements, loops = [], []
    for statement in scop.statements:
        pair = pair_of.get(statement.name)
        row, p = (1, None) if pair is None else (pair.row, pair.position[statement.name])
        back = back.union_add(isl.UnionPwMultiAff.from_pw_multi_aff(_to_old(statement, p, row)))
        made = statement if pair is None else _in_rows(scop, statement, pair)
        if made is None:
            return None
        statements.append(made)
    for pair in pairs:
        first = next(s for s in scop.statements if s.name in pair.position)
        p = pair.position[first.name]
        loops.append(CollapsedLoops(outer=first.iterators[p], inner=first.iterators[p + 1], row=pair.row,
                                    statements=tuple(pair.position)))
    changed = replace(scop, statements=tuple(statements),
                      arrays=tuple(_with_rows(a, rows[a.name]) if a.name in rows else a for a in scop.arrays),
                      schedule=_schedule(scop.schedule.pullback_union_pw_multi_aff(back), pairs))
    domain = changed.domain
    return _Changed(changed, isl.UnionMap.from_union_pw_multi_aff(back).intersect_domain(domain), loops)


def _schedule(schedule: isl.Schedule, pairs: Sequence[RowLoops]) -> isl.Schedule:
    """The tree, over the new instances, with one band in place of the two of each pair."""
    for pair in pairs:
        node = schedule.get_root()
        for k in pair.path:
            node = node.child(k)
        outer = node.band_get_partial_schedule().get_union_pw_aff(0)
        pieces = isl.UnionPwAff.empty(outer.get_space())
        domains = outer.domain().get_set_list()
        for k in range(domains.n_set()):
            space = domains.get_at(k).get_space()
            if (p := pair.position.get(str(space.get_tuple_name(_SET)))) is not None:
                counter = isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), _SET, p)
                pieces = pieces.union_add(isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(counter)))
        node = node.delete().delete().insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(pieces))
        schedule = node.get_schedule()
    return schedule


def _to_old(statement: Statement, p: int | None, row: int) -> isl.PwMultiAff:
    """`{ S[i, z] -> S[i, z // row, z % row] }`, and the identity where nothing changes."""
    old = [f"i{k}" for k in range(statement.depth)]
    new = list(old)
    if p is not None:
        new[p:p + 2] = ["z"]
        old[p:p + 2] = [f"floor(z/{row})", f"z - {row}*floor(z/{row})"]
    name = statement.name
    return isl.PwMultiAff.read_from_str(isl.DEFAULT_CONTEXT,
                                        f"{{ {name}[{', '.join(new)}] -> {name}[{', '.join(old)}] }}")


def _in_rows(scop: Scop, statement: Statement, pair: RowLoops) -> Statement | None:
    p, row = pair.position[statement.name], pair.row
    domain = joined_domain(scop, statement, p, row)
    assert domain is not None, "pairs have domains that can be joined"
    accesses = []
    for access in statement.accesses:
        made = _access_in_rows(scop, statement, access, pair, domain)
        old = joining(statement.name, statement.depth, p, row).intersect_domain(statement.domain).reverse().apply_range(
            access.relation)
        if access.reference in pair.walked:
            rank = len(scop.array(access.array).extents)
            old = old.apply_range(joining(access.array, rank, rank - 2, row))
        if not made.relation.intersect_params(scop.context).is_equal(old.intersect_params(scop.context)):
            return None
        accesses.append(made)
    return replace(statement, domain=domain, accesses=tuple(accesses))


def _access_in_rows(scop: Scop, statement: Statement, access: Access, pair: RowLoops, domain: isl.Set) -> Access:
    p, row = pair.position[statement.name], pair.row
    shift = pair.walked.get(access.reference)
    relation = access.relation
    if shift is None:
        relation = relation.project_out(_IN, p, 2).insert_dims(_IN, p, 1)
        return replace(access, relation=_named(relation, statement, access.array, domain))
    last = relation.dim(_OUT) - 2
    relation = relation.project_out(_OUT, last, 2).project_out(_IN, p, 2)
    relation = relation.insert_dims(_IN, p, 1).insert_dims(_OUT, last, 1)
    walks = isl.Constraint.equality_alloc(isl.LocalSpace.from_space(relation.get_space()))
    walks = walks.set_coefficient_val(_OUT, last, isl.Val(-1)).set_coefficient_val(_IN, p, isl.Val(1))
    for k, factor in shift.coefficients:
        walks = walks.set_coefficient_val(_IN, k if k < p else k - 1, isl_value(row * factor))
    relation = relation.add_constraint(walks.set_constant_val(isl_value(row * shift.constant)))
    subscript = _subscript(statement, joint_iterator(scop, statement, p), shift, row)
    return replace(access, relation=_named(relation, statement, access.array, domain),
                   subscripts=(*access.subscripts[:-2], subscript))


def _named(relation: isl.Map, statement: Statement, array: str, domain: isl.Set) -> isl.Map:
    relation = relation.set_tuple_name(_IN, statement.name).set_tuple_name(_OUT, array)
    return relation.intersect_domain(domain)


def _subscript(statement: Statement, iterator: str, shift: Shift, row: int) -> Expr:
    """`z + row * shift` as an expression."""
    value: Expr = IteratorRef(iterator, INT64)
    for k, factor in shift.coefficients:
        other = IteratorRef(statement.iterators[k], INT64)
        value = Binary("+", value, Binary("*", _number(row * factor), other, INT64), INT64)
    return value if not shift.constant else Binary("+", value, _number(row * shift.constant), INT64)


def _number(value: int) -> Literal:
    return Literal(str(value), value, INT64)


def _with_rows(array: Array, row: int) -> Array:
    """The array with its two last dimensions in one."""
    element = flat_element(array)
    assert element is not None, "only arrays with such an element are walked"
    *outer, first, _ = array.extents
    *c_outer, c_first, _ = array.c_extents or (None,) * len(array.extents)
    extent = None if first is None else first.scale_val(isl_value(row))
    c_extent = None if c_first is None else f"({c_first}) * {row}"
    return replace(array, extents=(*outer, extent), c_extents=(*c_outer, c_extent), c_element=element)
