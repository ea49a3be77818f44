"""The Scop: isl notation plus bodies.  Every front end makes it, every later room reads it.

Vocabulary as in isl and pet: context, iteration domain, access relation, schedule tree.  Values hold
isl objects, so they compare by identity; use `isl.Set.is_equal` and the like for mathematical equality.
All isl objects live in `islpy.DEFAULT_CONTEXT`: sets of two contexts combine wrongly without an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import cached_property, reduce

import islpy as isl

from polysched.errors import SourceLocation
from polysched.records import dataclass
from polysched.scop.body import BodyStatement, Expr, IteratorRef, Load, references, walk
from polysched.scop.dtypes import DType
from polysched.scop.provided import provided
from polysched.scop.shown import Shown
from polysched.scop.signature import FunctionSignature


class AccessKind(Enum):
    """READ: may read; MUST_WRITE: every instance writes the element; MAY_WRITE: it may or may not."""

    READ = "read"
    MAY_WRITE = "may_write"
    MUST_WRITE = "must_write"


class Storage(Enum):
    """Where an array lives, which decides who allocates it and whether it is live after the region."""

    ARGUMENT = "argument"   # a parameter of the function around the region
    OUTER = "outer"         # a global, or a local of the function declared outside the region
    LOCAL = "local"         # declared inside the region: dead after it


@dataclass(frozen=True, eq=False, kw_only=True)
class Array:
    """An array, or a scalar (no extents).

    Parameters
    ----------
    name : unique in the Scop; tuple name of the array's index space.  A struct member is `base.member`.
    dtype : the type of one element.
    extents : elements per dimension, outermost first, as functions of the parameters; the first may be
        None where the declaration does not say (`double *A`, `double A[][N]`).
    storage : who owns it.
    c_extents : the extents as C expressions over names visible at the region, parallel to `extents`.
    c_element : how C spells an element: a `str.format` template with one `{}` per *source* subscript
        (`A[{}][{}]`, `(*s)`, `p[{}].x`).  Source subscripts are those of `Access.subscripts`, which for
        a delinearised array are fewer than `extents`.
    constant : the declaration forbids writing.
    restrict : no other array overlaps it, by declaration (an array object or a `restrict` pointer).
    dead_after : it outlives the region, but nothing reads its value any more.
    own_type : the elements have the type `dtype.c_name`, not another of the same values (`long long`, `_Float32`, an
        enumeration), to which C forbids a pointer to `dtype.c_name`.
    """

    name: str
    dtype: DType
    extents: tuple[isl.PwAff | None, ...] = ()
    storage: Storage = Storage.ARGUMENT
    c_extents: tuple[str | None, ...] = ()
    c_element: str = ""
    constant: bool = False
    restrict: bool = True
    dead_after: bool = False
    own_type: bool = True

    @property
    def is_scalar(self) -> bool:
        return not self.extents

    @property
    def is_temporary(self) -> bool:
        """Whether its values are of no use after the region."""
        return self.dead_after or self.storage is Storage.LOCAL


@dataclass(frozen=True, eq=False, kw_only=True)
class Access:
    """One textual array reference of one statement.

    Parameters
    ----------
    reference : unique in the Scop, for instance `S0_r1`; bodies and dependence tags use it.
    array : the array's name.
    kind : read, may-write or must-write.
    relation : `{ S[i, j] -> A[f(i, j)] }`, within the statement's domain; over-approximated for
        data-dependent subscripts (then `exact` is False).
    subscripts : the subscripts as written, expressions over iterators, parameters and loads.
    exact : the relation holds exactly the elements that are reached.
    """

    reference: str
    array: str
    kind: AccessKind
    relation: isl.Map
    subscripts: tuple[Expr, ...] = ()
    exact: bool = True

    @property
    def is_write(self) -> bool:
        return self.kind is not AccessKind.READ

    @cached_property
    def tagged_relation(self) -> isl.Map:
        """`{ [S[i, j] -> S0_r1[]] -> A[...] }`: the relation with the reference as a tag."""
        tag_space = isl.Space.set_alloc(self.relation.get_ctx(), 0, 0).set_tuple_name(
            isl.dim_type.set, self.reference)
        tagging = isl.Map.from_domain_and_range(self.relation.domain(), isl.Set.universe(tag_space))
        return tagging.domain_map().apply_range(self.relation)


@dataclass(frozen=True, eq=False, kw_only=True)
class Statement:
    """One statement of the program: a domain, a body and its accesses.

    Parameters
    ----------
    name : unique in the Scop (`S0`, `S1`, ... in textual order); tuple name of the domain.
    line : line in the source file, from 1; 0 when there is none.
    domain : `[N] -> { S0[i, j] : ... }`; dimension names are the iterators.
    body : what one instance does.
    accesses : every array reference of the body and of its subscripts.
    """

    name: str
    line: int
    domain: isl.Set
    body: tuple[BodyStatement, ...]
    accesses: tuple[Access, ...]

    def __post_init__(self) -> None:
        known = {a.reference for a in self.accesses}
        if missing := set(references(self.body)) - known:
            raise ValueError(f"{self.name}: the body uses accesses that are not declared: {sorted(missing)}")
        if self.domain.get_tuple_name() != self.name:
            raise ValueError(f"{self.name}: the domain is named {self.domain.get_tuple_name()}")

    @property
    def iterators(self) -> tuple[str, ...]:
        """Names of the iterators, outermost first."""
        return tuple(self.domain.get_dim_name(isl.dim_type.set, i) or f"i{i}" for i in range(self.depth))

    @property
    def depth(self) -> int:
        return int(self.domain.dim(isl.dim_type.set))

    @property
    def reads(self) -> tuple[Access, ...]:
        return tuple(a for a in self.accesses if a.kind is AccessKind.READ)

    @property
    def writes(self) -> tuple[Access, ...]:
        return tuple(a for a in self.accesses if a.is_write)

    def access(self, reference: str) -> Access:
        """The access with this reference; KeyError when the statement has none."""
        for access in self.accesses:
            if access.reference == reference:
                return access
        raise KeyError(reference)

    def with_subscripts(self, found: Iterable[str]) -> frozenset[str]:
        """References, what their subscripts read, what the subscripts of that read, and so on: `W[V[k[i]]]`."""
        left, known = [*found], set[str]()
        while left:
            reference = left.pop()
            if reference not in known:
                known.add(reference)
                left += [e.reference for s in self.access(reference).subscripts for e in walk(s) if isinstance(e, Load)]
        return frozenset(known)

    def iterators_in(self, value: Expr) -> frozenset[str]:
        """The iterators that an expression depends on, through the subscripts of what it reads, too."""
        parts = [*walk(value)]
        subscripts = (s for part in parts if isinstance(part, Load) for s in self.access(part.reference).subscripts)
        return frozenset(part.name for part in parts if isinstance(part, IteratorRef)).union(
            *map(self.iterators_in, subscripts))


@dataclass(frozen=True)
class Parameter:
    """A symbolic constant: an integer that the region reads and never writes.

    Parameters
    ----------
    name : the name in isl's sets; unique in the Scop and never one of isl's keywords.
    dtype : its type in the source.
    c_name : how C spells its value at the region (`n`, `grid->nx`); the name when left empty.
    definition : C over the integer parameters of the function around the region, for a variable of that function
        which is set once to that value; else empty.
    quotient : dividend and divisor in C, where the value is a quotient of these; computed in more bits than they have.
    """

    name: str
    dtype: DType
    c_name: str = ""
    definition: str = ""
    quotient: tuple[str, str] | None = None

    @property
    def spelling(self) -> str:
        """The C expression that has the parameter's value."""
        return self.c_name or self.name


