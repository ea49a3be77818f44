"""The making of a Scop from nested loops, guards and statements.

A front end opens loops and guards and adds statements; the Region keeps the current iteration domain
and turns it, the statements' accesses and the order of everything into isl notation.  While the Region
is open, iterators are isl parameters with names of their own (`polysched_it_7`); they become dimensions when
a statement is added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import islpy as isl

from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    BodyStatement,
    Expr,
    If,
    IteratorRef,
    Load,
    ParameterRef,
    Perform,
    While,
    rebuild,
    references,
)
from polysched.scop.construction.affine_sets import affine_of, element_set, extent_box, linear_expression, range_set
from polysched.scop.construction.functions import ONE_ARGUMENT, TWO_ARGUMENTS
from polysched.scop.construction.size_context import SizeContext
from polysched.scop.construction.values import Value, iterator, parameter
from polysched.scop.construction.written_order import Loop, Node, schedule_as_written
from polysched.scop.dtypes import INT64, DType
from polysched.scop.plain_c import c_expression
from polysched.scop.scop import Access, AccessKind, Array, Parameter, Scop, Statement, Storage

UNIVERSE = "{ : }"
IslSetOrMap = TypeVar("IslSetOrMap", isl.Set, isl.Map)

# Words that isl's parser or C11 takes for something else.
RESERVED = frozenset("""
    and or not exists mod floor ceil floord ceild min max abs implies true false infty infinity nan rat lt le
    gt ge eq ne auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef union unsigned
    void volatile while main
    """.split())  # noqa: SIM905
MATHEMATICAL = frozenset(name + suffix for name in ONE_ARGUMENT | TWO_ARGUMENTS for suffix in ("", "f", "l"))
MACROS = frozenset({"NAN", "INFINITY", "HUGE_VAL", "NULL", "M_PI", "M_E"})


@dataclass(frozen=True, eq=False)
class Touch:
    """An array reference that no statement owns yet."""

    array: str
    subscripts: tuple[Value, ...]
    domain: isl.Set


class Region:
    """Collects loops and statements, and makes the Scop at the end.

    Parameters
    ----------
    name : the Scop's name.
    context : what is known of the parameters from the start.
    hint : sizes that the context should keep where it has to choose between cases.

    Attributes
    ----------
    sizes : the parameter values that the Scop is for.
    domain : the iteration domain under the open loops and guards.
    """

    def __init__(self, name: str, context: isl.Set | None = None, *, hint: Mapping[str, int] | None = None) -> None:
        self.name = name
        self.sizes = SizeContext(context if context is not None else isl.Set(UNIVERSE), hint or {})
        self.domain = isl.Set(UNIVERSE)
        self.parameters: dict[str, Parameter] = {}
        self.arrays: dict[str, Array] = {}
        self.statements: list[Statement] = []
        self.loops: list[Loop] = []
        self._order = [Node(None)]
        self._touches: dict[str, Touch] = {}
        self._count = 0

    def parameter(self, name: str, *, dtype: DType = INT64, at_least: int | None = None) -> Value:
        """Declare a parameter, or find it again, and give its value."""
        if name not in self.parameters:
            self.parameters[name] = Parameter(name, dtype)
            self.sizes.names.append(name)
        if at_least is not None:
            self.assume(isl.Set(f"[{name}] -> {{ : {name} >= {at_least} }}"))
        return parameter(name, self.parameters[name].dtype)

    @property
    def context(self) -> isl.Set:
        """The parameter values that the Scop is for."""
        return self.sizes.context

    def assume(self, condition: isl.Set, *, kind: str = "parameter-range", text: str = "") -> None:
        """Restrict the context; with a text, say so among the assumptions unless it is known already."""
        self.sizes.assume(condition, kind=kind, text=text)

    def declare(self, name: str, dtype: DType, extents: Sequence[Value] = (), *, storage: Storage,
                constant: bool = False, c_element: str | None = None) -> Array:
        """Add an array; extents are functions of the parameters only."""
        shapes = tuple(_extent(e) for e in extents)
        array = Array(name=name, dtype=dtype, extents=shapes, storage=storage, constant=constant,
                      c_extents=tuple(c_expression(e, self.context) for e in shapes),
                      c_element=c_element or name + "[{}]" * len(shapes))
        self.arrays[name] = array
        return array

    def fresh(self, stem: str) -> str:
        """A name that no array, parameter or open loop has: the stem, or the stem and a number."""
        taken = {*RESERVED, *MATHEMATICAL, *MACROS, *self.arrays, *self.parameters, *(loop.name for loop in self.loops)}
        stem = "".join(c if c.isascii() else f"u{ord(c):x}" for c in stem)
        name, count = stem, 0
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        return name

    @contextmanager
    def loop(self, name: str, start: Value, stop: Value, step: int = 1, *, turned: bool = False) -> Iterator[Value]:
        """A loop as Python's `range` describes it; the bounds must be affine and the step a constant but 0.

        Parameters
        ----------
        turned : the last element of the range comes first, as with Python's `reversed`.
        """
        symbol = f"polysched_it_{self._count}"
        self._count += 1
        loop = Loop(self.fresh(name), symbol, 1 if (step > 0) is not turned else -1)
        value = iterator(loop.name, symbol)
        domain = self.domain.intersect(range_set(value, start, stop, step))
        outer, node = self.domain, Node(loop)
        self._order[-1].items.append(node)
        self._order.append(node)
        self.loops.append(loop)
        self.domain = domain
        try:
            yield value
        finally:
            self.domain = outer
            self.loops.pop()
            self._order.pop()

    @contextmanager
    def guard(self, condition: isl.Set) -> Iterator[None]:
        """Statements and accesses inside happen only where a condition on parameters and iterators holds."""
        outer = self.domain
        self.domain = outer.intersect(condition)
        try:
            yield
        finally:
            self.domain = outer

    def require(self, condition: isl.Set, *, kind: str, text: str, assuming: isl.Set | None = None) -> bool:
        """Restrict the context to where a condition holds for every instance here; False when it never does.

        `valid` gets exactly that.  The context gets the simpler condition that is needed when something
        happens here at all (and `assuming` holds): it implies the exact one, and spares every later
        step the cases of empty loops.
        """
        violated = self.without_iterators(self.domain.intersect(self.sizes.valid).subtract(condition))
        usual = self.without_iterators(self.domain.intersect(self.context))
        if assuming is not None:
            usual = usual.intersect(assuming)
        return self.sizes.exclude(violated, [(violated, usual)], kind=kind, text=text)

    def without_iterators(self, params: isl.Set) -> isl.Set:
        """The parameter values for which a set of parameters and iterators has an element."""
        for loop in self.loops:
            position = params.find_dim_by_name(isl.dim_type.param, loop.symbol)
            if position >= 0:
                params = params.project_out(isl.dim_type.param, position, 1)
        return params

    def is_reached(self) -> bool:
        """Whether anything under the open loops and guards can happen at all."""
        return not self.domain.intersect(self.context).is_empty()

    def holds(self, condition: isl.Set) -> bool:
        """Whether a condition is true for every instance under the open loops and guards."""
        return bool(self.domain.intersect(self.context).is_subset(condition))

    def meets(self, condition: isl.Set) -> bool:
        """Whether a condition is true for some instance under the open loops and guards."""
        return not self.domain.intersect(self.context).intersect(condition).is_empty()

    def touch(self, array: str, subscripts: Sequence[Value]) -> str:
        """A reference to an element, for `Load` and `Assign.target`; the statement that uses it owns it."""
        reference = f"pending_{len(self._touches)}"
        self._touches[reference] = Touch(
            array, tuple(s if s.affine is None else self.simplified(s) for s in subscripts), self.domain)
        return reference

    def load(self, array: str, subscripts: Sequence[Value] = (), *, weak: bool = False) -> Value:
        """The value of an element; a subscript without an affine form depends on data, and may be any inside."""
        dtype = self.arrays[array].dtype
        return Value(Load(self.touch(array, subscripts), dtype), dtype, weak)

    def simplified(self, value: Value) -> Value:
        """The value with its affine form simplified by what is known where it is used."""
        if value.affine is None:
            raise ValueError("a subscript is affine")
        known = self.domain.intersect(self.context)
        affine = value.affine.gist(known).coalesce()
        expr = linear_expression(affine, self._references())
        return replace(value, affine=affine, expr=value.expr if expr is None else expr)

    def _references(self) -> dict[str, Expr]:
        """How a body names every parameter and open iterator."""
        sizes: dict[str, Expr] = {p.name: ParameterRef(p.name, p.dtype) for p in self.parameters.values()}
        return sizes | {loop.symbol: IteratorRef(loop.name, INT64) for loop in self.loops}

    def touches_of(self, value: Expr) -> list[Touch]:
        """The array references in an expression that no statement owns yet."""
        pretend = (Assign(target="", value=value, dtype=value.dtype),)
        return [self._touches[r] for r in self._references_of(pretend) if r]

    def _references_of(self, body: tuple[BodyStatement, ...]) -> Iterator[str]:
        """Every reference of a body, those in the subscripts of another ahead of it."""
        for reference in references(body):
            for subscript in self._touches[reference].subscripts if reference else ():
                if subscript.affine is None:
                    yield from self._references_of((Assign(target="", value=subscript.expr, dtype=subscript.dtype),))
            yield reference

    def add(self, body: tuple[BodyStatement, ...], *, line: int = 0) -> Statement | None:
        """Add a statement under the open loops and guards; None when its domain is empty for all parameters."""
        if not self.is_reached():
            return None
        name = f"S{len(self.statements)}"
        must = frozenset(item.target for item in body if isinstance(item, Assign))
        names: dict[str, str] = {}
        accesses: list[Access] = []
        written = {a.target for a in _assigns(body)}
        for reference in self._references_of(body):
            if reference in names or not reference:
                continue
            letter = "w" if reference in written else "r"
            number = sum(1 for n in names.values() if n.startswith(f"{name}_{letter}"))
            names[reference] = f"{name}_{letter}{number}"
            kind = (AccessKind.READ if letter == "r" else
                    AccessKind.MUST_WRITE if reference in must else AccessKind.MAY_WRITE)
            accesses.append(self._access(name, reference, kind, names))
        statement = Statement(name=name, line=line, domain=self._as_dimensions(self._statement_domain(), name),
                              body=_renamed(body, names), accesses=tuple(accesses))
        self.statements.append(statement)
        self._order[-1].items.append(name)
        return statement

    def assign(self, array: str, subscripts: Sequence[Value], value: Expr, *, op: str | None = None,
               line: int = 0) -> Statement | None:
        """Add `array[subscripts] op= value`."""
        target = self.touch(array, subscripts)
        read = self.touch(array, subscripts) if op else None
        return self.add((Assign(target=target, value=value, dtype=self.arrays[array].dtype, op=op, read=read),),
                        line=line)

    def _statement_domain(self) -> isl.Set:
        return self.domain.gist(self.context).coalesce()

    def _as_dimensions(self, params: isl.Set, name: str) -> isl.Set:
        """A set of parameters and iterators as `[N] -> { S0[i, j] : ... }`."""
        result = isl.Set("{ [] }").intersect_params(params)
        for depth, loop in enumerate(self.loops):
            result = _with_parameter(result, loop.symbol)
            position = result.find_dim_by_name(isl.dim_type.param, loop.symbol)
            result = result.move_dims(isl.dim_type.set, depth, isl.dim_type.param, position, 1)
            result = result.set_dim_name(isl.dim_type.set, depth, loop.name)
        return result.set_tuple_name(name)

    def _access(self, statement: str, pending: str, kind: AccessKind, names: dict[str, str]) -> Access:
        """The access that a reference becomes under its final name; the names in its subscripts are final already."""
        touch = self._touches[pending]
        array = self.arrays[touch.array]
        open_dimensions = [d for d, s in enumerate(touch.subscripts) if s.affine is None]
        box = element_set(touch.array, [s.affine for s in touch.subscripts]).intersect(
            extent_box(array, open_dimensions))
        box = box.intersect_params(touch.domain).intersect_params(self.domain)
        relation = isl.Map.from_domain_and_range(isl.Set("{ [] }"), box)
        for depth, loop in enumerate(self.loops):
            relation = _with_parameter(relation, loop.symbol)
            position = relation.find_dim_by_name(isl.dim_type.param, loop.symbol)
            relation = relation.move_dims(isl.dim_type.in_, depth, isl.dim_type.param, position, 1)
            relation = relation.set_dim_name(isl.dim_type.in_, depth, loop.name)
        relation = relation.set_tuple_name(isl.dim_type.in_, statement).gist_params(self.context).coalesce()
        self._require_in_bounds(array, relation)
        if open_dimensions and kind is AccessKind.MUST_WRITE:
            kind = AccessKind.MAY_WRITE
        return Access(reference=names[pending], array=touch.array, kind=kind, relation=relation,
                      subscripts=tuple(_with_names(s.expr, names) for s in touch.subscripts),
                      exact=not open_dimensions)

    def _require_in_bounds(self, array: Array, relation: isl.Map) -> None:
        """Restrict the context to the sizes for which the access stays inside its array."""
        inside = extent_box(array)
        elements = relation.range()
        outside = elements.intersect_params(self.sizes.valid).subtract(inside)
        if outside.is_empty():
            return
        exact, hull = elements.intersect_params(self.context), isl.Set.from_basic_set(elements.simple_hull())
        ways = [(exact.subtract(inside).params(), exact.params()), (hull.subtract(inside).params(), hull.params())]
        text = f"every subscript of {array.name} lies inside its extents"
        if not self.sizes.exclude(outside.params(), ways, kind="in-bounds", text=text):
            raise OutOfBounds(array.name, outside)

    def finish(self) -> Scop:
        """The Scop of everything added so far."""
        context = self.context
        for name in self.parameters:
            context = _with_parameter(context, name)
        order = isl.Set(f"[{', '.join(self.parameters)}] -> {UNIVERSE}").get_space()
        context = context.align_params(order)
        context = _without_others(context, self.parameters)
        statements = tuple(self._finished(s, order) for s in self.statements)
        schedule = schedule_as_written(self._order[0], {s.name: s for s in statements})
        used = {a.array for s in statements for a in s.accesses}
        return Scop(name=self.name, context=context, parameters=tuple(self.parameters.values()),
                    arrays=tuple(a for a in self.arrays.values() if a.name in used or a.storage is not Storage.LOCAL),
                    statements=statements, schedule=schedule, assumptions=tuple(self.sizes.assumptions))

    def _finished(self, statement: Statement, order: isl.Space) -> Statement:
        """The statement with its sets simplified by the final context, parameters in the Scop's order."""
        accesses = tuple(replace(a, relation=a.relation.gist_params(self.context).coalesce().align_params(order))
                         for a in statement.accesses)
        return replace(statement, domain=statement.domain.gist_params(self.context).coalesce().align_params(order),
                       accesses=accesses)


