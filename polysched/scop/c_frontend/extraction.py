"""What is known while one region is read: parameters, arrays, the context, and the loops around.

The only mutable value of the front end; `build.py` turns it into a Scop at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any

import islpy as isl
from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.body import Expr
from polysched.scop.c_frontend.declarations.bindings import Bindings, describe
from polysched.scop.c_frontend.declarations.c_types import Scalar
from polysched.scop.c_frontend.declarations.definitions import definition_of
from polysched.scop.c_frontend.declarations.scopes import Origin, Symbol
from polysched.scop.c_frontend.order import OpenStatement
from polysched.scop.c_frontend.parse import SyntaxRegion, place
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.dtypes import DType
from polysched.scop.scop import NEVER_GRANTED, Array, Assumption, Parameter

ISL_KEYWORDS = frozenset({
    "exists", "and", "or", "not", "implies", "mod", "floor", "floord", "ceild", "ceil", "min", "max", "rat", "infty",
    "infinity", "inf", "NaN", "nan", "true", "false", "True", "False", "div", "lexmin", "lexmax"})
_STATEMENT_LIKE = re.compile(r"^S\d+(_[rw]\d+)?$")
_PLAIN = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")


class NotAffine(Exception):
    """An expression is not an affine function of iterators and parameters; says which part and why."""

    def __init__(self, node: c_ast.Node, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason


class NoCountedLoop(UnsupportedScopError):
    """A loop that no iteration domain describes; where it may, it stands as one statement."""


@dataclass(frozen=True, eq=False)
class Affine:
    """An affine value with the C type that it is computed in."""

    value: isl.PwAff
    dtype: DType


@dataclass(frozen=True, eq=False)
class Known:
    """A scalar whose value is known here: as an affine function, and as an expression without loads if there is one."""

    affine: Affine
    expression: Expr | None


@dataclass(frozen=True, eq=False)
class Requirement:
    """A condition that is to be proved or assumed later, on a domain that is not known yet."""

    good: isl.Set
    kind: str
    text: str
    node: c_ast.Node


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop around the current point: its symbol, the name isl knows it by, and the name to show."""

    counter: Symbol
    isl_name: str
    shown: str
    dtype: DType


@dataclass(frozen=True, eq=False)
class Guard:
    """A flag that must be set (or, negated, clear) for the statements below to do anything."""

    flag: Symbol
    negated: bool = False


@dataclass(eq=False, kw_only=True)
class LoopExit:
    """How the loop around can be left or cut short: where `break` happens, and the flags for both on data."""

    guard_depth: int
    breaks: isl.Set | None = None
    break_flag: Symbol | None = None
    continue_flag: Symbol | None = None


@dataclass(eq=False, kw_only=True)
class OpaqueLoop:
    """A loop inside one statement: the flags by which `break` and `continue` leave it, made when they are needed."""

    running: Symbol | None = None
    going: Symbol | None = None


