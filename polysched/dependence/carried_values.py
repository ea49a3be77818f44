"""Forward substitution from one iteration to the next: what a scalar still holds of the iteration before.

    for (i = 0; i < n; i++) { a[i] = b[i] + x; x = b[i]; }
    ->    a[0] = b[0] + x;  for (i = 1; i < n; i++) a[i] = b[i] + b[i - 1];

A scalar that carries a value around a loop makes the loop sequential, although the value can be computed anew.  The
read in an iteration is replaced by what the iteration before assigned, for the iterations that have one before; the
first is a statement of its own.  As in `substitution`, that every element read has the same value there is not argued
but checked: the sources of all reads of the program after have to be those before.

Source: M. Wolfe, "High Performance Compilers for Parallel Computing", 1996, section 4.5 (wrap-around variables), with
exact sources in the place of patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import islpy as isl

from polysched.dependence.analysis import analyse
from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.if_conversion import assigned_value
from polysched.dependence.limits import LIMITS
from polysched.dependence.statements import with_statements
from polysched.dependence.substitution import substitute_temporaries
from polysched.records import dataclass
from polysched.scop.body import Assign, Binary, Call, Expr, IteratorRef, Literal, Load, rebuild, references, walk
from polysched.scop.dtypes import INT32, Kind
from polysched.scop.scop import Access, AccessKind, Scop, Statement, union_map

MOST_STATEMENTS = LIMITS.substituted_statements
MOST_VALUES = LIMITS.substituted_values


def substitute_carried(dependences: Dependences) -> Dependences:
    """The program with scalars of the iteration before replaced by their values; the same object where there are none.

    Raises
    ------
    BudgetExceededError : as `analyse`.
    """
    if not carries_values(dependences):
        return dependences
    before = substitute_temporaries(dependences)
    found = False
    refused: set[tuple[str, str]] = set()
    for _ in range(MOST_VALUES):
        pair = next((p for p in _carried(before) if (p.source, p.sink_reference) not in refused), None)
        if pair is None:
            break
        refused.add((pair.source, pair.sink_reference))
        changed = _with_value(before, pair)
        if changed is not None:
            before, found, refused = changed, True, set()   # what was another value may be one that can be had now
    return before if found else dependences


def carries_values(dependences: Dependences) -> bool:
    """Whether there is a scalar that `substitute_carried` would try."""
    return dependences.value_based and len(dependences.scop.statements) <= MOST_STATEMENTS and any(
        True for _ in _carried(dependences))


def _carried(dependences: Dependences) -> Iterator[Dependence]:
    """Flows of a temporary scalar from each iteration of the innermost loop to a plain read in the next."""
    scop = dependences.scop
    scalars = {a.name for a in scop.arrays if a.is_scalar and a.is_temporary}
    for pair in dependences.pairs:
        if pair.kind is not DependenceKind.FLOW or pair.array not in scalars or pair.source == pair.sink:
            continue
        source, sink = scop.statement(pair.source), scop.statement(pair.sink)
        if 0 < source.depth == sink.depth and _is_movable(source) and _reads_plainly(sink, pair.sink_reference) \
                and pair.relation.is_subset(_next(source, sink)) and not _is_single(pair.relation.domain()):
            yield pair


def _is_movable(statement: Statement) -> bool:
    """One plain assignment of a value that costs little, with exact accesses and subscripts that no data decide."""
    match statement.body:
        case (Assign(op=None) as item,):
            dear = any(isinstance(e, Call) or (isinstance(e, Binary) and e.op in "/%") for e in walk(item.value))
            return not dear and all(
                e.dtype.kind is Kind.SIGNED for e in _everything(statement) if isinstance(e, IteratorRef)) and all(
                a.exact and a.kind is not AccessKind.MAY_WRITE
                and not any(isinstance(e, Load) for s in a.subscripts for e in walk(s)) for a in statement.accesses)
        case _:
            return False


def _everything(statement: Statement) -> Iterator[Expr]:
    for item in statement.body:
        if isinstance(item, Assign):
            yield from walk(item.value)
    for access in statement.accesses:
        for subscript in access.subscripts:
            yield from walk(subscript)


def _reads_plainly(statement: Statement, reference: str) -> bool:
    """Whether a read stands in the value of the only assignment of a statement, once."""
    match statement.body:
        case (Assign() as item,):
            return list(references(statement.body)).count(reference) == 1 and any(
                isinstance(e, Load) and e.reference == reference for e in walk(item.value))
        case _:
            return False


def _next(source: Statement, sink: Statement) -> isl.Map:
    """`{ D[i, k] -> R[i, k + 1] }`."""
    names = [f"i{k}" for k in range(source.depth)]
    following = [*names[:-1], f"{names[-1]} + 1"]
    return isl.Map.read_from_str(source.domain.get_ctx(), f"{{ {source.name}[{', '.join(names)}] -> "
                                                          f"{sink.name}[{', '.join(following)}] }}")


def _is_single(domain: isl.Set) -> bool:
    """Whether the innermost loop has only one iteration there."""
    last = domain.dim(isl.dim_type.set) - 1
    others = isl.Map.from_domain_and_range(domain, domain)
    for k in range(last):
        others = others.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return bool(others.subtract(others.equate(isl.dim_type.in_, last, isl.dim_type.out, last)).is_empty())


def _with_value(before: Dependences, pair: Dependence) -> Dependences | None:
    """The program with one read replaced in all iterations that have one before; None where that is another value."""
    scop = before.scop
    source, sink = scop.statement(pair.source), scop.statement(pair.sink)
    main = pair.relation.range().intersect(sink.domain).coalesce()
    rest = sink.domain.subtract(main).coalesce()
    inlined = _inlined(source, sink, pair.sink_reference, main)
    first = _first(scop, sink, rest)
    reads = {p.sink_reference for p in before.pairs if p.kind is DependenceKind.FLOW and p.source == source.name}
    gone = reads == {pair.sink_reference}
    parts = (inlined.statement,) if first is None else (inlined.statement, first)
    statements = tuple(part for s in scop.statements if not (gone and s is source)
                       for part in (parts if s is sink else (s,)))
    back = union_map([_renaming(s.domain, s.name if first is None or s is not first else sink.name)
                      for s in statements])
    pulled = scop.schedule.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(back))
    made = with_statements(scop, statements, schedule=pulled)
    after = analyse(made, value_based=True, inputs=before.inputs, known=before)
    if not after.value_based or not _same_sources(before, after, back, inlined, first):
        return None
    return after


def _renaming(domain: isl.Set, name: str) -> isl.Map:
    """Each instance to the one of the program before that it stands for."""
    same = isl.Map.identity(domain.get_space().map_from_set())
    return same.intersect_domain(domain).set_tuple_name(isl.dim_type.out, name)


def _first(scop: Scop, sink: Statement, rest: isl.Set) -> Statement | None:
    """The statement for the iterations that have none before."""
    if rest.intersect_params(scop.context).is_empty():
        return None
    taken = {s.name for s in scop.statements}
    name = next(n for k in range(len(taken) + 1) if (n := f"{sink.name}_first{k or ''}") not in taken)
    new = {a.reference: f"{a.reference}_of_{name}" for a in sink.accesses}
    accesses = tuple(replace(a, reference=new[a.reference], relation=a.relation.intersect_domain(rest).set_tuple_name(
        isl.dim_type.in_, name)) for a in sink.accesses)
    (item,) = sink.body
    assert isinstance(item, Assign)
    body = replace(item, target=new[item.target], read=None if item.read is None else new[item.read], value=rebuild(
        item.value, lambda e: replace(e, reference=new[e.reference]) if isinstance(e, Load) else e))
    return replace(sink, name=name, domain=rest.set_tuple_name(name), body=(body,), accesses=accesses)


@dataclass(frozen=True, eq=False)
class _Inlined:
    """A statement with a value of the iteration before, and where that value's reads stood: (statement, reference)."""

    statement: Statement
    origin: Mapping[str, tuple[Statement, str]]


