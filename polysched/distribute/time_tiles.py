"""Time tiles: several steps between two exchanges, with wide halos.

Within a tile a rank receives nothing.  So it also runs the instances of its neighbours that its own ones need before
the tile's end: replicas.  What others run of a step is a trapezoid that is widest in the tile's first step:

    first - below * (last - s) <= a < end + above * (last - s)

where `a` is the coordinate, `s` the step and `last` the last step of the tile.

Source: Wonnacott, "Time skewing for parallel computers", LCPC 1999; Krishnamoorthy et al., "Effective automatic
parallelization of stencil computations", PLDI 2007 (overlapped tiles).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.legality import check_legal
from polysched.distribute.limits import LIMITS
from polysched.distribute.owners import axis_set
from polysched.distribute.steps import Step
from polysched.errors import IllegalScheduleError, UsageError
from polysched.records import dataclass
from polysched.scop.scop import Scop


@dataclass(frozen=True, kw_only=True)
class TimeTile:
    """How many steps a rank runs between two exchanges, and how far values travel in one.

    Parameters
    ----------
    steps : of a tile; 1 exchanges behind every step.
    below, above : coordinates that a value passes in a step from lower ones, and from higher ones.

    Raises
    ------
    UsageError : a tile without steps.
    """

    steps: int = 1
    below: int = 0
    above: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.steps, int) or self.steps < 1:
            raise UsageError("a time tile has at least one step", witness=str(self.steps))

    @property
    def halo(self) -> tuple[int, int]:
        """Coordinates below and above a rank's own that it runs in a tile's first step."""
        return self.below * (self.steps - 1), self.above * (self.steps - 1)

    def headline(self) -> str:
        """For instance `time tiles of 8 steps, halos of 7 and 7`."""
        return f"time tiles of {self.steps} steps, halos of {self.halo[0]} and {self.halo[1]}"


EACH_STEP = TimeTile()


def places(owner: isl.Map, step: isl.Aff) -> isl.Map:
    """`{ S[i, j] -> [a, s] }`: coordinate and step."""
    return owner.flat_range_product(isl.Map.from_aff(step))


def find_time_tile(dependences: Dependences, owners: Mapping[str, isl.Map], steps: tuple[Step, ...],
                   count: int) -> TimeTile:
    """The time tile of so many steps, with the narrowest halos.

    Raises
    ------
    UsageError : no steps, or no loop of steps.
    IllegalScheduleError : values travel any distance in a step; or steps in tiles break a dependence.
    """
    if count == 1:
        return EACH_STEP
    if len(steps) != 1:
        raise UsageError(f"time tiles need one loop of steps, and there are {len(steps)}", where=dependences.scop.name,
                         hint="leave the time tile out, or distribute another loop")
    TimeTile(steps=count)
    below = above = 0
    for pair, deltas in _deltas(dependences, owners, steps[0], count):
        below = max(below, _reach(dependences, pair, deltas, "a"))
        above = max(above, _reach(dependences, pair, deltas, "-a"))
    check_legal(dependences, in_tiles(dependences, steps[0], count), what=f"time tile of {count} steps")
    return TimeTile(steps=count, below=below, above=above)


def from_first(scop: Scop, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """One loop of steps with 0 as its first step, where all sizes agree on the first: so the first tile is a whole one.

    Rewrite:  [2t] with t >= 1  ->  [2t - 2]
    """
    if len(steps) != 1:
        return steps
    values = axis_set(scop, {name: isl.Map.from_aff(step) for name, step in steps[0].items()})
    pieces = values.dim_min(0).coalesce().get_pieces()
    if len(pieces) != 1 or not pieces[0][1].is_cst():
        return steps
    first = pieces[0][1].get_constant_val()
    return ({name: step.add_constant_val(first.neg()) for name, step in steps[0].items()},)


def in_tiles(dependences: Dependences, step: Step, count: int) -> isl.Schedule:
    """The program's order with the tiles of steps as its outermost loop."""
    scop = dependences.scop
    tiles = isl.UnionPwAff.empty(scop.context.get_space())
    for statement in scop.statements:
        at = isl.PwAff.from_aff(step[statement.name]).intersect_domain(statement.domain)
        tiles = tiles.union_add(isl.UnionPwAff.from_pw_aff(at.scale_down_val(isl.Val(count)).floor()))
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 1).align_params(scop.context.get_space())
    values = isl.UnionPwAffList.from_union_pw_aff(tiles)
    return scop.schedule.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff_list(space, values))


def _deltas(dependences: Dependences, owners: Mapping[str, isl.Map], step: Step,
            count: int) -> Iterator[tuple[Dependence, isl.Set]]:
    """`{ [a, s] }` per flow dependence: how far its values travel within a tile, and in how many steps."""
    inside = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"{{ [a, s] : s < {count} }}")
    for pair in dependences.pairs:
        if pair.kind is DependenceKind.FLOW:
            source, sink = (places(owners[name], step[name]) for name in (pair.source, pair.sink))
            yield pair, pair.relation.apply_domain(source).apply_range(sink).deltas().intersect(inside)


def _reach(dependences: Dependences, pair: Dependence, deltas: isl.Set, way: str) -> int:
    for reach in range(LIMITS.largest_reach + 1):
        further = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"{{ [a, s] : {way} > {reach} s }}")
        if deltas.intersect(further).is_empty():
            return reach
    raise IllegalScheduleError(
        f"the values of {pair.array} that {pair.source} passes to {pair.sink} travel further than "
        f"{LIMITS.largest_reach} coordinates in a step, so no halo holds a time tile", where=dependences.scop.name,
        witness=str(deltas.intersect(further).sample()), hint="leave the time tile out")
