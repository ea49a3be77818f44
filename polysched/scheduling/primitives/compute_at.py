"""`ComputeAt`: compute a producer inside a consumer's loop, again where several iterations need it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark
from polysched.scheduling.primitives.loops import Loop, LoopRef, find_loop, loops
from polysched.scheduling.primitives.step import ProgramStep
from polysched.scheduling.tree.loop_tree import (
    Band,
    Filter,
    Leaf,
    LoopTree,
    Mark,
    Node,
    Sequence,
    multi_union_pw_aff,
    to_isl,
)
from polysched.scop.scop import Access, Scop, Statement, union_map


@dataclass(frozen=True, kw_only=True)
class ComputeAt(ProgramStep):
    """Move a producer into a loop of its consumer; each iteration computes all that it needs.

    Rewrite:  for i: A[i] = f(i); for j: B[j] = A[j] + A[j+1]
              ->  for j: (for i in j..j+1: A[i] = f(i)); B[j] = A[j] + A[j+1]      (Halide: compute_at)

    Elements that several iterations need are computed several times.  The producer's statement gets the
    values of the loops around it as new leading iterators.

    Parameters
    ----------
    producer : the statement to move.
    loop : a loop around every statement that reads what the producer writes.

    Source: J. Ragan-Kelley et al., "Halide: a language and compiler for optimizing parallelism, locality,
    and recomputation in image processing pipelines", PLDI 2013, section 3.
    """

    NAME: ClassVar[str] = "compute_at"
    producer: str
    loop: LoopRef

    def rewrite_program(self, dependences: Dependences, tree: LoopTree) -> tuple[Scop, LoopTree]:
        scop = dependences.scop
        loop = find_loop(tree, self.loop)
        if self.producer not in (s.name for s in scop.statements):
            raise UsageError(f"the program has no statement {self.producer!r}",
                             hint=f"it has {', '.join(s.name for s in scop.statements)}")
        if self.producer in loop.statements:
            raise UsageError(f"{self.producer} already runs inside loop {loop.name!r}")
        moved = _with_leading_iterators(scop.statement(self.producer), _needed(dependences, self.producer, loop),
                                        _outer_names(tree, loop))
        root = _Mover(producer=self.producer, moved=moved, loop=loop).rebuild(tree.root)
        statements = tuple(moved if s.name == self.producer else s for s in scop.statements)
        domain = _others(tree.domain, self.producer).union(isl.UnionSet.from_set(moved.domain))
        new_tree = LoopTree(domain=domain, root=root)
        return replace(scop, statements=statements, schedule=to_isl(new_tree)), new_tree


def _outer_names(tree: LoopTree, loop: Loop) -> tuple[str, ...]:
    """Names of the loops around and including `loop`, outermost first."""
    return tuple(other.name for other in loops(tree)
                 if other.band is loop.band or any(other.band is band for band in loop.outer_bands))


def _needed(dependences: Dependences, producer: str, loop: Loop) -> isl.Map:
    """`{ [outer loop values] -> P[i] }`: what an iteration of the loop reads of the producer's results."""
    flows = [d.relation for d in dependences.pairs if d.kind is DependenceKind.FLOW and d.source == producer]
    if not flows:
        raise UsageError(f"nothing reads what {producer} writes")
    if outside := {d.sink for d in dependences.pairs
                   if d.kind is DependenceKind.FLOW and d.source == producer} - set(loop.statements):
        raise UsageError(f"{', '.join(sorted(outside))} reads what {producer} writes, outside loop {loop.name!r}",
                         hint="choose a loop around every reader")
    bands = (*loop.outer_bands, loop.band)
    prefix = isl.UnionMap.from_multi_union_pw_aff(multi_union_pw_aff(tuple(b.members[0] for b in bands)))
    needed = union_map(flows).reverse().apply_domain(prefix)
    return isl.Map.from_union_map(needed)


