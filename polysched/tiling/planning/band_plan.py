"""BandPlan: how one band is tiled, and the loops that this makes for the models."""

from __future__ import annotations

from dataclasses import replace

from polysched.records import dataclass
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.traffic import Level, structure_of
from polysched.tiling.planning.register_shape import RegisterShape
from polysched.tiling.planning.tile_problem import TileProblem, innermost_choice
from polysched.tiling.planning.tile_search import TileChoice
from polysched.tiling.shapes.split_tiles import Pieces


@dataclass(frozen=True)
class TileLevel:
    """One level of tiles: the edge per member (None where it has no loop at this level) and the order of the loops."""

    edges: tuple[int | None, ...]
    order: tuple[int, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class BandPlan:
    """How one band is tiled.

    Parameters
    ----------
    nest : the band as the models see it.
    edges : tile edge per member; None where the member gets no tile loop.
    order : the members that get tile loops, outermost first.
    outer : further levels of tiles around these, the outermost level first.
    pieces : into which space is cut in split tiles; None for other tiles.
    in_steps : the outermost level stays outside of the loop that runs on threads (`shared_steps`).
    shape : the register block inside; None for plain point loops.
    rows_first : the block loop of the rows stands outside that of the columns.
    columns_outside : the block loop of the columns stands outside all other loops around the block.
    below : so many of the nest's last loops come from bands below, in their order; they run inside the block.
    problem, choice : the search that found the edges; None when they were given.
    """

    nest: Nest
    edges: tuple[int | None, ...]
    order: tuple[int, ...]
    outer: tuple[TileLevel, ...] = ()
    pieces: Pieces | None = None
    in_steps: bool = False
    shape: RegisterShape | None = None
    rows_first: bool = True
    columns_outside: bool = False
    below: int = 0
    problem: TileProblem | None = None
    choice: TileChoice | None = None

    @property
    def is_untiled(self) -> bool:
        """Whether the plan changes nothing."""
        return not self.order and not self.outer and self.shape is None

    @property
    def sizes(self) -> tuple[int, ...]:
        """The innermost tiles' edges, with 1 tile for members without a tile loop; empty when no member has one."""
        levels = [level for level in (*self.outer, TileLevel(self.edges, self.order)) if level.order]
        if not levels:
            return ()
        sizes = tuple(min((e for level in levels if (e := level.edges[loop]) is not None), default=extent)
                      for loop, extent in enumerate(self.nest.extents))
        return sizes[:self.nest.depth - self.below]


def in_order_made(plan: BandPlan, members: tuple[int, ...]) -> BandPlan:
    """The plan with the orders of its tile loops as they were made: a loop for threads went outside of its level.

    Parameters
    ----------
    members : those of the loops over tiles, outermost first; the plan stays as it is where they are others.
    """
    levels = []
    for level in (*plan.outer, TileLevel(plan.edges, plan.order)):
        made, members = members[:len(level.order)], members[len(level.order):]
        if sorted(made) != sorted(level.order):
            return plan
        levels.append(TileLevel(level.edges, made))
    return replace(plan, outer=tuple(levels[:-1]), order=levels[-1].order)


@dataclass(frozen=True, eq=False, kw_only=True)
class Untiled:
    """Why a band has neither tiles nor a register block.

    Parameters
    ----------
    reason : half a sentence.
    nest : the band as the models see it; None where they did not look.
    candidate : the tiles that were compared with none; None where there were none to compare.
    level : the cache by whose traffic they were judged; 0 without a candidate.
    """

    reason: str
    nest: Nest | None = None
    candidate: BandPlan | None = None
    level: int = 0


def plan_structure(plan: BandPlan) -> tuple[Level, ...]:
    """The loops that the plan makes, for the traffic model."""
    tiles = tuple(Level(loop, level.edges[loop] or plan.nest.extents[loop])
                  for level in (*plan.outer, TileLevel(plan.edges, plan.order)) for loop in level.order)
    if plan.shape is None:
        last = innermost_choice(plan.nest)
        points = (*(k for k in range(plan.nest.depth) if k != last), last)
        return (*tiles, *structure_of((), (points,), plan.nest.depth))
    shape = plan.shape
    blocks = [Level(shape.rows, shape.row_count), Level(shape.columns, shape.column_count)]
    around = [*(Level(loop, 1) for loop in shape.outer), *(blocks if plan.rows_first else reversed(blocks))]
    if plan.columns_outside:
        around = [blocks[1], *(level for level in around if level is not blocks[1])]
    return (*tiles, *around,
            *(Level(loop, 1) for loop in (*shape.inner, shape.rows, shape.columns)))
