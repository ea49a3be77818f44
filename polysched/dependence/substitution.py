"""Forward substitution: what a scalar of one instance holds, in the place of its reads.

    int t = a[i][k] * b[k][j];  long s = c[i][j] + t;  if (s > 127) s = 127;  c[i][j] = s;
    ->    c[i][j] = (int)((long)(c[i][j] + a[i][k] * b[k][j]) > 127 ? 127 : ...);

A body that is spread over several statements becomes one, which an instruction can be compared with.  Conversions to
the scalar's type stay as casts.  A scalar's assignment is put in the place of its reads where it is the only source
of all that it reaches, always of the same iteration of the loops around it, and where every element that it reads still
has its value at the read.  The last is not argued but checked: the dependences of the program after have to be those
before.

Source: A. Aho, M. Lam, R. Sethi, J. Ullman, "Compilers", 2nd ed., section 9.1 (copy propagation); the conditions are
those of Feautrier's exact sources (IJPP 20(1), 1991).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

import islpy as isl

from polysched.dependence.analysis import analyse
from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.if_conversion import assigned_value, without_branches
from polysched.dependence.limits import LIMITS
from polysched.dependence.statements import with_statements
from polysched.records import dataclass
from polysched.scop.body import Assign, Binary, Call, Expr, IteratorRef, Load, rebuild, walk
from polysched.scop.scop import Access, AccessKind, Scop, Statement, union_map

LARGEST_VALUE = LIMITS.substituted_nodes


def substitute_temporaries(dependences: Dependences) -> Dependences:
    """The program with private scalars replaced by their values, analysed; the same object where there are none.

    Statements that only computed such a scalar are gone.  A value that calls a function or divides is moved only where
    it is computed no more often than before.

    Raises
    ------
    BudgetExceededError : as `analyse`.
    """
    if not dependences.value_based:
        return dependences
    before = dependences
    if (without := without_branches(dependences.scop)) is not dependences.scop:
        before = analyse(without, value_based=True, inputs=dependences.inputs, known=dependences)
        if not before.value_based:
            return dependences
    refused: set[str] = set()
    while definitions := {n: d for n, d in _definitions(before).items() if n not in refused}:
        program = _substituted(before.scop, definitions)
        if program is None:
            return dependences
        after = analyse(program.scop, value_based=True, inputs=before.inputs, known=before)
        if not after.value_based:
            return dependences
        wrong = program.wrong(before, after)
        if not wrong:
            return after
        refused |= wrong & set(definitions) or set(definitions)
    return before


@dataclass(frozen=True, eq=False)
class _Definition:
    """An assignment of a scalar that is put in the place of these reads, by statement and reference."""

    statement: Statement
    reads: tuple[tuple[str, str], ...]


def _definitions(dependences: Dependences) -> dict[str, _Definition]:
    """The assignments whose every read can be replaced as far as the scalar itself is concerned, by statement."""
    scop = dependences.scop
    scalars = {a.name for a in scop.arrays if a.is_scalar and a.is_temporary}
    flow = [p for p in dependences.pairs if p.kind is DependenceKind.FLOW and p.array in scalars]
    sources = Counter(p.sink_reference for p in flow)
    place = {s.name: k for k, s in enumerate(scop.statements)}

    def defines(statement: Statement, pair: Dependence) -> bool:
        """Whether a read has all its values from the statement ahead of it."""
        return (sources[pair.sink_reference] == 1 and place[pair.sink] > place[statement.name]
                and _reaches_whole(scop, statement, pair))

    found: dict[str, _Definition] = {}
    for statement in scop.statements:
        if not _assigns_one_of(statement, scalars) or not _is_movable(statement):
            continue
        pairs = [p for p in flow if p.source == statement.name]
        reads = tuple(dict.fromkeys((p.sink, p.sink_reference) for p in pairs))
        if pairs and all(defines(statement, p) for p in pairs) and _is_cheap(scop, statement, reads):
            found[statement.name] = _Definition(statement, reads)
    return found


def _assigns_one_of(statement: Statement, scalars: Collection[str]) -> bool:
    item = _only_assignment(statement)
    return item is not None and statement.access(item.target).array in scalars


def _only_assignment(statement: Statement) -> Assign | None:
    item = statement.body[0] if len(statement.body) == 1 else None
    return item if isinstance(item, Assign) else None


def _is_movable(statement: Statement) -> bool:
    """All accesses are exact, and no subscript depends on data."""
    return all(a.exact and a.kind is not AccessKind.MAY_WRITE and not any(
        isinstance(e, Load) for s in a.subscripts for e in walk(s)) for a in statement.accesses)


def _reaches_whole(scop: Scop, source: Statement, pair: Dependence) -> bool:
    """Every instance that reads gets the value of the iteration of the source's loops that it stands in."""
    reader = scop.statement(pair.sink)
    item = _only_assignment(reader)
    if item is None or source.depth > reader.depth or not any(
            isinstance(e, Load) and e.reference == pair.sink_reference for e in (
                *walk(item.value), *((Load(item.read, item.dtype),) if item.read else ()))):
        return False
    if any(isinstance(e, Load) and e.reference == pair.sink_reference
           for a in reader.accesses for s in a.subscripts for e in walk(s)):
        return False
    same = _prefix(reader, source).reverse()
    domain = reader.domain.intersect_params(scop.context)
    return bool(pair.relation.is_subset(same)) and bool(domain.is_subset(pair.relation.range()))


