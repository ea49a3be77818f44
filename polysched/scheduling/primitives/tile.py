"""`Tile`: rectangular tiling of a perfect nest."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.primitives.loops import Loop, LoopRef, chain, find_loop
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.tree.loop_tree import Band, LoopTree, Node, replace_node
from polysched.scop.points import isl_value


@dataclass(frozen=True, kw_only=True)
class Tile(Step):
    """Tile loops that are nested perfectly (strip-mine and interchange).

    Rewrite:  [i, j]  ->  [Ti*(i//Ti), Tj*(j//Tj), i, j]      (Halide, TVM: split + reorder)

    Parameters
    ----------
    loops : the loops of the nest, in any order.
    sizes : tile edge per loop, in the order of `loops`, in iterations; each >= 1.

    Source: F. Irigoin, R. Triolet, "Supernode partitioning", POPL 1988.
    """

    NAME: ClassVar[str] = "tile"
    loops: tuple[LoopRef, ...]
    sizes: tuple[int, ...]

    def permuted(self, tree: LoopTree) -> tuple[Loop, ...]:
        return chain(tree, self.loops)

    def rewrite(self, tree: LoopTree) -> LoopTree:
        if len(self.loops) != len(self.sizes) or not self.loops:
            raise UsageError("tile wants one size per loop", witness=f"{self.loops} with {self.sizes}")
        nest = chain(tree, self.loops)
        by_position = {loop.position: loop for loop in nest}
        sizes = {find_loop(tree, r).position: size for r, size in zip(self.loops, self.sizes, strict=True)}
        inner: Node = nest[-1].band.child
        marks = {position: numbered(loop, number=nest[0].position, member=member)
                 for member, (position, loop) in enumerate(sorted(by_position.items()))}
        for position in sorted(by_position, reverse=True):
            band = by_position[position].band
            inner = replace(band, child=inner, mark=replace(marks[position], role=Role.POINT))
        for position in sorted(by_position, reverse=True):
            inner = tile_loop(by_position[position].band, sizes[position], inner, mark=marks[position])
        return replace(tree, root=replace_node(tree.root, nest[0].band, inner))


def numbered(loop: Loop, *, number: int, member: int = 0) -> LoopMark:
    """The mark of a loop; one without gets a number for its band, so that its tile loop can be told to be its own."""
    return loop.band.mark or LoopMark(band=number, member=member)


def tile_loop(band: Band, size: int, child: Node, *, mark: LoopMark) -> Band:
    """The loop over the first iterations of tiles: `size * (m // size)`; `mark` says whose tiles they are.

    Raises
    ------
    UsageError : the size is below 1.
    """
    if size < 1:
        raise UsageError("a tile size is at least 1", witness=str(size))
    value = isl_value(size)
    member = band.members[0].scale_down_val(value).floor().scale_val(value)
    return Band(members=(member,), coincident=(False,), permutable=True, child=child,
                mark=LoopMark(role=Role.TILE, band=mark.band, member=mark.member))
