"""The plan of a nest around an instruction: its loops, which two are unrolled into registers, where operands lie.

Loops are the program's loops left outside and one tile loop per group.  Spatial ones come first, then the reductions;
up to two spatial loops are split so that their inner parts are unrolled and every loaded register is used several
times.  A packed operand is a buffer with one block per point of the loops that index it, in the order in which the
nest visits them, or the array itself in another order of dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from polysched.records import dataclass
from polysched.target import Target, host
from polysched.tensorize.emission.blocking import (
    cache_blocks,
    handed_out_blocks,
    register_blocks,
    register_order,
)
from polysched.tensorize.emission.data_volume import searched_tiles
from polysched.tensorize.emission.nest import NestLoop, nest_loops, uses
from polysched.tensorize.emission.place import Place, is_whole, place_of
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.software.sizes import is_general, may_exceed


class Tiling(Enum):
    """Who chooses order and tiles: this room's sum over all caches, or the tiling room's search for one of them.

    Twice as deep: the tiles of the reductions are doubled, since a panel that streams through needs less room than the
    sum allows it.  Handed out: tiles of the outermost loop are what threads take, one after the other, and panels may
    be longer than the first cache, since their rows are fetched ahead.
    """

    CACHES = "caches"
    DEEPER = "caches, reductions twice as deep"
    DATA_VOLUME = "data volume"
    HANDED_OUT = "what the last own cache holds, handed to threads one by one"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class PlanChoice:
    """What of a plan is open to choice.

    Parameters
    ----------
    tiling : who chooses the order of the loops and their tiles.
    block : which of the register blocks that the model finds, 0 for the best.
    """

    tiling: Tiling = Tiling.CACHES
    block: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """Loops in the order in which they run, the place of every operand, and whether threads share the work.

    Parameters
    ----------
    binding : the limits that the tiles fill, where a search chose them.
    """

    match: Match
    loops: tuple[NestLoop, ...]
    places: tuple[Place, ...]
    parallel: bool = False
    tiling: Tiling = Tiling.CACHES
    binding: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The loops from outside to inside, with their register blocks and tiles."""
        parts = [f"{loop.name}: {loop.count}" + (f" by {loop.unroll}" if loop.unroll > 1 else "")
                 + (f", in tiles of {loop.tile}" if loop.tile else "") for loop in self.loops]
        packed = ", ".join(p.operand for p in self.places if p.packed)
        limits = f"; fills the {', the '.join(self.binding)}" if self.binding else ""
        return f"{'; '.join(parts) or 'no loops'}; packed: {packed or 'nothing'}; tiles by {self.tiling.value}{limits}"

    @property
    def handed_out(self) -> bool:
        """Whether threads take tiles of the outermost loop one by one, instead of equal shares of every tile."""
        first = next(iter(self.loops), None)
        return self.tiling is Tiling.HANDED_OUT and first is not None and not first.reduction \
            and may_exceed(first.tiles, 1)

    @property
    def unrolled(self) -> tuple[NestLoop, ...]:
        return register_order(loop for loop in self.loops if loop.unroll > 1)

    def uses(self, operand: str, loop: NestLoop) -> bool:
        """Whether an operand changes with a loop."""
        return uses(self.match, operand, loop)

    def place(self, operand: str) -> Place:
        """The place of an operand."""
        return next(p for p in self.places if p.operand == operand)


def block_cases(plan: Plan) -> tuple[tuple[str, Plan], ...]:
    """The blocks of registers of a nest: the plan of each, and the condition on the nest's loops under which it runs.

    Conditions are C, tried in this order; the last one is empty and always true.  There are several where the last
    block of an unrolled loop is not whole: a packed operand has padding there, but for one that is read in place the
    last iterations are a smaller block.
    """
    inputs = [p for p in plan.places if not p.packed and p.operand not in plan.match.written]
    for loop in plan.loops:
        rest = 0 if is_general(loop.count) else loop.count % loop.unroll   # then inputs are packed
        if loop.group < 0 and rest and any(plan.uses(p.operand, loop) for p in inputs):
            blocks = loop.count // loop.unroll
            whole = replace(loop, count=loop.count - rest)
            last = replace(loop, count=rest, unroll=rest, tile=0, first=whole.count)
            moved = tuple(replace(p, base=p.base + blocks * p.block_strides[loop.name])
                          if plan.uses(p.operand, loop) else p for p in plan.places)
            inside = f"{loop.name} < {blocks}"
            first = tuple((f"{inside} && {further}" if further else inside, case)
                          for further, case in block_cases(_with_loop(plan, whole, plan.places)))
            return (*first, *block_cases(_with_loop(plan, last, moved)))
    return (("", plan),)