def _with_leading_iterators(statement: Statement, needed: isl.Map, names: tuple[str, ...]) -> Statement:
    """The statement once per outer iteration that needs it."""
    count = needed.dim(isl.dim_type.in_)
    domain = needed.wrap().flatten().set_tuple_name(statement.name)
    taken = set(statement.iterators)
    for position, outer in enumerate(names):
        name = outer
        while name in taken:
            name += "_at"
        taken.add(name)
        domain = domain.set_dim_name(isl.dim_type.set, position, name)
    for position, name in enumerate(statement.iterators):
        domain = domain.set_dim_name(isl.dim_type.set, count + position, name)
    project = isl.Map.identity(domain.get_space().map_from_set()).project_out(
        isl.dim_type.out, 0, count).set_tuple_name(isl.dim_type.out, statement.name)

    def widen(access: Access) -> Access:
        return replace(access, relation=project.apply_range(access.relation).intersect_domain(domain))

    return replace(statement, domain=domain, accesses=tuple(widen(a) for a in statement.accesses))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Mover:
    """Rebuilds a tree without the producer's old place and with its new one."""

    producer: str
    moved: Statement
    loop: Loop

    @property
    def instances(self) -> isl.UnionSet:
        return isl.UnionSet.from_set(self.moved.domain)

    def rebuild(self, node: Node) -> Node:
        on_path = node is self.loop.band or any(node is a for a in self.loop.ancestors)
        match node:
            case Band():
                member = _others_of(node.members[0], self.producer)
                if on_path:
                    member = member.union_add(self._iterator(self._depth(node)))
                child = self._body(node.child) if node is self.loop.band else self.rebuild(node.child)
                return replace(node, members=(member,), child=child)
            case Sequence():
                return self._sequence(node)
            case Mark():
                return replace(node, child=self.rebuild(node.child))
            case Filter():
                keep = _others(node.keep, self.producer)
                return replace(node, keep=keep.union(self.instances) if on_path else keep,
                               child=self.rebuild(node.child))
            case Leaf():
                return node

    def _sequence(self, node: Sequence) -> Node:
        branches = []
        for keep, child in node.branches:
            rest = _others(keep, self.producer)
            if child is self.loop.band or any(child is a for a in self.loop.ancestors):
                rest = rest.union(self.instances)
            if not rest.is_empty():
                branches.append((rest, self.rebuild(child)))
        return branches[0][1] if len(branches) == 1 else replace(node, branches=tuple(branches))

    def _depth(self, band: Band) -> int:
        return next(i for i, b in enumerate((*self.loop.outer_bands, self.loop.band)) if b is band)

    def _iterator(self, position: int) -> isl.UnionPwAff:
        space = self.moved.domain.get_space()
        function = isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, position)
        return isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(function).intersect_domain(self.moved.domain))

    def _body(self, rest: Node) -> Node:
        inner: Node = Leaf()
        outer = len(self.loop.outer_bands) + 1
        for position in reversed(range(outer, self.moved.depth)):
            inner = Band(members=(self._iterator(position),), coincident=(False,), permutable=True, child=inner,
                         mark=LoopMark())
        keep = isl.UnionSet.empty(self.instances.get_space())
        members = _others_of(self.loop.band.members[0], self.producer)
        keep = keep.union(members.domain())
        tail = rest.branches if isinstance(rest, Sequence) and rest.ordered else ((keep, rest),)
        kept = tuple((k, self.rebuild(c)) for f, c in tail if not (k := _others(f, self.producer)).is_empty())
        return Sequence(branches=((self.instances, inner), *kept))


def _others(sets: isl.UnionSet, statement: str) -> isl.UnionSet:
    """The instances of all statements but one."""
    kept = isl.UnionSet.empty(sets.get_space())
    pieces = sets.get_set_list()
    for i in range(pieces.n_set()):
        if pieces.get_at(i).get_tuple_name() != statement:
            kept = kept.union(isl.UnionSet.from_set(pieces.get_at(i)))
    return kept


def _others_of(member: isl.UnionPwAff, statement: str) -> isl.UnionPwAff:
    return member.intersect_domain(_others(member.domain(), statement))
