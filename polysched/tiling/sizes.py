"""Which bands are tiled, and the edges of their tiles."""

from __future__ import annotations

from polysched.scheduling.loop_tree import Band, LoopTree, Node, children
from polysched.scop.scop import Scop
from polysched.tiling.options import TilingOptions

DEFAULT_EDGE = 32


def choose_sizes(scop: Scop, tree: LoopTree, numbers: dict[int, int],
                 options: TilingOptions) -> dict[int, tuple[int, ...]]:
    """Tile edges per band, by its number; a band that stays untiled has no entry.

    Only permutable bands are tiled, a band inside a tiled one only on request, and a band of one loop only
    when the sizes were given as a tuple.
    """
    chosen: dict[int, tuple[int, ...]] = {}
    if options.sizes != "off":
        _choose(tree.root, numbers, options, chosen, inside_tile=False)
    return chosen


def _choose(node: Node, numbers: dict[int, int], options: TilingOptions, chosen: dict[int, tuple[int, ...]], *,
            inside_tile: bool) -> None:
    if isinstance(node, Band) and node.mark is None and node.permutable and (options.nested or not inside_tile):
        edges = _edges(len(node.members), options)
        if edges:
            chosen[numbers[id(node)]] = edges
            inside_tile = True
    for child in children(node):
        _choose(child, numbers, options, chosen, inside_tile=inside_tile)


def _edges(count: int, options: TilingOptions) -> tuple[int, ...]:
    if isinstance(options.sizes, tuple):
        given = options.sizes[:count]
        return given + (options.sizes[-1],) * (count - len(given))
    if count < 2:
        return ()
    return (options.sizes if isinstance(options.sizes, int) else DEFAULT_EDGE,) * count
