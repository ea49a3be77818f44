"""The software side of a match: one statement with numeric loops, its update as one expression, and its index forms.

Sizes are fixed first: how many ways there are to fuse and split loops does not depend on them, but whether extents
reach the instruction's, and every check by isl, does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import islpy as isl

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    Binary,
    Call,
    Cast,
    Expr,
    IteratorRef,
    Load,
    ParameterRef,
    rebuild,
    walk,
)
from polysched.scop.dtypes import common_type
from polysched.scop.points import fix_parameters, value_at
from polysched.scop.scop import Access, AccessKind, Scop, Statement
from polysched.scop.serialise import expression_text
from polysched.tensorize.description.semantics import is_table_read, table_function, table_of
from polysched.tensorize.software.elements import leading_zeros, linear_form, scattered, subscripts_per_dimension
from polysched.tensorize.software.spellings import one_spelling

SAMPLE_SIZES = (19, 23, 29, 31, 37, 41, 43, 47)


@dataclass(frozen=True)
class SoftwareLoop:
    """One loop of the statement: its iterator, least value and number of iterations over the whole domain."""

    name: str
    lower: int
    extent: int


@dataclass(frozen=True)
class Index:
    """One subscript of an access: coefficients per loop, or only the loops when it is not affine."""

    coefficients: tuple[tuple[str, int], ...]
    affine: bool = True

    @property
    def loops(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.coefficients)


@dataclass(frozen=True)
class Assigned:
    """One element that a statement writes, and its new value in terms of the values before the statement."""

    target: str
    update: Expr


@dataclass(frozen=True, eq=False, kw_only=True)
class Fragment:
    """A statement as the matcher sees it.

    Parameters
    ----------
    scop, statement : where it stands.
    sizes : the value of every parameter of the Scop.
    domain : iteration domain at these sizes.
    loops : every loop, outermost first, those of extent 1 included.
    target : reference of the written access.
    update : new value of the target; the old value is `Load(target)`.
    others : what else the statement writes, in the same pattern: two iterations that differ write different elements of
        one result where they do of every other.
    begins_ahead : a loop begins ahead of the domain, so that what an instruction leaves out at its start falls there.
    kept : the outermost loops that run around the instruction's nest, as code of the program's; here each stands at its
        least value, and what is computed is one iteration of them.
    """

    scop: Scop
    statement: Statement
    sizes: Mapping[str, int]
    domain: isl.Set
    loops: tuple[SoftwareLoop, ...]
    target: str
    update: Expr
    others: tuple[Assigned, ...] = ()
    kept: tuple[str, ...] = ()
    begins_ahead: bool = False

    def beginning_ahead(self, name: str, steps: int) -> Fragment:
        """The fragment with a loop that begins so many iterations ahead of the domain, where there is nothing to do."""
        return replace(self, begins_ahead=True, loops=tuple(
            SoftwareLoop(p.name, p.lower - steps, p.extent + steps) if p.name == name else p for p in self.loops))

    def inside(self, depth: int) -> Fragment:
        """The fragment with so many outermost loops kept outside."""
        if depth == len(self.kept):
            return self
        loops = tuple(SoftwareLoop(p.name, p.lower, 1) if at < depth else p for at, p in enumerate(self.loops))
        return replace(self, loops=loops, kept=self.statement.iterators[:depth])

    @cached_property
    def kept_extents(self) -> tuple[int, ...]:
        """Iterations of every kept loop, at most."""
        bounds = [(self.domain.dim_min_val(at), self.domain.dim_max_val(at)) for at in range(len(self.kept))]
        return tuple(int(high.get_num_si()) - int(low.get_num_si()) + 1 for low, high in bounds)

    @property
    def times(self) -> int:
        """How often the kept loops run what is inside, at most."""
        return math.prod(self.kept_extents)

    @cached_property
    def reached_always(self) -> bool:
        """There is something to compute in every iteration of the kept loops."""
        depth = len(self.kept)
        bounds = [f"{self.domain.dim_min_val(at)} <= k{at} <= {self.domain.dim_max_val(at)}" for at in range(depth)]
        names = ", ".join(f"k{at}" for at in range(depth))
        box = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"{{ [{names}] : {' and '.join(bounds) or 'true'} }}")
        return bool(box.is_subset(self.reached.reset_tuple_id()))

    @cached_property
    def reached(self) -> isl.Set:
        """The iterations of the kept loops in which there is something to compute."""
        depth = len(self.kept)
        return self.domain.project_out(isl.dim_type.set, depth, self.statement.depth - depth)

    @cached_property
    def indices(self) -> dict[str, tuple[Index, ...]]:
        """Per access reference its subscripts in terms of the loops."""
        return {reference: tuple([self._index(s) for s in subscripts])
                for reference, subscripts in self.subscripts.items()}

    @cached_property
    def box(self) -> isl.Set:
        """The smallest box around the domain, the same in every iteration of the kept loops."""
        mine = self.loops[len(self.kept):]
        bounds = " and ".join(f"{p.lower} <= {p.name} < {p.lower + p.extent}" for p in mine) or "true"
        text = f"{{ {self.statement.name}[{', '.join(self.statement.iterators)}] : {bounds} }}"
        box = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)
        if not self.kept:
            return box
        reached = self.reached.insert_dims(isl.dim_type.set, len(self.kept), len(mine))
        return box.intersect(reached.set_tuple_name(self.statement.name))

    @cached_property
    def is_box(self) -> bool:
        """The domain has no holes and no slanted sides."""
        if not self.kept and not self.begins_ahead and self.domain.is_box():   # as it is written down
            return True
        return bool(self.box.is_subset(self.domain))

    @property
    def iterations_of_all_sizes(self) -> tuple[isl.Set, isl.Set]:
        """The domain, and the smallest box around it; over the parameters where these are not known."""
        return self.domain, self.box

    def is_box_along(self, view: frozenset[str]) -> bool:
        """Whether what is seen of the domain along some of its loops has no holes and no slanted sides."""
        if self.is_box:
            return True
        if view not in self._is_box_along:
            domain, box = (_seen(s, self.statement.iterators, view) for s in self.iterations_of_all_sizes)
            self._is_box_along[view] = not self.kept and bool(box.is_subset(domain))
        return self._is_box_along[view]

    @cached_property
    def _is_box_along(self) -> dict[frozenset[str], bool]:
        return {}

    @cached_property
    def ranges(self) -> dict[str, tuple[int, int]]:
        """The values that iterators and parameters have, by name."""
        bounds = [(self.domain.dim_min_val(at), self.domain.dim_max_val(at)) for at in range(self.statement.depth)]
        return {**{n: (v, v) for n, v in self.sizes.items()},
                **{n: (int(low.get_num_si()), int(high.get_num_si()))
                   for n, (low, high) in zip(self.statement.iterators, bounds, strict=True)}}

    def loops_of(self, e: Expr) -> frozenset[str]:
        """The loops that choose the value of an expression."""
        if id(e) in self._loops_of:   # by identity: hashing a tree costs more than walking it
            return self._loops_of[id(e)][1]
        found: set[str] = set()
        for node in walk(e):
            if isinstance(node, Load):
                for index in self.indices[node.reference]:
                    found |= index.loops
            elif isinstance(node, IteratorRef):
                found.add(node.name)
        return self._loops_of.setdefault(id(e), (e, frozenset(found)))[1]

    @cached_property
    def _loops_of(self) -> dict[int, tuple[Expr, frozenset[str]]]:
        return {}

    @cached_property
    def _loop(self) -> dict[str, SoftwareLoop]:
        return {loop.name: loop for loop in self.loops}

    def loop(self, name: str) -> SoftwareLoop:
        """The loop of this name."""
        return self._loop[name]

    def first_text(self, name: str) -> str:
        """The least value of a loop in isl's words."""
        return str(self.loop(name).lower)

    @property
    def parameters_text(self) -> str:
        """What stands in front of a map in isl's words: the sizes, where it names any."""
        return ""

    @cached_property
    def result(self) -> Load:
        """The element that the statement writes, as an expression."""
        return Load(self.target, self.update.dtype)

    def text(self, e: Expr) -> str:
        """An expression over the statement's elements as C; elements of tables as the program reads them."""
        known = {a.reference: a for a in self.statement.accesses}

        def change(x: Expr) -> Expr:
            if not is_table_read(x):
                return x
            access = known.get(table_of(x))   # else it is a table of the instruction
            subscripts = [self.text(s) for s in (*(() if access is None else leading_subscripts(access)), *x.arguments)]
            spelling = "" if access is None else self.scop.array(access.array).c_element
            name = table_of(x) if access is None else access.array
            return ParameterRef(spelling.format(*subscripts) if spelling else
                                name + "".join(f"[{s}]" for s in subscripts), x.dtype)

        return expression_text(self.scop, self.statement, rebuild(e, change))

    @property
    def results(self) -> tuple[Assigned, ...]:
        """All that the statement writes."""
        return (Assigned(self.target, self.update), *self.others)

    def of_results(self, results: Sequence[Assigned]) -> Fragment:
        """The fragment with these of its results, in this order."""
        return replace(self, target=results[0].target, update=results[0].update, others=tuple(results[1:]))

    @cached_property
    def work(self) -> int:
        """Iterations of all loops together."""
        return math.prod(loop.extent for loop in self.loops)

    def iterations(self, loops: tuple[str, ...]) -> int:
        """How many iterations some loops have together."""
        if loops not in self._iterations:
            self._iterations[loops] = math.prod(self.loop(name).extent for name in loops)
        return self._iterations[loops]

    @cached_property
    def _iterations(self) -> dict[tuple[str, ...], int]:
        return {}

    @cached_property
    def array_strides(self) -> dict[str, tuple[int, ...] | None]:
        """Per access reference the row-major strides, in elements, of its array; None for unknown extents."""
        return {a.reference: self._strides(a.array) for a in self.statement.accesses}

    @cached_property
    def memory_steps(self) -> dict[str, dict[str, int] | None]:
        """Per access reference and loop the elements between neighbouring iterations; None when not constant."""
        found: dict[str, dict[str, int] | None] = {}
        for reference, indices in self.indices.items():
            strides = self.array_strides[reference]
            steps: dict[str, int] = {}
            for index, step in zip(indices, strides or (), strict=strides is not None):
                for name, coefficient in index.coefficients:
                    steps[name] = steps.get(name, 0) + coefficient * step
            found[reference] = steps if strides is not None and all(i.affine for i in indices) else None
        return found

    def extents(self, name: str) -> list[int] | None:
        """All extents of an array at these sizes; None where one is not known."""
        inner, first = self.extents_inside(name), self.scop.array(name).extents[:1]
        if inner is None or first == () or first[0] is None:
            return None
        return [value_at(first[0], self.sizes), *inner]

    def extents_inside(self, name: str) -> list[int] | None:
        """Extents of an array without the outermost, 1 for what only ever is the first; None where one is not known."""
        sizes: list[int] = []
        array = self.scop.array(name)
        for at, extent in enumerate(array.extents[1:], 1):
            if extent is None and at <= leading_zeros(array, self.statement.accesses):
                sizes.append(1)
            elif extent is None:
                return None
            else:
                sizes.append(value_at(extent, self.sizes))
        return sizes

    def _strides(self, name: str) -> tuple[int, ...] | None:
        sizes = self.extents_inside(name)
        if sizes is None:
            return None
        return tuple(math.prod(sizes[i:]) for i in range(len(self.scop.array(name).extents)))

    def constant(self, reference: str, at: int) -> int:
        """The constant part of an affine subscript."""
        linear = linear_form(self.subscripts[reference][at], self.sizes)
        if linear is None:
            raise ValueError(f"not affine: {self.subscripts[reference][at]}")
        return linear.get("", 0)

    @cached_property
    def subscripts(self) -> dict[str, tuple[Expr, ...]]:
        """Per access reference one subscript per dimension of its array, as written or as its relation has them.

        Linearised subscripts (`A[i * n + j]` of an array with rows of n elements) are fewer as written.
        """
        return {a.reference: self._subscripts(a) for a in self.statement.accesses}

    def relation(self, reference: str) -> isl.Map:
        """An access relation at the fragment's sizes, restricted to its domain."""
        relation = fix_parameters(self.statement.access(reference).relation, self.sizes)
        return relation.intersect_domain(self.domain)

    def _subscripts(self, access: Access) -> tuple[Expr, ...]:
        found = subscripts_per_dimension(access, self.domain, self.sizes)
        assert found is not None   # `statement_fragment` makes no fragment of others
        return found

    def _index(self, subscript: Expr) -> Index:
        linear = linear_form(subscript, self.sizes)
        if linear is not None:
            return Index(tuple(sorted((n, c) for n, c in linear.items() if n and c)))
        names = sorted({e.name for e in walk(subscript) if isinstance(e, IteratorRef)})
        return Index(tuple((n, 1) for n in names), affine=False)