def _inlined(source: Statement, sink: Statement, reference: str, main: isl.Set) -> _Inlined:
    (given,), (item,) = source.body, sink.body
    assert isinstance(given, Assign)
    assert isinstance(item, Assign)
    back = _next(source, sink).reverse()
    names = dict(zip(source.iterators, sink.iterators, strict=True))
    last = source.iterators[-1]

    def before(e: Expr) -> Expr:
        if not isinstance(e, IteratorRef):
            return e
        own = IteratorRef(names[e.name], e.dtype)
        return Binary("-", own, Literal("1", 1, INT32), e.dtype) if e.name == last else own

    new = {a.reference: f"{a.reference}_before_{sink.name}_{reference}" for a in source.reads}
    moved = [replace(a, reference=new[a.reference], relation=back.apply_range(a.relation).intersect_domain(main),
                     subscripts=tuple(rebuild(s, before) for s in a.subscripts)) for a in source.reads]
    whole = assigned_value(given, Load(given.target, given.dtype))
    value = rebuild(whole, lambda e: Load(new[e.reference], e.dtype) if isinstance(e, Load) else before(e))
    changed = replace(item, value=rebuild(
        item.value, lambda e: value if isinstance(e, Load) and e.reference == reference else e))
    kept: list[Access] = [replace(a, relation=a.relation.intersect_domain(main))
                          for a in sink.accesses if a.reference != reference]
    return _Inlined(replace(sink, domain=main, body=(changed,), accesses=(*kept, *moved)),
                    {name: (source, old) for old, name in new.items()})


def _same_sources(before: Dependences, after: Dependences, back: isl.UnionMap, inlined: _Inlined,
                  first: Statement | None) -> bool:
    """Whether every read of the program after gets its value from where it came from before."""
    for statement in after.scop.statements:
        here = isl.UnionSet.from_set(statement.domain).apply(back)
        for access in statement.reads:
            new = _sources(after, access.reference).apply_domain(back).apply_range(back)
            if access.reference in inlined.origin:
                source, reference = inlined.origin[access.reference]
                moved = isl.UnionMap.from_map(_next(source, inlined.statement))
                old = _sources(before, reference).apply_range(moved)
            elif first is not None and statement is first:
                old = _sources(before, access.reference.removesuffix(f"_of_{first.name}"))
            else:
                old = _sources(before, access.reference)
            if not new.is_equal(old.intersect_range(here)):
                return False
    return True


def _sources(dependences: Dependences, reference: str) -> isl.UnionMap:
    return union_map([p.relation for p in dependences.pairs
                      if p.kind is DependenceKind.FLOW and p.sink_reference == reference])
