"""`StripMine`: one loop becomes a loop over strips and a loop inside a strip."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from polysched.records import dataclass
from polysched.scheduling.marks import Role
from polysched.scheduling.primitives.loops import LoopRef, find_loop
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.primitives.tile import numbered, tile_loop
from polysched.scheduling.tree.loop_tree import LoopTree, replace_node


@dataclass(frozen=True, kw_only=True)
class StripMine(Step):
    """Cut a loop into strips; the order of instances does not change, so it is always legal.

    Rewrite:  [i]  ->  [T*(i//T), i]      (Halide, TVM: split)

    Parameters
    ----------
    loop : the loop.
    size : iterations per strip; >= 1.
    """

    NAME: ClassVar[str] = "strip_mine"
    KEEPS_ORDER: ClassVar[bool] = True
    loop: LoopRef
    size: int

    def rewrite(self, tree: LoopTree) -> LoopTree:
        loop = find_loop(tree, self.loop)
        mark = numbered(loop, number=loop.position)
        point = replace(loop.band, mark=replace(mark, role=Role.POINT))
        strips = tile_loop(loop.band, self.size, point, mark=mark)
        return replace(tree, root=replace_node(tree.root, loop.band, strips))