def _is_cheap(scop: Scop, source: Statement, reads: tuple[tuple[str, str], ...]) -> bool:
    """Whether the value may be computed at every read."""
    item = _only_assignment(source)
    assert item is not None
    dear = [e for e in walk(item.value) if isinstance(e, Call) or (isinstance(e, Binary) and e.op in "/%")]
    once = len(reads) == 1 and scop.statement(reads[0][0]).depth == source.depth
    return once or not dear


def _prefix(reader: Statement, source: Statement) -> isl.Map:
    """`{ S[i, j, k] -> D[i, j] }`."""
    names = [f"i{k}" for k in range(reader.depth)]
    text = f"{{ {reader.name}[{', '.join(names)}] -> {source.name}[{', '.join(names[:source.depth])}] }}"
    return isl.Map.read_from_str(reader.domain.get_ctx(), text)


@dataclass(frozen=True, eq=False)
class _Inlined:
    """A statement with other values in its body.

    Parameters
    ----------
    origin : of every access that came with a value the reference that it had, and the statement that it stood in.
    through : per access that came with a value the definitions that it came through.
    """

    statement: Statement
    origin: Mapping[str, tuple[str, Statement]]
    through: Mapping[str, frozenset[str]]


@dataclass(frozen=True, eq=False)
class _Program:
    scop: Scop
    inlined: Mapping[str, _Inlined]

    def wrong(self, before: Dependences, after: Dependences) -> set[str]:
        """The definitions with a read whose value comes from elsewhere now."""
        old, new = _sources(before), _sources(after)
        nothing = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
        found: set[str] = set()
        for statement in self.scop.statements:
            own = self.inlined[statement.name]
            for access in statement.reads:
                reference, home = own.origin.get(access.reference, (access.reference, statement))
                moved = isl.UnionMap.from_map(_prefix(statement, home).intersect_domain(statement.domain).reverse())
                wanted = old.get(reference, nothing).apply_range(moved)
                if not wanted.is_equal(new.get(access.reference, nothing)):
                    found |= own.through.get(access.reference, frozenset({statement.name}))
        return found


def _sources(dependences: Dependences) -> dict[str, isl.UnionMap]:
    found: dict[str, list[isl.Map]] = {}
    for pair in dependences.pairs:
        if pair.kind is DependenceKind.FLOW:
            found.setdefault(pair.sink_reference, []).append(pair.relation)
    return {reference: union_map(relations) for reference, relations in found.items()}


