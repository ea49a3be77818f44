"""Converted copies of arrays: a sum that reads a copy reads what was copied.

Rewrite:  T[i][k] = (int)A[i][k];  ...  c += T[x][y] * b   ->   T[i][k] = (int)A[i][k];  ...  c += (int)A[x][y] * b

Every instance that reads gets its value from one statement, the exact last writer, which computes it from one element
without a call or a division.  That this element still has its value is not argued but checked: it comes from the same
writer as when it was copied.  A temporary that nobody reads any more goes away.
Source: copy propagation (Aho, Lam, Sethi, Ullman, "Compilers", 2nd ed., section 9.1) on exact array data flow
(Feautrier, IJPP 20(1), 1991).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.idle_statements import without_idle_statements
from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    Binary,
    BodyStatement,
    Call,
    Cast,
    Expr,
    If,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    assignments,
    rebuild,
    walk,
)
from polysched.scop.dtypes import INT64
from polysched.scop.scop import Access, AccessKind, Scop, Statement
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.preparing.restating import sources, union_map_of

MOST_NODES = LIMITS.most_copied_nodes
_PARAM, _IN = isl.dim_type.param, isl.dim_type.in_


def without_copies(dependences: Dependences) -> Dependences | None:
    """The program whose sums read one array less through a copy; None where none does."""
    if not dependences.value_based:
        return None
    refused: set[str] = set()
    while True:
        found = next((c for s in dependences.scop.statements if _is_sum(s) for a in s.reads
                      if a.reference not in refused and (c := _copy(dependences, s, a)) is not None), None)
        if found is None:
            return None
        if (after := _through(dependences, found)) is not None:
            return after
        refused.add(found.read.reference)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Copy:
    """A read of an array that holds converted elements of another one.

    Parameters
    ----------
    reader, read : what reads it.
    writer : the statement that copies.
    instance : `{ reader[i, j, k] -> writer[i, k] }`: whose value is read.
    iterators : the writer's iterators in terms of the reader's.
    """

    reader: Statement
    read: Access
    writer: Statement
    instance: isl.Map
    iterators: Mapping[str, Expr]


def _is_sum(statement: Statement) -> bool:
    """A statement that adds to an element, be it under a condition."""
    items = list(assignments(statement.body))
    if len(items) != 1 or not all(isinstance(b, Assign | If) for b in statement.body):
        return False
    target = statement.access(items[0].target)
    return any(a.array == target.array for a in statement.reads)


def _copy(dependences: Dependences, reader: Statement, read: Access) -> _Copy | None:
    """What a read reads through, where that is one copy for all instances."""
    scop = dependences.scop
    pairs = [p for p in dependences.pairs if p.kind is DependenceKind.FLOW and p.sink_reference == read.reference]
    named = {e.reference for a in reader.accesses for s in a.subscripts for e in walk(s) if isinstance(e, Load)}
    if len(pairs) != 1 or read.reference in named:
        return None
    writer = scop.statement(pairs[0].source)
    if writer.name == reader.name or not _converts(writer):
        return None
    instance = _instance(scop, reader, pairs[0])
    iterators = None if instance is None else _iterators(scop, instance, reader, writer)
    if instance is None or iterators is None:
        return None
    return _Copy(reader=reader, read=read, writer=writer, instance=instance, iterators=iterators)


def _converts(statement: Statement) -> bool:
    """One element in, one element out, and little between them."""
    item = statement.body[0] if len(statement.body) == 1 else None
    if not isinstance(item, Assign) or item.op is not None or len(statement.accesses) != 2:
        return False
    target = statement.access(item.target)
    nodes = list(walk(item.value))
    loads = [e for e in nodes if isinstance(e, Load)]
    dear = any(isinstance(e, Call) or (isinstance(e, Binary) and e.op in "/%") for e in nodes)
    return target.kind is AccessKind.MUST_WRITE and all(a.exact for a in statement.accesses) and not dear \
        and len(loads) == 1 and len(nodes) <= MOST_NODES and statement.access(loads[0].reference).array != target.array


def _instance(scop: Scop, reader: Statement, pair: Dependence) -> isl.Map | None:
    """The instance whose value every instance of the reader gets; None where some get another one."""
    relation = pair.relation.reverse()
    everywhere = reader.domain.intersect_params(scop.context).is_subset(relation.domain())
    return relation if everywhere and relation.is_single_valued() else None


def _iterators(scop: Scop, instance: isl.Map, reader: Statement, writer: Statement) -> dict[str, Expr] | None:
    """The writer's iterators as sums of the reader's; None where they are none."""
    function = isl.PwMultiAff.from_map(instance).coalesce().gist(instance.domain())
    if not function.isa_multi_aff():
        return None
    elements = function.as_multi_aff()
    found: dict[str, Expr] = {}
    for at, name in enumerate(writer.iterators):
        made = _sum(scop, elements.get_aff(at), reader)
        if made is None:
            return None
        found[name] = made
    return found


def _sum(scop: Scop, aff: isl.Aff, reader: Statement) -> Expr | None:
    if aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one():
        return None
    constant = int(aff.get_constant_val().get_num_si())
    types = {p.name: p.dtype for p in scop.parameters}
    terms: list[tuple[int, Expr]] = [(int(aff.get_coefficient_val(_IN, at).get_num_si()), IteratorRef(name, INT64))
                                     for at, name in enumerate(reader.iterators)]
    for at in range(aff.dim(_PARAM)):
        name = str(aff.get_dim_name(_PARAM, at))
        if name in types:
            terms.append((int(aff.get_coefficient_val(_PARAM, at).get_num_si()),
                          Cast(ParameterRef(name, types[name]), INT64)))
        elif not aff.get_coefficient_val(_PARAM, at).is_zero():
            return None
    total: Expr | None = None
    for factor, e in terms:
        if factor:
            scaled = e if factor == 1 else Binary("*", Literal(str(factor), factor, INT64), e, INT64)
            total = scaled if total is None else Binary("+", total, scaled, INT64)
    if total is None:
        return Literal(str(constant), constant, INT64)
    return Binary("+", total, Literal(str(constant), constant, INT64), INT64) if constant else total


def _through(dependences: Dependences, copy: _Copy) -> Dependences | None:
    """The program whose reader computes the value itself; None where the element has another value by then."""
    scop, reader, writer = dependences.scop, copy.reader, copy.writer
    item = writer.body[0]
    assert isinstance(item, Assign)
    copied = next(a for a in writer.accesses if a.reference != item.target)
    name = f"{copied.reference}_in_{copy.read.reference}"

    def moved(e: Expr) -> Expr:
        if isinstance(e, IteratorRef):
            found = copy.iterators[e.name]
            return found if found.dtype == e.dtype else Cast(found, e.dtype)
        return Load(name, e.dtype) if isinstance(e, Load) else e

    value = rebuild(item.value, moved)
    value = value if value.dtype == item.dtype else Cast(value, item.dtype)
    relation = copy.instance.intersect_domain(reader.domain).apply_range(copied.relation).gist_domain(
        reader.domain).intersect_domain(reader.domain)
    access = replace(copied, reference=name, relation=relation, subscripts=tuple(
        rebuild(s, lambda e: copy.iterators[e.name] if isinstance(e, IteratorRef) else e) for s in copied.subscripts))

    def put(e: Expr) -> Expr:
        return value if isinstance(e, Load) and e.reference == copy.read.reference else e

    if any(i.read == copy.read.reference for i in assignments(reader.body)):
        return None   # it is the old value of a compound assignment
    made = replace(reader, body=tuple(_with_values(b, put) for b in reader.body), accesses=tuple(
        access if a is copy.read else a for a in reader.accesses))
    after = analyse(replace(scop, statements=tuple(made if s is reader else s for s in scop.statements)),
                    value_based=True, inputs=dependences.inputs)
    nothing = union_map_of([])
    wanted = sources(dependences).get(copied.reference, nothing).apply_range(
        isl.UnionMap.from_map(copy.instance.reverse()))
    if not after.value_based or not wanted.is_equal(sources(after).get(name, nothing)):
        return None
    rest = without_idle_statements(after.scop)
    return after if rest is after.scop else analyse(rest, value_based=True, inputs=dependences.inputs)


def _with_values(item: BodyStatement, put: Callable[[Expr], Expr]) -> BodyStatement:
    match item:
        case Assign():
            return replace(item, value=rebuild(item.value, put))
        case If():
            return replace(item, condition=rebuild(item.condition, put),
                           then=tuple(_with_values(b, put) for b in item.then),
                           otherwise=tuple(_with_values(b, put) for b in item.otherwise))
        case _:
            return item