class OutOfBounds(ValueError):
    """An access leaves its array for all sizes; `outside` holds the elements beyond."""

    def __init__(self, array: str, outside: isl.Set) -> None:
        super().__init__(f"{array} is accessed outside its extents")
        self.array = array
        point = outside.sample_point()
        values = [point.get_coordinate_val(isl.dim_type.set, d).to_python()
                  for d in range(outside.dim(isl.dim_type.set))]
        self.witness = array + "[" + ", ".join(str(v) for v in values) + "]"


def _extent(value: Value) -> isl.PwAff:
    return affine_of(value).coalesce()


def _with_parameter(item: IslSetOrMap, name: str) -> IslSetOrMap:
    if item.find_dim_by_name(isl.dim_type.param, name) >= 0:
        return item
    return item.align_params(isl.Set(f"[{name}] -> {UNIVERSE}").get_space())


def _without_others(params: isl.Set, known: dict[str, Parameter]) -> isl.Set:
    for position in range(params.dim(isl.dim_type.param) - 1, -1, -1):
        if params.get_dim_name(isl.dim_type.param, position) not in known:
            params = params.project_out(isl.dim_type.param, position, 1)
    return params


def _assigns(body: tuple[BodyStatement, ...]) -> Iterator[Assign]:
    for item in body:
        match item:
            case Assign():
                yield item
            case If():
                yield from _assigns(item.then)
                yield from _assigns(item.otherwise)
            case While():
                yield from _assigns(item.body)


def _with_names(value: Expr, names: dict[str, str]) -> Expr:
    """The expression with every reference under its final name."""
    def change(expr: Expr) -> Expr:
        return replace(expr, reference=names[expr.reference]) if isinstance(expr, Load) else expr

    return rebuild(value, change)


def _renamed(body: tuple[BodyStatement, ...], names: dict[str, str]) -> tuple[BodyStatement, ...]:
    """The body with every reference under its final name."""
    result: list[BodyStatement] = []
    for item in body:
        match item:
            case Assign():
                result.append(replace(item, value=_with_names(item.value, names), target=names[item.target],
                                      read=None if item.read is None else names[item.read]))
            case If():
                result.append(If(_with_names(item.condition, names), _renamed(item.then, names),
                                 _renamed(item.otherwise, names)))
            case While():
                result.append(While(_with_names(item.condition, names), _renamed(item.body, names)))
            case Perform():
                raise ValueError("only C source calls functions that reach memory through pointers")
    return tuple(result)
