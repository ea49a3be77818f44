"""A program that counts the subscripts read from arrays that lie outside what they subscript, before the program runs.

For every access with such a subscript there is one sum over the same instances, under the same conditions as far as
these depend only on what the program does not write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import reduce

import islpy as isl

from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.body import (
    Address,
    Assign,
    Binary,
    BodyStatement,
    Cast,
    Expr,
    If,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Perform,
    Select,
    Unary,
    rebuild,
    statement_expressions,
    walk,
)
from polysched.scop.construction.affine_sets import linear_expression
from polysched.scop.construction.values import integer_literal
from polysched.scop.dtypes import INT32, INT64
from polysched.scop.scop import Access, AccessKind, Array, Scop, Statement, Storage
from polysched.scop.serialise import expression_text

DIM = isl.dim_type


@dataclass(frozen=True, kw_only=True)
class IndexCheck:
    """One access whose subscripts depend on data.

    Parameters
    ----------
    counter : the array of the checking program that counts the instances outside.
    array : what is subscripted.
    line : of the statement.
    sources : the arrays that its subscripts are read from.
    """

    counter: str
    array: str
    line: int
    sources: tuple[str, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class IndexChecks:
    """The checking program, and what its counters stand for."""

    scop: Scop
    checks: tuple[IndexCheck, ...]


def index_checks(scop: Scop) -> IndexChecks | None:
    """The program that checks a program's subscripts; None where none depends on data.

    Raises
    ------
    UnsupportedScopError : the extent of an array is unknown or no linear function of the sizes, or the program writes
        what a subscript is read from.
    """
    written = {a.array for s in scop.statements for a in s.accesses if a.is_write}
    made = _Checks(scop, frozenset(a.name for a in scop.arrays if a.name not in written))
    for statement in scop.statements:
        for access in statement.accesses:
            if any(_loads(subscript) for subscript in access.subscripts):
                _check_reach(scop, statement, access)
                made.add(statement, access)
    if not made.checks:
        return None
    used = {a.array for s in made.statements for a in s.accesses}
    arrays = (*(replace(a, constant=True, storage=Storage.ARGUMENT) for a in scop.arrays if a.name in used),
              *made.counters)
    checking = Scop(name=f"{scop.name}_subscripts", context=scop.context, parameters=scop.parameters, arrays=arrays,
                    statements=tuple(made.statements), schedule=_one_by_one(made.statements))
    return IndexChecks(scop=checking, checks=tuple(made.checks))


def _check_reach(scop: Scop, statement: Statement, access: Access) -> None:
    """Refuse what a called function reaches from an element on that data choose along its own row.

    The subscripts say where its pointer leads to, and not how many elements follow.

    Raises
    ------
    UnsupportedScopError : the last subscript depends on data, or the function reaches several rows.
    """
    found = (part for value in statement_expressions(statement.body) for part in walk(value))
    for address in found:
        if isinstance(address, Address) and access.reference in address.references and (
                address.rows or _loads(access.subscripts[-1])):
            raise UnsupportedScopError(
                f"how far a called function reaches in {access.array} from a subscript on that is read from an array "
                "cannot be tested", where=scop.name, witness=f"line {statement.line}",
                hint="pass whole rows, or read such subscripts outside of calls")


def _loads(value: Expr) -> list[Load]:
    return [e for e in walk(value) if isinstance(e, Load)]


@dataclass
class _Checks:
    """The checking statements so far."""

    scop: Scop
    fixed: frozenset[str]
    statements: list[Statement] = field(default_factory=list)
    counters: list[Array] = field(default_factory=list)
    checks: list[IndexCheck] = field(default_factory=list)
    known: set[tuple[str, str, str]] = field(default_factory=set)

    def add(self, statement: Statement, access: Access) -> None:
        """Add the check of one access."""
        needed = {a.array for s in access.subscripts for a in _with_inner(statement, s)}
        if changed := sorted(needed - self.fixed):
            raise UnsupportedScopError(f"the subscripts of {access.array} are read from {changed[0]}, which is written "
                                       "as well, so they cannot be tested before", where=self.scop.name,
                                       witness=f"line {statement.line}",
                                       hint="read subscripts from arrays that nothing writes")
        outside = self._outside(statement, access)
        parts = [part for c in _conditions_of(statement, access.reference) for part in _conjuncts(c)]
        conditions = [part for c in parts if self._is_known(statement, c) for part in (*self._safe(statement, c), c)]
        test = reduce(_and, [*conditions, outside])
        key = (access.array, expression_text(self.scop, statement, test), str(statement.domain.reset_tuple_id()))
        if key in self.known:
            return
        self.known.add(key)
        number = len(self.checks)
        counter = Array(name=f"polysched_outside_{number}", dtype=INT64, c_element=f"(*polysched_outside_{number})")
        self.counters.append(counter)
        self.statements.append(_counting(statement, test, f"C{number}", counter.name))
        sources = {statement.access(e.reference).array for s in access.subscripts for e in _loads(s)}
        self.checks.append(IndexCheck(counter=counter.name, array=access.array, line=statement.line,
                                      sources=tuple(sorted(sources))))

    def _outside(self, statement: Statement, access: Access) -> Expr:
        """Whether a subscript that depends on data is negative or too large."""
        array = self.scop.array(access.array)
        found: list[Expr] = []
        for subscript, extent in zip(access.subscripts, array.extents, strict=True):
            if not _loads(subscript):
                continue
            too_low = Binary("<", subscript, integer_literal(0, INT64), INT32)
            too_high = Binary(">=", subscript, self._extent(array, extent), INT32)
            outside: Expr = Binary("||", too_low, too_high, INT32)
            found.append(reduce(_and, (*self._safe(statement, subscript), outside)))
        return reduce(_or, found)

    def _safe(self, statement: Statement, value: Expr) -> list[Expr]:
        """What has to hold so that a value can be evaluated: its own subscripts that depend on data lie inside."""
        inner = [statement.access(e.reference) for e in _loads(value)]
        return [Unary("!", self._outside(statement, a), INT32) for a in inner if any(map(_loads, a.subscripts))]

    def _extent(self, array: Array, extent: isl.PwAff | None) -> Expr:
        linear = None
        if extent is not None:
            sizes: dict[str, Expr] = {p.name: ParameterRef(p.name, p.dtype) for p in self.scop.parameters}
            value = extent if extent.get_domain_space().is_params() else extent.project_domain_on_params()
            linear = linear_expression(value.gist_params(self.scop.context).coalesce(), sizes)
        if linear is None:
            raise UnsupportedScopError(f"whether the subscripts of {array.name} that are read from arrays lie inside "
                                       "it cannot be tested", where=self.scop.name,
                                       witness="no extent is known" if extent is None else str(extent),
                                       hint="give the array an extent that is a sum of sizes")
        return linear

    def _is_known(self, statement: Statement, condition: Expr) -> bool:
        """Whether a condition can be evaluated before the program runs."""
        return all(a.array in self.fixed for a in _with_inner(statement, condition))


def _and(left: Expr, right: Expr) -> Expr:
    return Binary("&&", left, right, INT32)


def _or(left: Expr, right: Expr) -> Expr:
    return Binary("||", left, right, INT32)


def _conjuncts(condition: Expr) -> list[Expr]:
    """The parts of a conjunction, in the order in which they are evaluated."""
    match condition:
        case Binary(op="&&"):
            return [*_conjuncts(condition.left), *_conjuncts(condition.right)]
        case Cast(operand=Binary(op="&&") as inner):
            return _conjuncts(inner)
    return [condition]


def _conditions_of(statement: Statement, reference: str) -> list[Expr]:
    """What has to be true where an access is evaluated; nothing where it stands in several places."""
    found = conditions_at(statement, reference)
    return found[0] if len(found) == 1 else []


def conditions_at(statement: Statement, reference: str) -> list[list[Expr]]:
    """The conditions under which an access is evaluated, for each place where it stands in the body."""
    return [list(path) for path in _paths(statement, statement.body, reference)]


def _paths(statement: Statement, body: tuple[BodyStatement, ...], reference: str) -> Iterator[list[Expr]]:
    """The conditions on the way to each place where a reference stands in a body."""
    for item in body:
        if isinstance(item, Assign | Perform):
            yield from _at(statement, (item.target, item.read), reference)
            yield from _within(statement, item.value if isinstance(item, Assign) else item.call, reference)
            continue
        yield from _within(statement, item.condition, reference)
        if isinstance(item, If):
            then = _paths(statement, item.then, reference)
            yield from ([item.condition, *path] for path in then)
            otherwise = _paths(statement, item.otherwise, reference)
            yield from ([Unary("!", item.condition, INT32), *path] for path in otherwise)
        else:   # a `while`
            yield from ([item.condition, *path] for path in _paths(statement, item.body, reference))


def _at(statement: Statement, names: Iterable[str | None], reference: str) -> Iterator[list[Expr]]:
    for name in names:
        if name == reference:
            yield []
        elif name is not None:
            yield from _inside_subscripts(statement, name, reference)


def _inside_subscripts(statement: Statement, outer: str, reference: str) -> Iterator[list[Expr]]:
    for subscript in statement.access(outer).subscripts:
        yield from _within(statement, subscript, reference)


def _within(statement: Statement, value: Expr, reference: str) -> Iterator[list[Expr]]:
    """The conditions inside an expression on the way to a reference."""
    match value:
        case Load():
            if value.reference == reference:
                yield []
            yield from _inside_subscripts(statement, value.reference, reference)
        case Address():
            yield from _at(statement, value.references, reference)
        case Select():
            yield from _within(statement, value.condition, reference)
            yield from ([value.condition, *path] for path in _within(statement, value.then, reference))
            yield from ([Unary("!", value.condition, INT32), *path]
                        for path in _within(statement, value.otherwise, reference))
        case Binary(op="&&" | "||"):
            yield from _within(statement, value.left, reference)
            taken = value.left if value.op == "&&" else Unary("!", value.left, INT32)
            yield from ([taken, *path] for path in _within(statement, value.right, reference))
        case Binary():
            yield from _within(statement, value.left, reference)
            yield from _within(statement, value.right, reference)
        case Unary() | Cast():
            yield from _within(statement, value.operand, reference)
        case _:
            for argument in getattr(value, "arguments", ()):
                yield from _within(statement, argument, reference)


def _counting(statement: Statement, test: Expr, name: str, counter: str) -> Statement:
    """`counter += test` over the iterators that the test depends on."""
    needed = list(_with_inner(statement, test))
    used = {e.name for e in walk(test) if isinstance(e, IteratorRef)} | {
        e.name for a in needed for s in a.subscripts for e in walk(s) if isinstance(e, IteratorRef)}
    dropped = [d for d, iterator in enumerate(statement.iterators) if iterator not in used]
    names = {a.reference: f"{name}_r{i + 1}" for i, a in enumerate(needed)}

    def renamed(value: Expr) -> Expr:
        return rebuild(value, lambda e: replace(e, reference=names[e.reference]) if isinstance(e, Load) else e)

    domain = statement.domain
    for dimension in reversed(dropped):
        domain = domain.project_out(DIM.set, dimension, 1)
    domain = domain.set_tuple_name(name)
    accesses = [Access(reference=names[a.reference], array=a.array, kind=AccessKind.READ, exact=a.exact,
                       relation=_moved(a.relation, dropped, name), subscripts=tuple(map(renamed, a.subscripts)))
                for a in needed]
    element = isl.Map.from_domain_and_range(domain, isl.Set(f"{{ {counter}[] }}"))
    accesses += [Access(reference=f"{name}_r0", array=counter, kind=AccessKind.READ, relation=element),
                 Access(reference=f"{name}_w0", array=counter, kind=AccessKind.MUST_WRITE, relation=element)]
    value = Cast(Select(renamed(test), Literal("1", 1, INT32), Literal("0", 0, INT32), INT32), INT64)
    body = Assign(target=f"{name}_w0", value=value, dtype=INT64, op="+", read=f"{name}_r0")
    return Statement(name=name, line=statement.line, domain=domain, body=(body,), accesses=tuple(accesses))


def _with_inner(statement: Statement, value: Expr) -> Iterator[Access]:
    """Every access of an expression once, those of its subscripts included."""
    found: dict[str, Access] = {}
    pending = _loads(value)
    while pending:
        access = statement.access(pending.pop().reference)
        if access.reference not in found:
            found[access.reference] = access
            pending += [load for s in access.subscripts for load in _loads(s)]
    yield from found.values()


def _moved(relation: isl.Map, dropped: list[int], name: str) -> isl.Map:
    for dimension in reversed(dropped):
        relation = relation.project_out(DIM.in_, dimension, 1)
    return relation.set_tuple_name(DIM.in_, name)


def _one_by_one(statements: list[Statement]) -> isl.Schedule:
    """Statement after statement, each in the order of its iterators."""
    parts = []
    for statement in statements:
        part = isl.Schedule.from_domain(isl.UnionSet.from_set(statement.domain))
        space = isl.LocalSpace.from_space(statement.domain.get_space())
        for dimension in reversed(range(statement.depth)):
            value = isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(isl.Aff.var_on_domain(space, DIM.set, dimension)))
            part = part.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(value))
        parts.append(part)
    return reduce(lambda a, b: a.sequence(b), parts)