READABLE = "readable"  # the assumption that memory which the region reads on a condition can be read before it

ROWS_IN_ORDER = "rows-in-order"  # the assumption that rows whose starts an array holds lie one behind the other

INSIDE_ROWS = "in-bounds"  # the assumption that a subscript of an array in one dimension stays inside of its row

STEP_ROWS = "step-rows"  # the assumption that what a loop by a parameter reaches is less than a step long

SOME_ELEMENTS = "some-elements"  # the assumption that the parameters of a function declare no arrays without elements

NEVER_GRANTED = frozenset({ROWS_IN_ORDER, INSIDE_ROWS, STEP_ROWS, SOME_ELEMENTS, READABLE})
"""Kinds that are tested whatever the options say: programs break them that nobody would call wrong."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Assumption:
    """Something that the extraction took for granted.

    Parameters
    ----------
    kind : `no-wrap`, `no-alias`, `parameter-range`, `in-bounds`, `readable`, ...
    text : the assumption in words, with the source construct it comes from.
    condition : a C expression over visible names that is true when it holds; None when it
        cannot be tested at run time.
    parameters : the parameter values for which it holds, when it is a statement about parameters.
    apart : of `no-alias`, the pairs whose memory must not overlap: names of arrays; of an array and of a parameter that
        writing it must not change; or the name of an array twice, for its rows behind stored pointers.
    rows : of `rows-in-order`, which is never taken for granted: the references to an array that stay in rows, each with
        the reference that reads where its row begins; the next element there is where it ends.
    otherwise : the parameter values for which it does not hold, if the original code runs for these in any case.
    idle : the region does nothing where it does not hold.
    """

    kind: str
    text: str
    condition: str | None = None
    parameters: isl.Set | None = None
    apart: tuple[tuple[str, str], ...] = ()
    rows: tuple[tuple[str, str], ...] = ()
    otherwise: isl.Set | None = None
    idle: bool = False

    @property
    def is_always_tested(self) -> bool:
        """Whether the code of a region of a file tests it whatever the options say."""
        return self.kind in NEVER_GRANTED and (self.condition is not None or bool(self.rows))


@dataclass(frozen=True, kw_only=True)
class NameReads:
    """How often a name is read in a region and in all of its scope, so that one nobody reads any more can be told.

    Parameters
    ----------
    function : around the region, for its parameters and variables; None for what is static in the file.
    inside, in_all : how often it is read in the region, and in the function or the file.
    """

    name: str
    function: str | None
    inside: int
    in_all: int


@dataclass(frozen=True, kw_only=True)
class SteppedVariable:
    """A variable or pointer that a region steps, whose value the emitted code leaves alone.

    Parameters
    ----------
    by : the variable that holds what it is stepped by; 0 where the original code ran.
    declaration : of that variable, for the region's start.
    behind : the statement that steps it, for the region's end.
    """

    by: str
    declaration: str
    behind: str

    @property
    def done(self) -> str:
        """The statement behind original code, which has stepped the variable itself."""
        return f"{self.by} = 0;"


@dataclass(frozen=True, kw_only=True)
class SourceRegion:
    """Where a Scop that came from C stands, so that the region can be replaced byte for byte.

    Parameters
    ----------
    path : the file as the user named it.
    text : the whole file as read, line ends included.
    start, end : character offsets of the region in `text`, pragmas included.
    function : name of the function around the region; None at file scope of a fragment.
    indent : the white space before the opening pragma.
    preprocessor : the `-I` and `-D` arguments that the file was read with, folders as absolute paths.
    signature : how the function around the region is called; None for a fragment.
    declarations : what the emitted region has to declare at its start, because the code behind it uses it.
    saved : declarations of what variables hold where the region begins, for the emitted code alone.
    without_declarations : the region as C without these, when there are any.
    reads : of variables of the function and of static functions and variables of the file that the region names.
    changed : names that do not stand for what they stand for when the function is entered: it may have changed them
        before the region, or declares them.
    keeps_state : the function has `static` variables, so that another function with its text would have others.
    names_itself : the function needs its own name: for its address, as `__func__`, or as that of a struct or member.
    stepped : what the region steps and the emitted code does not.
    bare : what replaces it needs brackets: it is a body without them.
    whole : the Scop is all of the region, not one of several parts of it.
    """

    path: str
    text: str
    start: int
    end: int
    function: str | None
    indent: str = ""
    preprocessor: tuple[str, ...] = ()
    signature: FunctionSignature | None = None
    declarations: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    without_declarations: str = ""
    reads: tuple[NameReads, ...] = ()
    changed: frozenset[str] = frozenset()
    keeps_state: bool = False
    names_itself: bool = False
    stepped: tuple[SteppedVariable, ...] = ()
    bare: bool = False
    whole: bool = True

    @property
    def location(self) -> SourceLocation:
        """Where the region begins."""
        return SourceLocation(self.path, self.text.count("\n", 0, self.start) + 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Scop(Shown):
    """A static control part.

    Parameters
    ----------
    name : the function's name, or what the front end calls it.
    context : `[N, M] -> { : ... }`: parameter values that can occur.
    parameters : in the order of the context's dimensions.
    arrays : every array and scalar that a statement accesses.
    statements : in textual order.
    schedule : the schedule as written, a schedule tree over all domains.
    assumptions : what the extraction took for granted.
    source : the place in a C file, when there is one.
    notes : what the user should know about the extraction and no result depends on: loops that were kept whole.
    """

    name: str
    context: isl.Set
    parameters: tuple[Parameter, ...]
    arrays: tuple[Array, ...]
    statements: tuple[Statement, ...]
    schedule: isl.Schedule
    assumptions: tuple[Assumption, ...] = ()
    source: SourceRegion | None = None
    notes: tuple[str, ...] = ()

    def array(self, name: str) -> Array:
        """The array with this name; KeyError when there is none."""
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(name)

    def statement(self, name: str) -> Statement:
        """The statement with this name; KeyError when there is none."""
        for statement in self.statements:
            if statement.name == name:
                return statement
        raise KeyError(name)

    @cached_property
    def callable_with(self) -> isl.Set:
        """The parameter values for which the code of the region is right, be it by its original."""
        tested = [a.otherwise for a in self.assumptions if a.otherwise is not None]
        return reduce(lambda known, other: known.union(other), tested, self.context.params())

    @cached_property
    def domain(self) -> isl.UnionSet:
        """The union of all iteration domains."""
        return union_set(s.domain for s in self.statements)

    def relation(self, *kinds: AccessKind, tagged: bool = False) -> isl.UnionMap:
        """The union of the access relations of these kinds, tagged by reference on request."""
        return union_map(
            a.tagged_relation if tagged else a.relation
            for s in self.statements for a in s.accesses if a.kind in kinds)

    def headline(self) -> str:
        """For instance `gemm(n, m): 2 statements, 3 arrays`."""
        return (f"{self.name}({', '.join(p.name for p in self.parameters)}): {len(self.statements)} statements, "
                f"{len(self.arrays)} arrays")

    def __str__(self) -> str:
        text: str = provided("scop", "Scop.__str__")(self)
        return text

    def _repr_html_(self) -> str:
        html: str = provided("scop", "Scop._repr_html_")(self)
        return html


def union_set(sets: Iterable[isl.Set]) -> isl.UnionSet:
    """The union of sets of any spaces; empty input gives the empty union."""
    empty = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
    return reduce(lambda total, s: total.union(isl.UnionSet.from_set(s)), sets, empty)


def union_map(maps: Iterable[isl.Map]) -> isl.UnionMap:
    """The union of maps of any spaces; empty input gives the empty union."""
    empty = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
    return reduce(lambda total, m: total.union(isl.UnionMap.from_map(m)), maps, empty)
