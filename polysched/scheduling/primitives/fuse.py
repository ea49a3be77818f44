"""`Fuse` and `Distribute`: one loop over several statements, or one loop for each."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import islpy as isl

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.primitives.loops import LoopRef, find_loop
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.tree.loop_tree import Band, LoopTree, Node, Sequence, replace_node


@dataclass(frozen=True, kw_only=True)
class Fuse(Step):
    """Run two neighbouring loops as one.

    Rewrite:  sequence(for i: A; for j: B)  ->  for i: sequence(A; B)      (Halide, TVM: compute_at; Tiramisu: after)

    Iterations with the same value of the loop are executed together; `Shift` first to align them.

    Parameters
    ----------
    first, second : the outermost loops of two neighbouring branches of a sequence.

    Source: K. Kennedy, K. McKinley, "Maximizing loop parallelism and improving data locality via loop
    fusion and distribution", LCPC 1993.
    """

    NAME: ClassVar[str] = "fuse"
    first: LoopRef
    second: LoopRef

    def rewrite(self, tree: LoopTree) -> LoopTree:
        first, second = find_loop(tree, self.first), find_loop(tree, self.second)
        sequence = first.ancestors[-1] if first.ancestors else None
        below = [child for _, child in sequence.branches] if isinstance(sequence, Sequence) else []
        at = next((i for i, child in enumerate(below) if child is first.band), None)
        if not isinstance(sequence, Sequence) or at is None or at + 1 >= len(below) or below[at + 1] is not second.band:
            raise UsageError(f"loops {first.name!r} and {second.name!r} are not neighbours",
                             witness=f"positions {first.position} and {second.position}",
                             hint="fuse joins the outermost loops of two neighbouring branches of one sequence; "
                                  "fuse the loops around them first")
        (keep1, _), (keep2, _) = sequence.branches[at], sequence.branches[at + 1]
        body = Sequence(branches=(*_branches(keep1, first.band.child), *_branches(keep2, second.band.child)))
        member = first.band.members[0].intersect_domain(keep1).union_add(second.band.members[0].intersect_domain(keep2))
        fused = Band(members=(member,), coincident=(False,), permutable=True, child=body)
        rest = (*sequence.branches[:at], (keep1.union(keep2), fused), *sequence.branches[at + 2:])
        new: Node = fused if len(rest) == 1 else replace(sequence, branches=rest)
        return replace(tree, root=replace_node(tree.root, sequence, new))


def _branches(keep: isl.UnionSet, node: Node) -> tuple[tuple[isl.UnionSet, Node], ...]:
    """A node as branches of a surrounding sequence; an ordered sequence is spliced in."""
    if isinstance(node, Sequence) and node.ordered:
        return tuple((inner.intersect(keep), child) for inner, child in node.branches)
    return ((keep, node),)


@dataclass(frozen=True, kw_only=True)
class Distribute(Step):
    """Give each branch of the sequence inside a loop a loop of its own (loop fission).

    Rewrite:  for i: sequence(A; B)  ->  sequence(for i: A; for i: B)

    Parameters
    ----------
    loop : the loop directly around the sequence.

    Source: as for `Fuse`.
    """

    NAME: ClassVar[str] = "distribute"
    loop: LoopRef

    def rewrite(self, tree: LoopTree) -> LoopTree:
        loop = find_loop(tree, self.loop)
        sequence = loop.band.child
        if not isinstance(sequence, Sequence):
            raise UsageError(f"loop {loop.name!r} has no sequence directly inside",
                             hint="there is nothing to distribute")
        branches = tuple(
            (keep, replace(loop.band, members=(loop.band.members[0].intersect_domain(keep),), child=child))
            for keep, child in sequence.branches)
        return replace(tree, root=replace_node(tree.root, loop.band, replace(sequence, branches=branches)))