def _seen(points: isl.Set, iterators: Sequence[str], view: frozenset[str]) -> isl.Set:
    """A set of iterations without the loops that are not seen."""
    for at, name in reversed(list(enumerate(iterators))):
        if name not in view:
            points = points.project_out(isl.dim_type.set, at, 1)
    return points.reset_tuple_id() if points.has_tuple_id() else points


def is_table(scop: Scop, statement: Statement, access: Access) -> bool:
    """Whether data choose the element that an access reads, of an array that the statement does not write."""
    chosen = access.subscripts[len(leading_subscripts(access)):]
    return access.kind is AccessKind.READ and len(access.subscripts) == len(scop.array(access.array).extents) and bool(
        chosen) and all(any(isinstance(x, Load) for x in walk(s)) for s in chosen) and not any(
        w.array == access.array for w in statement.writes)


def fragments(scop: Scop, *, sizes: Mapping[str, int] | None = None, tables: bool = False) -> tuple[Fragment, ...]:
    """Every statement of a Scop that is one assignment with exact accesses, in textual order.

    Parameters
    ----------
    sizes : values of parameters; a parameter without one gets a sample size, a prime from 19 on.
    tables : as for `statement_fragment`.

    Raises
    ------
    UsageError : a size names no parameter, or the context forbids the sizes.
    """
    values = sample_sizes(scop, sizes or {})
    found = [statement_fragment(scop, statement, values, tables=tables) for statement in scop.statements]
    return tuple(f for f in found if f is not None)