def _with_loop(plan: Plan, loop: NestLoop, places: tuple[Place, ...]) -> Plan:
    """The plan with another loop of the same name; results that need no detour any more take none."""
    loops = tuple(loop if x.name == loop.name else x for x in plan.loops)
    changed = replace(plan, loops=loops)
    return replace(changed, places=tuple(replace(p, ragged=p.ragged and not is_whole(
        plan.match, p.operand, [x for x in loops if changed.uses(p.operand, x)])) for p in places))


def general_plan(plan: Plan, match: Match, *, emulated: bool) -> Plan:
    """The plan with the sizes of a match that has them at run time; blocks, tiles and their order stay.

    Parameters
    ----------
    plan : made at sample sizes.
    match : the same one for all sizes.
    """
    all_of_them = {loop.name: loop for loop in nest_loops(match)}
    loops = [replace(loop, count=all_of_them.pop(loop.name).count) for loop in plan.loops]
    loops += all_of_them.values()   # of one iteration at the sample sizes
    if match.ordered:   # sums in the program's order
        order = [loop.name for loop in nest_loops(match)]
        summed = sorted((x for x in loops if x.reduction), key=lambda loop: order.index(loop.name))
        loops = [*(x for x in loops if not x.reduction), *summed]
    places = tuple(place_of(match, p.operand, loops, emulated=emulated) for p in plan.places)
    return replace(plan, match=match, loops=tuple(loops), places=places)


def _deeper(loop: NestLoop) -> NestLoop:
    """A reduction in tiles of twice the length; none where one tile would be all of it."""
    return replace(loop, tile=2 * loop.tile if 2 * loop.tile < loop.blocks else 0) if loop.reduction else loop


def _handed_out(match: Match, loops: list[NestLoop], target: Target, growth: Sequence[int]) -> list[NestLoop]:
    """Tiles that threads take one by one; panels may be longer than the first cache where all inputs come in time.

    Those are rows of packed vectors, which are fetched ahead, and neighbours in memory.
    """
    deep = handed_out_blocks(match, loops, target, ahead=1, growth=growth)
    inner = next((loop for loop in reversed(deep) if loop.reduction), None)
    for operand in match.intrinsic.inputs if inner is not None else ():
        place = place_of(match, operand.name, deep, emulated=False)
        step = abs(place.block_strides.get(inner.name, 0)) * operand.dtype.bytes if inner is not None else 0
        if not match.intrinsic.operand(operand.name).register.c_type or (not place.packed and step > target.line_bytes):
            return handed_out_blocks(match, loops, target, ahead=0, growth=growth)
    return deep


def make_plan(match: Match, *, emulated: bool, unroll: tuple[int, int] | None = None,
              target: Target | None = None, parallel: bool = False,
              choice: PlanChoice | None = None, growth: Sequence[int] = (1,)) -> Plan:
    """Choose loops, unrolling, tiles and operand places.

    Parameters
    ----------
    emulated : the emulator reads operands in their natural layout only and takes them one at a time.
    unroll : iterations unrolled of the two loops, as the nest orders them; by the register budget when None.
    target : the machine whose caches decide the order of the loops and their tiles; this one when None.
    parallel : packing and nest are shared by threads.
    choice : of register block and tiling; the models' best when None.
    growth : long loops may also be so many times as long: tiles that threads take have to suit all of them.
    """
    machine, chosen = target or host(), choice or PlanChoice()
    match, tiling = match.on(machine), chosen.tiling
    loops = cache_blocks(match, nest_loops(match), machine) if unroll is not None else nest_loops(match)
    if not emulated and all("{register}" in o.register.load for o in match.intrinsic.operands):
        loops = register_blocks(match, loops, unroll, chosen.block)
    binding: tuple[str, ...] = ()
    if tiling is Tiling.DATA_VOLUME and (found := searched_tiles(match, loops, machine)) is not None:
        loops, binding = found[0], found[1].binding
    elif tiling is Tiling.NONE:
        loops = [replace(loop, tile=0) for loop in cache_blocks(match, loops, machine)]
    elif tiling is Tiling.HANDED_OUT:
        loops = _handed_out(match, loops, machine, growth)
        tiling = tiling if loops and loops[0].tiles > 1 and not loops[0].reduction else Tiling.CACHES
    elif tiling is Tiling.DEEPER:
        loops = [_deeper(loop) for loop in cache_blocks(match, loops, machine)]
    else:
        loops, tiling = cache_blocks(match, loops, machine), Tiling.CACHES
    places = tuple(place_of(match, v.name, loops, emulated=emulated) for v in match.intrinsic.parsed.operands)
    return Plan(match=match, loops=tuple(loops), places=places, parallel=parallel, tiling=tiling, binding=binding)