def _substituted(scop: Scop, definitions: Mapping[str, _Definition]) -> _Program | None:
    """The program with these definitions in the place of their reads; None where nothing is left of it."""
    source_of = {read: d.statement.name for d in definitions.values() for read in d.reads}
    done: dict[str, _Inlined] = {}
    kept: set[str] = set()   # definitions that have become too large to be put anywhere
    for statement in scop.statements:
        found = {a.reference: source_of.get((statement.name, a.reference)) for a in statement.reads}
        done[statement.name] = own = _inline(statement, {
            reference: done[source] for reference, source in found.items() if source and source not in kept})
        if statement.name in definitions and _is_too_large(own.statement):
            kept.add(statement.name)
    left = tuple(done[s.name].statement for s in scop.statements if s.name not in definitions or s.name in kept)
    return _Program(with_statements(scop, left), done) if left else None


def _is_too_large(statement: Statement) -> bool:
    """Whether a definition assigns more than what is put into the place of a read."""
    item = _only_assignment(statement)
    return item is not None and sum(1 for _ in walk(item.value)) > LARGEST_VALUE


def _inline(statement: Statement, sources: Mapping[str, _Inlined]) -> _Inlined:
    """A statement with the values of some of its reads in their place."""
    item = _only_assignment(statement)
    if not sources or item is None:
        return _Inlined(statement, {}, {})
    accesses: dict[str, Access] = {}
    origin: dict[str, tuple[str, Statement]] = {}
    through: dict[str, frozenset[str]] = {}
    values: dict[str, Expr] = {}
    for access in statement.accesses:
        if access.reference not in sources:
            accesses[access.reference] = access
            continue
        source = sources[access.reference]
        renamed = {}
        for inner in source.statement.reads:
            first, home = source.origin.get(inner.reference, (inner.reference, source.statement))
            name = f"{first}_in_{statement.name}"
            renamed[inner.reference] = name
            accesses[name] = _moved(inner, name, source.statement, statement)
            origin[name] = (first, home)
            through[name] = frozenset({source.statement.name}) | source.through.get(inner.reference, frozenset())
        values[access.reference] = _moved_value(source.statement, renamed, statement)

    def change(e: Expr) -> Expr:
        return values.get(e.reference, e) if isinstance(e, Load) else e

    if item.read in values:
        changed = Assign(item.target, rebuild(_whole_value(item), change), item.dtype)
    else:
        changed = replace(item, value=rebuild(item.value, change))
    return _Inlined(replace(statement, body=(changed,), accesses=tuple(accesses.values())), origin, through)


def _moved(access: Access, name: str, source: Statement, reader: Statement) -> Access:
    """An access of the source as one of the reader."""
    names = dict(zip(source.iterators, reader.iterators, strict=False))
    relation = _prefix(reader, source).apply_range(access.relation).intersect_domain(reader.domain)
    return replace(access, reference=name, relation=relation, subscripts=tuple(
        rebuild(s, lambda e: _renamed(e, names)) for s in access.subscripts))


def _moved_value(source: Statement, references: Mapping[str, str], reader: Statement) -> Expr:
    """What the source assigns, in terms of the reader."""
    item = _only_assignment(source)
    assert item is not None
    names = dict(zip(source.iterators, reader.iterators, strict=False))

    def change(e: Expr) -> Expr:
        return Load(references[e.reference], e.dtype) if isinstance(e, Load) else _renamed(e, names)

    return rebuild(_whole_value(item), change)


def _whole_value(item: Assign) -> Expr:
    """What an assignment writes; a compound one reads the old value by its own reference."""
    return assigned_value(item, Load(item.target if item.read is None else item.read, item.dtype))


def _renamed(e: Expr, names: Mapping[str, str]) -> Expr:
    return IteratorRef(names[e.name], e.dtype) if isinstance(e, IteratorRef) else e
