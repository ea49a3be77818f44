"""What became of each band, read off the finished tree: for people, for scripts, and to judge choices by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.loop_tree import Band, Node, walk
from polysched.tiling.planning.band_plan import BandPlan, Untiled
from polysched.tiling.planning.by_hand import Decided
from polysched.tiling.tiled_schedule import BandTiling
from polysched.tiling.tree.loops import has_loops

NOT_ASKED = Untiled(reason="tiles were not asked for")


def _marked(root: Node) -> list[tuple[LoopMark, Band]]:
    """The bands of a tree that have a mark, with it."""
    return [(node.mark, node) for node in walk(root) if isinstance(node, Band) and node.mark is not None]


def what_was_done(root: Node, numbers: Mapping[int, int],
                  decided: Mapping[int, BandPlan | Untiled]) -> tuple[BandTiling, ...]:
    """What became of each band, as the finished tree has it.

    Parameters
    ----------
    root : the tree with all loops marked.
    numbers : of the bands of the untiled tree.
    decided : the plans, by number.
    """
    marked = _marked(root)
    marks = [mark for mark, _ in marked]
    strips = {below.band: mark.strip for mark, node in marked if mark.strip for below, _ in _marked(node)}
    return tuple(_of_band(number, [mark for mark in marks if mark.band == number], decided.get(number),
                          strips.get(number, 0)) for number in numbers.values())


def _of_band(number: int, own: Sequence[LoopMark], decided: BandPlan | Untiled | None, strip: int) -> BandTiling:
    """What became of a band, by the marks of its loops."""
    plan = decided if isinstance(decided, BandPlan) else None
    shape = plan.shape if plan and any(mark.register for mark in own) else None
    return BandTiling(
        band=number, sizes=plan.sizes if plan else (),
        wavefront=any(mark.role is Role.WAVEFRONT for mark in own),
        pieces=max((mark.pieces for mark in own), default=0),
        tile_members=tuple(mark.member for mark in own if mark.role in (Role.TILE, Role.WAVEFRONT)),
        parallel_member=next((mark.member for mark in own if mark.parallel), None),
        register=(shape.row_count, shape.column_count) if shape else (),
        plan=plan, untiled=decided if isinstance(decided, Untiled) else None, strip=strip)


def with_choices(root: Node, numbers: Mapping[int, int], decided: Mapping[int, BandPlan | Untiled],
             done: tuple[BandTiling, ...], misfits: Mapping[int, str]) -> tuple[Decided, ...]:
    """The bands with what became of choices by hand."""
    tilings = {band.band: band for band in done}
    found = []
    for node in walk(root):
        if isinstance(node, Band):
            number = numbers[id(node)]
            plan, tiling = decided.get(number, NOT_ASKED), tilings[number]
            found.append(Decided(
                number=number, plan=plan, loop_count=len(node.members), misfit=misfits.get(number, ""),
                has_block=bool(tiling.register), thread_loop=tiling.parallel_member,
                order_inside="" if isinstance(plan, Untiled) else _order_inside(node, plan, tiling)))
    return tuple(found)


def _order_inside(band: Band, plan: BandPlan, tiling: BandTiling) -> str:
    """Why the loops inside the tiles of a band have an order of their own, or nothing."""
    if tiling.register:
        rows, columns = tiling.register
        return f"its register block of {rows} rows by {columns} columns has its own order"
    if tiling.pieces:
        return f"its tiles, split into {tiling.pieces} pieces, have their own order"
    return "further loops run inside it" if has_loops(band.child) else ""