def sample_sizes(scop: Scop, sizes: Mapping[str, int]) -> dict[str, int]:
    """A value for every parameter of the Scop."""
    names = [p.name for p in scop.parameters]
    if unknown := sorted(set(sizes) - set(names)):
        raise UsageError(f"the program has no parameter {unknown[0]}", where=scop.name,
                         witness=f"its parameters: {', '.join(names) or 'none'}")
    values = {n: sizes.get(n, SAMPLE_SIZES[i % len(SAMPLE_SIZES)]) for i, n in enumerate(names)}
    if fix_parameters(scop.context, values).is_empty():
        raise UsageError("the program's context forbids these sizes", where=scop.name,
                         witness=", ".join(f"{n} = {v}" for n, v in values.items()), hint="give sizes")
    return values


def statement_fragment(scop: Scop, statement: Statement, sizes: Mapping[str, int], *,
                       tables: bool = False) -> Fragment | None:
    """One statement at these sizes; None when it never runs, or is no assignment of real elements at known places.

    Parameters
    ----------
    tables : reads at subscripts that data choose are calls of tables, named by the access that reads first.
    """
    if len(statement.body) != 1 or not isinstance(assign := statement.body[0], Assign):
        return None
    domain = None if is_complex(assign) else known_domain(scop, statement, sizes, tables=tables)
    if domain is None:
        return None
    target = statement.access(assign.target)
    update = one_spelling(one_name_per_element(new_value(assign, statement), statement, target))
    loops = loops_of_domain(statement, domain)
    return Fragment(scop=scop, statement=statement, sizes=sizes, domain=domain, loops=loops,
                    target=assign.target, update=_with_tables(update, statement, target) if tables else update)