@dataclass(eq=False, kw_only=True)
class Extraction:
    """The state of reading one region."""

    path: str
    bindings: Bindings
    identifiers: frozenset[str]
    pure: frozenset[str]
    functions: dict[str, c_ast.FuncDef]
    effects: frozenset[str] = frozenset()
    jump_targets: frozenset[str] = frozenset()
    parameters: dict[object, Parameter] = field(default_factory=dict)
    arrays: dict[tuple[object, ...], Array] = field(default_factory=dict)
    array_symbols: dict[str, Symbol] = field(default_factory=dict)
    through_memory: set[str] = field(default_factory=set)
    behind_pointers: set[str] = field(default_factory=set)  # arrays that a pointer in memory or in a struct leads to
    steps: set[str] = field(default_factory=set)  # the parameters that loops are stepped by
    readable: set[str] = field(default_factory=set)  # objects behind pointers that the region reads in any case
    context: isl.Set = field(default_factory=polyhedra.universe)
    elements: isl.Set = field(default_factory=polyhedra.universe)  # what extents of parameters are positive for
    otherwise: isl.Set | None = None  # the parameter values that only extents without elements exclude
    runs_otherwise: bool = False  # whether something may run for these values
    assumptions: list[Assumption] = field(default_factory=list)
    open_statements: list[OpenStatement] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    known: dict[Symbol, Known] = field(default_factory=dict)
    stored_counters: set[Symbol] = field(default_factory=set)
    pointers: dict[Symbol, c_ast.Node] = field(default_factory=dict)
    derived: dict[Symbol, c_ast.Node] = field(default_factory=dict)  # integers that stand for their first value
    guards: list[Guard] = field(default_factory=list)
    exits: list[LoopExit] = field(default_factory=list)
    opaque_loops: list[OpaqueLoop] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    materialised: frozenset[Symbol] = frozenset()
    counters: int = 0
    deferred: list[Requirement] | None = None
    strict: bool = False
    maybe: bool = False  # whether what is read next may not be evaluated, for reasons that no domain tells
    whole_loops: bool = True  # whether a loop that counts in no affine way may stand as one statement
    sizes_count: bool = False  # whether a bound is being read, in which `n * m` may become a parameter of its own
    notes: list[str] = field(default_factory=list)
    at: c_ast.Node | None = None  # the statement that is being read
    region: SyntaxRegion | None = None  # all of what is read, and what stands around it
    saved: list[str] = field(default_factory=list)  # declarations for the region's start: values that it changes later

    def refuse(self, problem: str, node: c_ast.Node, hint: str | None = None,
               witness: str | None = None) -> UnsupportedScopError:
        """A refusal at a node; the construct's text is the witness."""
        return UnsupportedScopError(problem, where=place(self.path, node), witness=witness or describe(node), hint=hint)

    def no_counted_loop(self, problem: str, node: c_ast.Node, *, hint: str, witness: str) -> NoCountedLoop:
        """A refusal of a loop as one that counts."""
        return NoCountedLoop(problem, where=place(self.path, node), witness=witness, hint=hint)

    def note(self, text: str, node: c_ast.Node) -> None:
        """Tell the user something about the region that neither its result nor its legality depends on."""
        line = f"{place(self.path, node)}: {text}"
        if line not in self.notes:
            self.notes.append(line)

    def loop_of(self, symbol: Symbol) -> Loop | None:
        """The innermost loop around that counts with a symbol."""
        return next((loop for loop in reversed(self.loops) if loop.counter is symbol), None)

    @property
    def reserved(self) -> frozenset[str]:
        """Names that no iterator may have: isl's keywords."""
        return ISL_KEYWORDS

    @property
    def iterators(self) -> tuple[tuple[str, str], ...]:
        """The loops around as (isl name, shown name), outermost first."""
        return tuple((loop.isl_name, loop.shown) for loop in self.loops)

    def fresh(self, wanted: str) -> str:
        """A name that isl can read and nothing in the Scop or the file has; `wanted` itself if possible."""
        base = re.sub(r"[^A-Za-z0-9_]", "_", wanted)
        if not _PLAIN.match(base):
            base = f"v{base}"
        candidate, count = base, 0
        while (candidate in ISL_KEYWORDS or candidate in self.names or _STATEMENT_LIKE.match(candidate)
               or (candidate != wanted and candidate in self.identifiers)):
            count += 1
            candidate = f"{base}_{count}"
        self.names.add(candidate)
        return candidate

    def parameter(self, symbol: Symbol) -> Parameter | None:
        """The parameter that a symbol is; None when the region writes it or it is no integer variable."""
        if symbol in self.parameters:
            return self.parameters[symbol]
        ctype = symbol.ctype
        if (not isinstance(ctype, Scalar) or not ctype.dtype.is_integer or ctype.volatile
                or symbol in self.bindings.written or symbol.origin is Origin.REGION
                or symbol not in self.bindings.affine):
            return None
        name = self.fresh(symbol.name)
        found = Parameter(name, ctype.dtype, "" if name == symbol.name else symbol.name,
                          definition_of(self.bindings, symbol))
        self.add_parameter(symbol, found)
        return found

    def add_parameter(self, key: object, parameter: Parameter) -> None:
        """Enter a parameter; its C type bounds it."""
        self.parameters[key] = parameter
        low, high = parameter.dtype.value_range()
        self.context = self.context.intersect(polyhedra.between(polyhedra.symbol(parameter.name), low, high))

    def require(self, domain: isl.Set, good: isl.Set, *, kind: str, text: str, node: c_ast.Node,
                iterators: Sequence[str] | None = None) -> None:
        """Make sure that a condition holds on a domain: by proof, else as an assumption on the parameters.

        Raises
        ------
        NotAffine : while assumptions are forbidden.
        UnsupportedScopError : no parameter value would be left, or none at which the code runs.
        """
        if self.deferred is not None:
            self.deferred.append(Requirement(good, kind, text, node))
            return
        self.holds_otherwise(domain, good, stated=kind == "stated")
        bad = domain.intersect(self.context).subtract(good)
        if bad.is_empty():
            return
        if self.strict:
            raise NotAffine(node, text)
        inner = [loop.isl_name for loop in self.loops] if iterators is None else iterators
        shadow = polyhedra.project_out(bad, inner)
        allowed = shadow.gist(self.context).complement().coalesce()
        context = self.context.intersect(allowed)
        if context.is_empty():
            problem = f"{text}: this holds for no parameter value"
            if kind == "terminates":
                raise self.no_counted_loop(problem, node, witness=describe(node),
                                           hint="use a signed type that holds every value, or another bound")
            raise self.refuse(problem, node, hint="use a signed type that holds every value, or another bound"
                              if kind != "stated" else "correct the assumption, or the declarations that contradict it")
        if kind == "no-wrap" and domain.intersect(context).is_empty():
            raise self.refuse(f"{text}: this holds for no parameter value at which the code runs", node,
                              hint="use a signed type that holds every value, or begin where nothing wraps around")
        simplified, before = allowed.gist(self.context).coalesce(), self.context
        self.context = context.coalesce()
        spelling = {p.name: polyhedra.widened(p) for p in self.parameters.values()}
        where = place(self.path, node)
        self.assumptions.append(Assumption(
            kind=kind, text=f"{where}: {text}", condition=polyhedra.c_condition(simplified, spelling),
            parameters=allowed.intersect(self.context_of_types()).coalesce().params(),
            otherwise=before.subtract(allowed).params() if kind in NEVER_GRANTED else None))

    def holds_otherwise(self, domain: isl.Set, good: isl.Set | None = None, *, stated: bool = False) -> None:
        """Take in that something runs on a domain, or is read so that it is right only where a condition holds.

        What is read is read for arrays that have elements; for others it tells whether the region does nothing.

        Parameters
        ----------
        stated : the program says that the condition holds.
        """
        if stated and self.otherwise is not None and good is not None:
            broken = polyhedra.project_out(domain.subtract(good), [loop.isl_name for loop in self.loops])
            self.otherwise = self.otherwise.subtract(broken)
        if self.otherwise is None or self.runs_otherwise:
            return
        at = domain.intersect(self.otherwise)
        self.runs_otherwise = not (at if good is None else at.subtract(good)).is_empty()

    def context_of_types(self) -> isl.Set:
        """What the types of the parameters alone say."""
        result = polyhedra.universe()
        for parameter in self.parameters.values():
            low, high = parameter.dtype.value_range()
            result = result.intersect(polyhedra.between(polyhedra.symbol(parameter.name), low, high))
        return result

    def snapshot(self) -> dict[str, Any]:
        """Everything that `restore` brings back."""
        copied: dict[str, Any] = {
            name: value.copy() if isinstance(value, dict | list | set) else value
            for name, value in vars(self).items() if name not in ("bindings", "functions")}
        return copied

    def restore(self, saved: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        for name, value in saved.items():
            setattr(self, name, value.copy() if isinstance(value, dict | list | set) else value)

    @contextmanager
    def defer(self) -> Iterator[list[Requirement]]:
        """Collect what is required instead of proving it."""
        before, self.deferred = self.deferred, []
        try:
            yield self.deferred
        finally:
            self.deferred = before

    @contextmanager
    def bound(self) -> Iterator[None]:
        """Read a bound or condition."""
        before, self.sizes_count = self.sizes_count, True
        try:
            yield
        finally:
            self.sizes_count = before

    @contextmanager
    def perhaps(self) -> Iterator[None]:
        """Read something that the program may not evaluate, although its domain does not say so: data decides."""
        before, self.maybe = self.maybe, True
        try:
            yield
        finally:
            self.maybe = before

    @contextmanager
    def attempt(self, *, strict: bool = False) -> Iterator[None]:
        """Undo what was assumed when the attempt ends in `NotAffine`; `strict` forbids assumptions."""
        context, count, before = self.context, len(self.assumptions), self.strict
        self.strict = before or strict
        try:
            yield
        except NotAffine:
            self.context = context
            del self.assumptions[count:]
            raise
        finally:
            self.strict = before
