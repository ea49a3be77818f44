"""Steps that promise something about a loop: `Parallel`, `Vectorize`, `Unroll`, `UnrollAndJam`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.primitives.loops import Loop, LoopRef, find_loop, loops
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.primitives.tile import numbered, tile_loop
from polysched.scheduling.tree.loop_tree import Band, LoopTree, Node, replace_node, walk

UNROLL_OPTION = "{ unroll[i0] }"
"""isl's AST build option that unrolls the only member of a band completely."""


def _annotate(tree: LoopTree, loop: Loop, mark: LoopMark) -> LoopTree:
    return replace(tree, root=replace_node(tree.root, loop.band, replace(loop.band, mark=mark)))


@dataclass(frozen=True, kw_only=True)
class Parallel(Step):
    """Run the iterations of a loop in parallel.

    Refused unless no dependence joins two of its iterations within one iteration of the loops around it.

    Parameters
    ----------
    loop : the loop.
    """

    NAME: ClassVar[str] = "parallel"
    KEEPS_ORDER: ClassVar[bool] = True
    loop: LoopRef

    def rewrite(self, tree: LoopTree) -> LoopTree:
        loop = find_loop(tree, self.loop)
        return _annotate(tree, loop, replace(loop.band.mark or LoopMark(), parallel=True))


@dataclass(frozen=True, kw_only=True)
class Vectorize(Step):
    """Run the iterations of an innermost loop in vector lanes.

    Refused unless no dependence joins two of its iterations within one iteration of the loops around it.

    Parameters
    ----------
    loop : the loop; no other loop stands inside it.
    """

    NAME: ClassVar[str] = "vectorize"
    KEEPS_ORDER: ClassVar[bool] = True
    loop: LoopRef

    def rewrite(self, tree: LoopTree) -> LoopTree:
        loop = find_loop(tree, self.loop)
        if any(isinstance(node, Band) for node in walk(loop.band.child)):
            raise UsageError(f"loop {loop.name!r} is not innermost", hint="interchange it inwards first")
        return _annotate(tree, loop, replace(loop.band.mark or LoopMark(), simd=True))


@dataclass(frozen=True, kw_only=True)
class Unroll(Step):
    """Cut a loop into strips of `factor` iterations and write each strip out; always legal.

    Rewrite:  for i  ->  for i in steps of factor: body(i); body(i+1); ...

    Parameters
    ----------
    loop : the loop.
    factor : iterations per step; >= 2.
    """

    NAME: ClassVar[str] = "unroll"
    KEEPS_ORDER: ClassVar[bool] = True
    loop: LoopRef
    factor: int

    def rewrite(self, tree: LoopTree) -> LoopTree:
        loop = find_loop(tree, self.loop)
        band, mark = loop.band, numbered(loop, number=loop.position)
        strip = tile_loop(band, _factor(self.factor), _unrolled(band, band.child, mark), mark=mark)
        return replace(tree, root=replace_node(tree.root, band, replace(strip, mark=band.mark)))


@dataclass(frozen=True, kw_only=True)
class UnrollAndJam(Step):
    """Unroll an outer loop and run the copies side by side in the innermost loop of the nest below it.

    Rewrite:  [i, j]  ->  [F*(i//F), j, unrolled i]      (register tiling of one loop)

    Parameters
    ----------
    loop : a loop with a perfect nest of loops inside.
    factor : copies; >= 2.

    Source: S. Carr, K. Kennedy, "Improving the ratio of memory operations to floating-point operations in
    loops", TOPLAS 16(6), 1994.
    """

    NAME: ClassVar[str] = "unroll_and_jam"
    loop: LoopRef
    factor: int

    def permuted(self, tree: LoopTree) -> tuple[Loop, ...]:
        loop = find_loop(tree, self.loop)
        nest = [loop]
        for inner in loops(tree)[loop.position + 1:]:
            if inner.band is nest[-1].band.child:
                nest.append(inner)
        return tuple(nest)

    def rewrite(self, tree: LoopTree) -> LoopTree:
        loop = find_loop(tree, self.loop)
        nest: list[Band] = []
        below: Node = loop.band.child
        while isinstance(below, Band):
            nest.append(below)
            below = below.child
        if not nest:
            raise UsageError(f"loop {loop.name!r} has no loop directly inside", hint="use unroll")
        mark = numbered(loop, number=loop.position)
        inner: Node = _unrolled(loop.band, below, mark)
        for band in reversed(nest):
            inner = replace(band, child=inner)
        strip = replace(tile_loop(loop.band, _factor(self.factor), inner, mark=mark), mark=loop.band.mark)
        return replace(tree, root=replace_node(tree.root, loop.band, strip))


def _unrolled(band: Band, child: Node, mark: LoopMark) -> Band:
    return replace(band, child=child, options=UNROLL_OPTION,
                   mark=LoopMark(role=Role.POINT, band=mark.band, member=mark.member))


def _factor(factor: int) -> int:
    if factor < 2:
        raise UsageError("a loop is unrolled by a factor of at least 2", witness=str(factor))
    return factor