def is_complex(assign: Assign) -> bool:
    """Whether an assignment computes with complex numbers, which no instruction has."""
    return assign.dtype.is_complex or any(e.dtype.is_complex for e in walk(assign.value))


def _with_tables(update: Expr, statement: Statement, target: Access) -> Expr:
    """Reads at computed subscripts as calls: `X[p][I[i] & 15]` is `r[](I[i] & 15)`, r being the access to X[p]."""
    first: dict[object, str] = {}

    def change(e: Expr) -> Expr:
        if not isinstance(e, Load) or (access := statement.access(e.reference)).exact:
            return e
        leading = leading_subscripts(access)
        name = first.setdefault((access.array, leading), e.reference)
        chosen = [rebuild(s, change) for s in access.subscripts[len(leading):]]
        return Call(table_function(name), tuple(one_name_per_element(s, statement, target) for s in chosen), e.dtype)

    return rebuild(update, change)


def leading_subscripts(access: Access) -> tuple[Expr, ...]:
    """The subscripts ahead of those that data choose."""
    return tuple(itertools.takewhile(lambda s: not any(isinstance(x, Load) for x in walk(s)), access.subscripts))


def known_domain(scop: Scop, statement: Statement, sizes: Mapping[str, int], *, tables: bool = False) -> isl.Set | None:
    """The domain at these sizes; None where it is empty, or accesses reach elements that are not known or scattered."""
    if not all((a.exact or (tables and is_table(scop, statement, a)))
               and scattered(scop.array(a.array), statement.accesses) is None for a in statement.accesses):
        return None
    domain = fix_parameters(statement.domain, sizes)
    if domain.is_empty() or None in [subscripts_per_dimension(a, domain, sizes) for a in statement.accesses]:
        return None
    return domain


