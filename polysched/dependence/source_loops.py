"""Loops of the program as written, seen from the statements inside: whose iterations belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from polysched.dependence.access_order import access_stages
from polysched.dependence.dependences import Dependence
from polysched.records import dataclass
from polysched.scop.points import isl_value
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.scop.scop import Access, AccessKind, Scop, Statement


@dataclass(frozen=True)
class SourceLoop:
    """One loop of the program as written, seen from the statements inside.

    Parameters
    ----------
    counters : per statement the position of its iterator and the constant c, so that iterations of different
        statements with equal `iterator + c` belong together.
    sign : 1 where the iterators count up, -1 where they count down.
    """

    counters: Mapping[str, tuple[int, int]]
    sign: int = 1


def shared_loops(scop: Scop, statements: Sequence[str], *, bystanders: bool = False) -> Iterator[SourceLoop]:
    """The loops of the program as written that are around all of these statements, outermost first.

    Parameters
    ----------
    bystanders : say where all other statements in a loop stand, too.
    """
    node = scop.schedule.get_root()
    wanted, known = set(statements), {s.name for s in scop.statements}
    while True:
        kind = kind_of(node)
        if kind == NodeKind.leaf:
            return
        if kind == NodeKind.band:
            partial = node.band_get_partial_schedule()
            for member in range(node.band_n_member()):
                around = sorted(statement_names(partial.domain()) & known) if bystanders else statements
                loop = source_loop(scop, partial.get_union_pw_aff(member), around)
                if loop is None:
                    return
                yield loop
        if node.n_children() == 1:
            node = node.child(0)
            continue
        inside = [k for k in range(node.n_children()) if wanted & statement_names(node.child(k).filter_get_filter())]
        if len(inside) != 1:
            return
        node = node.child(inside[0])


def statement_names(domain: isl.UnionSet) -> set[str]:
    sets = domain.get_set_list()
    return {str(sets.get_at(k).get_tuple_name()) for k in range(sets.n_set())}


def source_loop(scop: Scop, member: isl.UnionPwAff, statements: Sequence[str]) -> SourceLoop | None:
    """The loop that a band member is, when it counts one iterator of each statement up or down by one."""
    counters: dict[str, tuple[int, int]] = {}
    signs = set()
    pieces = member.get_pw_aff_list()
    for index in range(pieces.n_pw_aff()):
        function = pieces.get_at(index)
        name = function.domain().get_tuple_name()
        if name not in statements:
            continue
        counter = _counter(function, scop.statement(name).depth)
        if counter is None:
            return None
        position, sign, constant = counter
        signs.add(sign)
        counters[name] = (position, sign * constant)
    return SourceLoop(counters, signs.pop()) if len(counters) == len(statements) and len(signs) == 1 else None


def subscripted_by(access: Access, counter: tuple[int, int]) -> bool:
    """Whether a dimension of the array is the loop's counter already."""
    return any(access.relation.is_subset(equal_counters(access.relation, counter, (dimension, 0)))
               for dimension in range(access.relation.dim(isl.dim_type.out)))


def every_read_has_a_writer(scop: Scop, accesses: Sequence[tuple[Statement, Access]],
                            flow: Sequence[Dependence]) -> bool:
    """Whether each instance that reads the array gets a value that some instance certainly wrote.

    Inside one instance a read may be served by an earlier assignment of the same instance, which is no
    dependence; then the read needs no other writer.
    """
    for statement, access in accesses:
        if access.kind is not AccessKind.READ or _is_set_before(statement, access):
            continue
        served = isl.Set.empty(statement.domain.get_space())
        for pair in flow:
            certain = scop.statement(pair.source).access(pair.source_reference).kind is AccessKind.MUST_WRITE
            if pair.sink_reference == access.reference and certain:
                served = served.union(pair.relation.range())
        if not access.relation.domain().intersect_params(scop.context).is_subset(served):
            return False
    return True


def _is_set_before(statement: Statement, read: Access) -> bool:
    """Whether the instance that reads an element has certainly written it before."""
    stages = access_stages(statement)
    return any(a.kind is AccessKind.MUST_WRITE and a.exact and a.array == read.array
               and stages[a.reference] < stages[read.reference] and bool(read.relation.is_subset(a.relation))
               for a in statement.accesses)


def _counter(function: isl.PwAff, depth: int) -> tuple[int, int, int] | None:
    """Position, sign and constant of a function `± iterator + constant`; None for any other function."""
    affs = [aff for _, aff in function.get_pieces()]
    if len(affs) != 1 or affs[0].dim(isl.dim_type.div):
        return None
    aff = affs[0]
    if aff.involves_dims(isl.dim_type.param, 0, aff.dim(isl.dim_type.param)):
        return None
    factors = [int(aff.get_coefficient_val(isl.dim_type.in_, k).to_python()) for k in range(depth)]
    used = [k for k, factor in enumerate(factors) if factor]
    if len(used) != 1 or abs(factors[used[0]]) != 1:
        return None
    return used[0], factors[used[0]], int(aff.get_constant_val().to_python())


def stays_inside(pair: Dependence, loop: SourceLoop) -> bool:
    """Whether source and sink of a dependence always lie in the same iteration of a loop."""
    together = equal_counters(pair.relation, loop.counters[pair.source], loop.counters[pair.sink])
    return bool(pair.relation.is_subset(together))


def equal_counters(relation: isl.Map, source: tuple[int, int], sink: tuple[int, int]) -> isl.Map:
    """The pairs `x -> y` of a relation with `x[p] + c = y[q] + d`, for source (p, c) and sink (q, d)."""
    constraint = isl.Constraint.equality_alloc(isl.LocalSpace.from_space(relation.get_space()))
    constraint = constraint.set_coefficient_val(isl.dim_type.in_, source[0], isl.Val(1))
    constraint = constraint.set_coefficient_val(isl.dim_type.out, sink[0], isl.Val(-1))
    return relation.add_constraint(constraint.set_constant_val(isl_value(source[1] - sink[1])))
