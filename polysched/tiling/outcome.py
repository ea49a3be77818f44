"""What became of each band, read off the finished tree: for people, for scripts, and to judge choices by hand."""

from __future__ import annotations

from collections.abc import Mapping

from polysched.scheduling.marks import Role
from polysched.scheduling.tree.loop_tree import Band, Node, walk
from polysched.tiling.planning.band_plan import BandPlan, Untiled
from polysched.tiling.planning.by_hand import Decided
from polysched.tiling.tiled_schedule import BandTiling
from polysched.tiling.tree.loops import has_loops


def what_was_done(root: Node, numbers: Mapping[int, int],
                  decided: Mapping[int, BandPlan | Untiled]) -> tuple[BandTiling, ...]:
    """What became of each band, as the finished tree has it.

    Parameters
    ----------
    root : the tree with all loops marked.
    numbers : of the bands of the untiled tree.
    decided : the plans, by number.
    """
    bands = [node for node in walk(root) if isinstance(node, Band)]
    marks = [node.mark for node in bands if node.mark is not None]
    strips = {below.mark.band: node.mark.strip for node in bands if node.mark is not None and node.mark.strip
              for below in walk(node) if isinstance(below, Band) and below.mark is not None}
    done: list[BandTiling] = []
    for number in numbers.values():
        own = [mark for mark in marks if mark.band == number]
        found = decided.get(number)
        plan = found if isinstance(found, BandPlan) else None
        done.append(BandTiling(
            band=number,
            sizes=plan.sizes if plan else (),
            wavefront=any(mark.role is Role.WAVEFRONT for mark in own),
            pieces=max((mark.pieces for mark in own), default=0),
            tile_members=tuple(mark.member for mark in own if mark.role in (Role.TILE, Role.WAVEFRONT)),
            parallel_member=next((mark.member for mark in own if mark.parallel), None),
            register=(plan.shape.row_count, plan.shape.column_count)
            if plan and plan.shape and any(mark.register for mark in own) else (),
            plan=plan, untiled=found if isinstance(found, Untiled) else None, strip=strips.get(number, 0)))
    return tuple(done)


def with_choices(root: Node, numbers: Mapping[int, int], decided: Mapping[int, BandPlan | Untiled],
             done: tuple[BandTiling, ...], misfits: Mapping[int, str]) -> tuple[Decided, ...]:
    """The bands with what became of choices by hand."""
    tilings = {band.band: band for band in done}
    found = []
    for node in walk(root):
        if isinstance(node, Band) and (number := numbers[id(node)]) in decided:
            plan, tiling = decided[number], tilings[number]
            found.append(Decided(
                number=number, plan=plan, misfit=misfits.get(number, ""), has_block=bool(tiling.register),
                thread_loop=tiling.parallel_member,
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
