"""`Reorder` and `Interchange`: permute the loops of a perfect nest."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from polysched.records import dataclass
from polysched.scheduling.primitives.loops import Loop, LoopRef, chain, find_loop
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.tree.loop_tree import LoopTree, Node, replace_node


@dataclass(frozen=True, kw_only=True)
class Reorder(Step):
    """Put the loops of a perfect nest in the given order, outermost first.

    Rewrite:  [i, j, k] with order (k, i, j)  ->  [k, i, j]      (Halide, TVM: reorder)

    Parameters
    ----------
    order : every loop of the nest, in the new order.

    Source: M. Wolf, M. Lam, "A data locality optimizing algorithm", PLDI 1991 (unimodular permutation).
    """

    NAME: ClassVar[str] = "reorder"
    order: tuple[LoopRef, ...]

    def permuted(self, tree: LoopTree) -> tuple[Loop, ...]:
        return chain(tree, self.order)

    def rewrite(self, tree: LoopTree) -> LoopTree:
        nest = chain(tree, self.order)
        wanted = [find_loop(tree, r).band for r in self.order]
        inner: Node = nest[-1].band.child
        for band in reversed(wanted):
            inner = replace(band, child=inner)
        return replace(tree, root=replace_node(tree.root, nest[0].band, inner))


@dataclass(frozen=True, kw_only=True)
class Interchange(Step):
    """Swap two loops of a perfect nest; the loops between them stay where they are.

    Rewrite:  [i, j]  ->  [j, i]

    Parameters
    ----------
    outer, inner : the two loops; `inner` stands below `outer` without statements in between.
    """

    NAME: ClassVar[str] = "interchange"
    outer: LoopRef
    inner: LoopRef

    def permuted(self, tree: LoopTree) -> tuple[Loop, ...]:
        return chain(tree, self._positions(tree))

    def _positions(self, tree: LoopTree) -> tuple[int, ...]:
        """The two loops and those between them."""
        outer, inner = find_loop(tree, self.outer), find_loop(tree, self.inner)
        return tuple(range(min(outer.position, inner.position), max(outer.position, inner.position) + 1))

    def rewrite(self, tree: LoopTree) -> LoopTree:
        positions = self._positions(tree)
        swapped = (positions[-1], *positions[1:-1], positions[0]) if len(positions) > 1 else positions
        chain(tree, positions)
        return Reorder(order=swapped).rewrite(tree)
