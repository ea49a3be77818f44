"""Contraction: a temporary array becomes a variable, or a buffer of one tile, where its values are used up.

Rewrite:  for j: { s[i][j] = 0; s[i][j] += A[i][j]; B[i][j] = s[i][j]; }
      ->  for j: { double s; s = 0; s += A[i][j]; B[i][j] = s; }

For every temporary array the innermost node of the loop nest is looked for such that no value flows between two
executions of the node: the value-based flow dependences, composed with the loops that were generated, hold no pair
with different values of the loops around the node.  That is an exact emptiness test with isl for all
sizes; where it does not fit its budget the array stays what it is.  Inside the node, dimensions whose subscript
does not change are dropped, and the others need only the range of one execution.

Source: A. Darte, R. Schreiber, G. Villard, "Lattice-based memory allocation", IEEE TC 54(10), 2005, for the problem;
E. De Greef, F. Catthoor, H. De Man, "Memory size reduction through storage order optimization", 1997.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import product
from math import prod
from typing import TypeAlias

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import Facts, arms_of
from polysched.emit_c.loop_ir.index import Linear, constant, direction, substitute, variables
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Local, Node, StatementInstance, Temporary
from polysched.emit_c.loop_ir.statement_instances import Leaf, leaf_relation, leaves_of
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form, names_its_element
from polysched.emit_c.loop_ir.traversal import instances, loop_names, map_children, walk_nodes
from polysched.records import dataclass
from polysched.scop.budget import with_budget
from polysched.scop.scop import AccessKind, Array, Scop, Storage

_Reached: TypeAlias = tuple[tuple[Linear, ...], tuple[For | Let, ...]]
"""The subscripts of an access, and the loops around it inside of some node."""

CROSSING_OPERATIONS = LIMITS.crossing_operations
MOST_CHOICES_OF_BOUNDS = LIMITS.most_choices_of_bounds


def contract(loops: Node, dependences: Dependences, context: isl.Set, names: Mapping[str, str], *,
             buffer_bytes: int, lasting_bytes: int, memory_name: Callable[[str], str] | None = None) -> Node:
    """Put each temporary array that is small enough inside some node of the loops into a `Local` there.

    Parameters
    ----------
    context : the parameter values that can occur.
    names : C names of the arrays that may be contracted.
    buffer_bytes, lasting_bytes : of the largest buffer, and of one that a thread keeps from one tile to the next.
    memory_name : C name of memory with a part per thread, for an array; None when there can be none.
    """
    leaves = tuple(leaves_of(loops, (), Facts(context=context)))
    for name, called in names.items():
        array = dependences.scop.array(name)
        flow = tuple(p for p in dependences.pairs if p.array == name and p.kind is DependenceKind.FLOW)
        contraction = _Contraction(array=array, called=called, scop=dependences.scop, flow=flow,
                                   buffer_bytes=buffer_bytes, lasting_bytes=lasting_bytes,
                                   memory="" if memory_name is None else memory_name(name),
                                   leaves=tuple(x for x in leaves if _accesses(dependences.scop, x.instance, name)))
        for tried in (contraction, replace(contraction, full_rows=True), replace(contraction, memory="")):
            found = tried.place(loops, ())
            if found is None or _have_one_size(found, name):
                loops = found or loops
                break
    return _finished(loops, ())


def with_own_values(dependences: Dependences) -> tuple[str, ...]:
    """The arrays around the region in which it keeps values of its own only: none from before, none for afterwards."""
    exact = dependences.value_based and not dependences.fallbacks
    return tuple(a.name for a in dependences.scop.arrays if exact and a.storage is Storage.OUTER and a.is_temporary
                 and not a.is_scalar and _starts_inside(dependences, a.name))


def _starts_inside(dependences: Dependences, array: str) -> bool:
    """Whether every read of an array has its value from a write of the region."""
    flow = [p for p in dependences.pairs if p.array == array and p.kind is DependenceKind.FLOW]
    for statement in dependences.scop.statements:
        for access in (a for a in statement.accesses if a.array == array):
            if not access.exact or access.kind is AccessKind.MAY_WRITE:
                return False
            unknown = statement.domain.intersect_params(dependences.scop.context)
            for pair in (p for p in flow if p.sink_reference == access.reference):
                unknown = unknown.subtract(pair.relation.range())
            if not access.is_write and not unknown.is_empty():
                return False
    return True


def contracted(loops: Node) -> dict[str, Temporary]:
    """What each array that some `Local` below declares is there; of several, one with memory from the heap."""
    found = [t for n in _locals(loops) for t in n.temporaries]
    return {t.array: t for t in sorted(found, key=lambda t: bool(t.memory))}


def _locals(node: Node) -> Iterator[Local]:
    return (n for n in walk_nodes(node) if isinstance(n, Local))


def _have_one_size(loops: Node, array: str) -> bool:
    """Whether all buffers of an array in memory from the heap, of which there is one part per thread, are alike."""
    found = {(t.kept, t.spans) for n in _locals(loops) for t in n.temporaries if t.array == array and t.memory}
    return len(found) < 2


def _accesses(scop: Scop, instance: StatementInstance, array: str) -> bool:
    return any(a.array == array for a in statement_at(scop, instance).accesses)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Contraction:
    """The search for the place of one array.

    Parameters
    ----------
    memory : C name of memory with a part per thread; empty for none.
    full_rows : buffers there have the full extent of the dimensions that they keep.
    """

    array: Array
    called: str
    scop: Scop
    flow: tuple[Dependence, ...]
    leaves: tuple[Leaf, ...]
    buffer_bytes: int
    lasting_bytes: int
    memory: str = ""
    full_rows: bool = False
    cache: dict[tuple[int, int, int], isl.Map | None] = field(default_factory=dict)

    def place(self, node: Node, around: tuple[For | Let, ...]) -> Node | None:
        """The node with the array declared as far inside as possible; None where that is no gain.

        No value of the array flows between two executions of the node.
        """
        inner = self._further_inside(node, around)
        if inner is not None:
            return inner
        temporary = self._temporary(node, around)
        return None if temporary is None else Local((temporary,), node)

    def _further_inside(self, node: Node, around: tuple[For | Let, ...]) -> Node | None:
        match node:
            case For() if not self._carries(node, around):
                body = self.place(node.body, (*around, node))
                return None if body is None else replace(node, body=body)
            case Let():
                body = self.place(node.body, (*around, node))
                return None if body is None else replace(node, body=body)
            case Local():
                body = self.place(node.body, around)
                return None if body is None else replace(node, body=body)
            case If():
                then, otherwise = self._child(node.then, around), None
                if node.otherwise is not None:
                    otherwise = self._child(node.otherwise, around)
                    if otherwise is None:
                        return None
                return None if then is None else replace(node, then=then, otherwise=otherwise)
            case Block() if any(isinstance(n, For) for n in walk_nodes(node)):
                return self._in_block(node, around)
            case _:
                return None

    def _child(self, node: Node, around: tuple[For | Let, ...]) -> Node | None:
        return self.place(node, around) if self._uses(node) else node

    def _in_block(self, node: Block, around: tuple[For | Let, ...]) -> Node | None:
        """Runs of children between which values flow get one declaration each."""
        runs = self._runs(node)
        if runs == [(0, len(node.children))]:
            return None
        children: list[Node] = []
        done = 0
        for first, last in runs:
            inside = node.children[first] if last == first + 1 else Block(node.children[first:last])
            placed = self.place(inside, around)
            if placed is None:
                return None
            children += [*node.children[done:first], placed]
            done = last
        return Block((*children, *node.children[done:]))

    def _runs(self, node: Block) -> list[tuple[int, int]]:
        """Ranges of children, disjoint and in order, such that values flow inside of each only."""
        users = [k for k, child in enumerate(node.children) if self._uses(child)]
        runs = [(k, k + 1) for k in users]
        for a, b in ((a, b) for a in users for b in users if a < b):
            if self._flows(node.children[a], node.children[b]):
                runs.append((a, b + 1))
        merged: list[tuple[int, int]] = []
        for first, last in sorted(runs):
            if merged and first < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
            else:
                merged.append((first, last))
        return merged

    def _flows(self, first: Node, second: Node) -> bool:
        """Whether a value may flow from one node to the other, in either direction."""
        sides = [[x for x in self.leaves if any(x.instance is i for i in instances(n))] for n in (first, second)]
        pairs = [*product(sides[0], sides[1]), *product(sides[1], sides[0])]
        return any(reached is None or not reached.is_empty() for a, b in pairs for reached in self._reached(a, b))

    def _uses(self, node: Node) -> bool:
        return any(_accesses(self.scop, i, self.array.name) for i in instances(node))

    def _carries(self, loop: For, around: tuple[For | Let, ...]) -> bool:
        """Whether a value may flow from one iteration of the loop to another."""
        below = [x for x in self.leaves if any(x.instance is i for i in instances(loop.body))]
        depth = len(around)
        for a, b in product(below, below):
            for reached in self._reached(a, b):
                if reached is None:
                    return True
                same = reached
                for k in range(depth):
                    same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
                if not same.is_subset(same.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth)):
                    return True
        return False

    def _reached(self, source: Leaf, sink: Leaf) -> Iterator[isl.Map | None]:
        """Per flow dependence, the loop values at two leaves between which a value flows; None for "unknown"."""
        for position, pair in enumerate(self.flow):
            if (pair.source, pair.sink) != (source.instance.statement, sink.instance.statement):
                continue
            key = (id(source), id(sink), position)
            if key not in self.cache:
                self.cache[key] = with_budget(CROSSING_OPERATIONS, lambda p=pair: leaf_relation(  # type: ignore[misc]
                    source, self.scop).apply_range(p.relation).apply_range(
                        leaf_relation(sink, self.scop).reverse()).coalesce())
            yield self.cache[key]

    def _temporary(self, node: Node, around: tuple[For | Let, ...]) -> Temporary | None:
        """The buffer that one execution of the node needs; None where there is none, or it would be no smaller."""
        fixed = frozenset(v.variable for v in around)
        reached = list(self._subscripts(node))
        if any(forms is None for forms, _ in reached):
            return None
        spans = self._spans(node, fixed, [(forms, inside) for forms, inside in reached if forms is not None])
        kept, known = tuple(spans), tuple(span for span in spans.values() if span is not None)
        size = prod(extent for _, extent in known) * self.array.dtype.bytes
        own = _inside_one_thread(node, around)
        if len(known) == len(spans) and size <= (self.lasting_bytes if own else self.buffer_bytes):
            return Temporary(self.array.name, self.called, kept, tuple(base for base, _ in known),
                             tuple(extent for _, extent in known))
        full = self.full_rows or not own or len(known) == len(spans) or size > self.lasting_bytes
        return self._in_memory(dict.fromkeys(spans) if full else spans)

    def _in_memory(self, spans: Mapping[int, tuple[Linear, int] | None]) -> Temporary | None:
        """The buffer in memory with a part per thread; None where that is none, or no smaller than the array.

        Parameters
        ----------
        spans : of each kept dimension, first value and number of values; None for the full extent.
        """
        kept = tuple(spans)
        parts = [None if span == _whole(self.array.extents[k]) else span for k, span in spans.items()]
        if not self.memory or any(part is None and self.array.extents[k] is None
                                  for k, part in zip(kept, parts, strict=True)):
            return None
        if not any(parts) and len(kept) == len(self.array.extents):
            return None
        return Temporary(self.array.name, self.called, kept,
                         tuple(part[0] if part else constant(0) for part in parts), (), self.memory,
                         spans=tuple(part[1] if part else 0 for part in parts) if any(parts) else ())

    def _spans(self, node: Node, fixed: frozenset[str],
               reached: Sequence[_Reached]) -> dict[int, tuple[Linear, int] | None]:
        """First value and number of values of each dimension that a buffer for the node has, in its order.

        None for what has no fixed size.  Lanes of register blocks are neighbours in the buffer: the sums are its own,
        so that it need not be laid out as the array would be.
        """
        spans: dict[int, tuple[Linear, int] | None] = {}
        for dimension in range(len(self.array.extents)):
            forms = [(forms[dimension], inside) for forms, inside in reached]
            first = forms[0][0]
            if not all(form == first for form, _ in forms) or variables(first) & loop_names(node):
                spans[dimension] = _span(forms, fixed) or _whole(self.array.extents[dimension])
        along = {dimension for forms, inside in reached for dimension in _in_lanes(forms, inside)}
        last = along if len(along) == 1 else set()
        return {dimension: spans[dimension] for dimension in sorted(spans, key=lambda d: (d in last, d))}

    def _subscripts(self, node: Node) -> Iterator[tuple[tuple[Linear, ...] | None, tuple[For | Let, ...]]]:
        """Per access of the array below the node, its subscripts and the loops inside the node around it.

        None where these are not known, and where a function reaches other elements than they say.
        """
        for instance, inside in _with_loops(node, ()):
            statement = statement_at(self.scop, instance)
            values = dict(zip(statement.iterators, instance.iterators, strict=True))
            for access in statement.accesses:
                if access.array == self.array.name:
                    forms = [linear_form(subscript, values) for subscript in access.subscripts]
                    known = tuple(form for form in forms if form is not None)
                    one = len(known) == len(self.array.extents) and names_its_element(statement, access)
                    yield (known if one else None), inside


def _in_lanes(forms: Sequence[Linear], inside: Sequence[For | Let]) -> Iterator[int]:
    """The subscripts that the loop over the lanes of a register block moves."""
    lanes = {loop.variable for loop in inside if isinstance(loop, For) and loop.mark.register and loop.mark.simd}
    return (dimension for dimension, form in enumerate(forms) if variables(form) & lanes)


def _whole(extent: isl.PwAff | None) -> tuple[Linear, int] | None:
    """All of a dimension that has one extent for all parameter values."""
    if extent is None or not extent.is_cst():
        return None
    return constant(0), int(extent.max_val().to_python())


def _inside_one_thread(node: Node, around: tuple[For | Let, ...]) -> bool:
    """Whether each execution of the node is the work of one of several threads."""
    return any(isinstance(loop, For) and loop.mark.parallel for loop in around) and not any(
        isinstance(n, For) and n.mark.parallel for n in walk_nodes(node))


def _with_loops(node: Node, inside: tuple[For | Let, ...]) -> Iterator[tuple[StatementInstance, tuple[For | Let, ...]]]:
    match node:
        case StatementInstance():
            yield node, inside
        case For() | Let():
            yield from _with_loops(node.body, (*inside, node))
        case Block():
            for child in node.children:
                yield from _with_loops(child, inside)
        case If():
            yield from _with_loops(node.then, inside)
            if node.otherwise is not None:
                yield from _with_loops(node.otherwise, inside)
        case Local():
            yield from _with_loops(node.body, inside)
        case _:
            raise ValueError("temporaries are contracted before register tiles are made")


def _span(forms: Sequence[tuple[Linear, tuple[For | Let, ...]]], fixed: frozenset[str]) -> tuple[Linear, int] | None:
    """First value and number of values of several forms while the fixed variables stand; None without constants.

    Any arm of a loop's lower bound is a bound of its variable, and so is any arm of its upper bound.
    """
    choices = [list(_bounds(form, inside, fixed)) for form, inside in forms]
    for base, _ in choices[0] if choices else ():
        highest, lowest = 0, 0
        for options in choices:
            widths = [((low - base).constant, (high - base).constant) for low, high in options
                      if (low - base).is_constant and (high - base).is_constant]
            if not widths:
                break
            lowest = min(lowest, max(low for low, _ in widths))
            highest = max(highest, min(high for _, high in widths))
        else:
            return base + lowest, highest - lowest + 1
    return None


def _bounds(form: Linear, inside: tuple[For | Let, ...], fixed: frozenset[str]) -> Iterator[tuple[Linear, Linear]]:
    """Pairs of a lower and an upper bound (inclusive) of a form, over fixed variables and parameters."""
    moving = {loop.variable: loop for loop in inside}
    pending = [(form, form)]
    for _ in range(len(inside) + 1):
        settled: list[tuple[Linear, Linear]] = []
        further: list[tuple[Linear, Linear]] = []
        for low, high in pending:
            name = next((loop.variable for loop in reversed(inside)
                         if loop.variable in (variables(low) | variables(high)) - fixed), None)
            if name is None:
                settled.append((low, high))
            else:
                further += _without(low, high, name, moving[name])
        yield from settled
        pending = further[:MOST_CHOICES_OF_BOUNDS]


def _without(low: Linear, high: Linear, name: str, loop: For | Let) -> Iterator[tuple[Linear, Linear]]:
    """The bounds with one loop variable replaced by its own bounds."""
    starts = arms_of(loop.lower, "max") if isinstance(loop, For) else (loop.value,)
    ends = tuple(arm - 1 for arm in arms_of(loop.upper, "min")) if isinstance(loop, For) else (loop.value,)
    down, up = direction(low, name), direction(high, name)
    if down is None or up is None:
        return
    for start, end in product(starts, ends):
        least, most = (substitute(low, {name: start if down >= 0 else end}),
                       substitute(high, {name: end if up >= 0 else start}))
        if name not in variables(least) | variables(most):
            yield least, most


def _finished(node: Node, declared: tuple[Temporary, ...]) -> Node:
    """Each statement instance told what is declared around it; declarations right inside each other become one."""
    match node:
        case StatementInstance():
            return replace(node, temporaries=declared)
        case Local(body=Local() as inner):
            return _finished(Local((*node.temporaries, *inner.temporaries), inner.body), declared)
        case Local():
            return replace(node, body=_finished(node.body, (*declared, *node.temporaries)))
        case _:
            return map_children(node, partial(_finished, declared=declared))