def loops_of_domain(statement: Statement, domain: isl.Set) -> tuple[SoftwareLoop, ...]:
    loops = []
    for position, name in enumerate(statement.iterators):
        lower, upper = (int(v.get_num_si()) for v in (domain.dim_min_val(position), domain.dim_max_val(position)))
        loops.append(SoftwareLoop(name, lower, upper - lower + 1))
    return tuple(loops)


def new_value(assign: Assign, statement: Statement) -> Expr:
    """What an assignment writes, in its target's type; the old value is a load of the target."""
    old, value = Load(assign.target, assign.dtype), assign.value
    if assign.op is not None:
        value = Binary(assign.op, old, value, common_type(assign.op, assign.dtype, value.dtype))
    same = same_element(statement, statement.access(assign.target))
    value = rebuild(value, lambda e: old if isinstance(e, Load) and e.reference in same else e)
    return value if value.dtype == assign.dtype else Cast(value, assign.dtype)


def same_element(statement: Statement, access: Access) -> frozenset[str]:
    """The accesses of a statement that reach the element of one of them, itself included."""
    return frozenset(a.reference for a in statement.accesses
                     if a.reference == access.reference or are_one(a, access))


def are_one(left: Access, right: Access) -> bool:
    """Whether two accesses are of the same element in each iteration; of subscripts that data chooses nobody knows.

    Bounds of the sizes that one relation has and the other has not say nothing about elements.
    """
    if not (left.exact and right.exact and left.array == right.array):
        return False
    sizes = left.relation.params().intersect(right.relation.params())
    return bool(left.relation.intersect_params(sizes).is_equal(right.relation.intersect_params(sizes))) \
        and not sizes.is_empty()


def one_name_per_element(value: Expr, statement: Statement, *targets: Access) -> Expr:
    """Loads of the same element get the same reference, so that equal subexpressions are equal."""
    first: dict[str, str] = {}
    for access in (*targets, *statement.accesses):
        twin = next((r for r in first if are_one(statement.access(r), access)), None)
        first[access.reference] = first[twin] if twin else access.reference

    def rename(e: Expr) -> Expr:
        return Load(first[e.reference], e.dtype) if isinstance(e, Load) else e

    return rebuild(value, rename)
