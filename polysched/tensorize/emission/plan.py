"""The plan of a nest around an instruction: its loops, which two are unrolled into registers, where operands lie.

Loops are the program's loops left outside and one tile loop per group.  Spatial ones come first, then the reductions;
up to two spatial loops are split so that their inner parts are unrolled and every loaded register is used several
times.  A packed operand is a buffer with one block per point of the loops that index it, in the order in which the
nest visits them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from polysched.scop.body import Expr, Load
from polysched.tensorize.intrinsic import LoadMode
from polysched.tensorize.match import Match

MAX_UNROLL = 16
LONG_STRIDE_BYTES = 256
CACHE_BYTES = 1 << 20
MAX_ORDERED = 5
RAGGED_COST = 1.1


@dataclass(frozen=True, kw_only=True)
class NestLoop:
    """One loop around the instruction.

    Parameters
    ----------
    name : C variable.
    count : iterations.
    source : name of the program's loop, when it is one that stayed outside.
    group : the group whose tiles it counts, otherwise.
    reduction : the result does not depend on it.
    unroll : 1, or the number of its iterations that are unrolled into registers.
    """

    name: str
    count: int
    source: str = ""
    group: int = -1
    reduction: bool = False
    unroll: int = 1

    @property
    def blocks(self) -> int:
        """Iterations after unrolling; the last block may be partly padding."""
        return -(-self.count // self.unroll)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an operand is read or written during the nest.

    Parameters
    ----------
    operand : its name.
    packed : in a buffer of its own; otherwise in the program's array.
    block_strides, unrolled_strides : elements per step of a loop's block and of its unrolled part, by loop name.
    base : elements from the start.
    elements : size of the buffer.
    row_stride_bytes : between rows of the operand, for tile registers.
    """

    operand: str
    packed: bool
    block_strides: Mapping[str, int]
    unrolled_strides: Mapping[str, int]
    base: int
    elements: int
    row_stride_bytes: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """Loops in the order in which they run, the place of every operand, and whether threads share the work."""

    match: Match
    loops: tuple[NestLoop, ...]
    places: tuple[Place, ...]
    parallel: bool = False

    @property
    def unrolled(self) -> tuple[NestLoop, ...]:
        return _register_order(loop for loop in self.loops if loop.unroll > 1)

    def uses(self, operand: str, loop: NestLoop) -> bool:
        """Whether an operand changes with a loop."""
        return uses(self.match, operand, loop)

    def place(self, operand: str) -> Place:
        """The place of an operand."""
        return next(p for p in self.places if p.operand == operand)


def uses(match: Match, operand: str, loop: NestLoop) -> bool:
    """Whether an operand changes with a loop."""
    if loop.group >= 0:
        accumulated = operand == match.intrinsic.output.name and match.is_partial(loop.group)
        return operand in match.groups[loop.group].indexes and not accumulated
    return loop.source in match.fragment.loops_of(content_of(match, operand))


def content_of(match: Match, operand: str) -> Expr:
    """What an operand holds, the result included."""
    if operand == match.intrinsic.output.name:
        return Load(match.fragment.target, match.fragment.update.dtype)
    return match.assignment.expression(operand)


def make_plan(match: Match, *, emulated: bool, unroll: tuple[int, int] | None = None,
              cache_bytes: int = CACHE_BYTES, parallel: bool = False) -> Plan:
    """Choose loops, unrolling and operand places.

    Parameters
    ----------
    emulated : the emulator reads operands in their natural layout only and takes them one at a time.
    unroll : iterations unrolled of the two loops, as the nest orders them; by the register budget when None.
    cache_bytes : what one core keeps close; decides the order of the spatial loops.
    parallel : packing and nest are shared by threads.
    """
    loops = _ordered(match, _nest(match), cache_bytes)
    if not emulated and _blockable(match):
        loops = _blocked(match, loops, unroll)
    places = tuple(_place(match, v.name, loops, emulated) for v in match.intrinsic.parsed.operands)
    return Plan(match=match, loops=tuple(loops), places=places, parallel=parallel)


def _nest(match: Match) -> list[NestLoop]:
    written = match.fragment.loops_of(content_of(match, match.intrinsic.output.name))
    loops = []
    for name in match.outer:
        extent = match.fragment.loop(name).extent
        if extent > 1:
            loops.append(NestLoop(name=f"o_{name}", count=extent, source=name, reduction=name not in written))
    for at, group in enumerate(match.groups):
        count = -(-match.fused_extent(at) // match.extent(at))
        if count > 1:
            loops.append(NestLoop(name=f"t_{'_'.join(group.dimensions)}", count=count, group=at,
                                  reduction=match.intrinsic.output.name not in group.indexes or match.is_partial(at)))
    return loops


def _ordered(match: Match, loops: list[NestLoop], cache_bytes: int) -> list[NestLoop]:
    """Spatial loops first, in the order that moves the fewest bytes past the cache; then the reductions.

    An operand that a loop does not change is read again in every iteration of that loop, past the cache unless all
    that one iteration touches fits (the reuse argument of Wolf and Lam, PLDI 1991, section 2).
    """
    spatial = [loop for loop in loops if not loop.reduction]
    reductions = [loop for loop in loops if loop.reduction]
    if len(spatial) > MAX_ORDERED:
        return spatial + reductions
    orders = itertools.permutations(spatial)
    best = min(orders, key=lambda order: _bytes_moved(match, [*order, *reductions], cache_bytes))
    return [*best, *reductions]


def _bytes_moved(match: Match, order: list[NestLoop], cache_bytes: int) -> int:
    operands = match.intrinsic.parsed.operands
    touched = {v.name: v.elements * v.dtype.bytes for v in operands}   # below the current loop
    moved = dict(touched)
    for loop in reversed(order):
        fits = sum(touched.values()) <= cache_bytes
        for v in operands:
            if uses(match, v.name, loop):
                touched[v.name] *= loop.count
                moved[v.name] *= loop.count
            elif not fits:
                moved[v.name] *= loop.count
    return sum(moved.values())


def _register_order(loops: Iterable[NestLoop]) -> tuple[NestLoop, ...]:
    """The most unrolled loop outermost: what only the inner one changes stays in fewer registers."""
    return tuple(sorted(loops, key=lambda loop: -loop.unroll))


def _blockable(match: Match) -> bool:
    return all("{register}" in o.register.load for o in match.intrinsic.operands)


def _blocked(match: Match, loops: list[NestLoop], wanted: tuple[int, int] | None) -> list[NestLoop]:
    """Unroll the two spatial loops that save the most loads within the register budget."""
    spatial = [loop for loop in loops if not loop.reduction]
    best: tuple[float, tuple[NestLoop, ...]] = (math.inf, ())
    for pair in [*itertools.combinations(spatial, 2), *((loop,) for loop in spatial)]:
        for factors in itertools.product(*(_factors(loop) for loop in pair)):
            if wanted is not None and factors != wanted[: len(factors)]:
                continue
            chosen = tuple(replace(loop, unroll=f) for loop, f in zip(pair, factors, strict=True))
            registers, loads = _pressure(match, chosen)
            if registers <= min(o.register.count for o in match.intrinsic.operands):
                wasted = math.prod(loop.blocks * loop.unroll / loop.count for loop in chosen)
                if any(loop.count % loop.unroll for loop in chosen):
                    wasted *= RAGGED_COST   # operands that could be read in place are packed
                best = min(best, (loads * wasted, chosen), key=lambda b: b[0])
    names = {loop.name: loop for loop in best[1]}
    return [names.get(loop.name, loop) for loop in loops]


def _factors(loop: NestLoop) -> Iterator[int]:
    yield from range(1, min(MAX_UNROLL, loop.count) + 1)


def _pressure(match: Match, unrolled: tuple[NestLoop, ...]) -> tuple[int, float]:
    """Registers that live at once, and cost of loads per execution; an accumulator short of the latency costs too."""
    unrolled = _register_order(loop for loop in unrolled if loop.unroll > 1)
    executions = math.prod(loop.unroll for loop in unrolled)
    held, loads = 0, 0.0
    inner = unrolled[-1:] if unrolled else ()
    for operand in match.intrinsic.operands:
        mine = math.prod(loop.unroll for loop in unrolled if uses(match, operand.name, loop))
        if operand.name == match.intrinsic.output.name:
            held += mine
            continue
        loads += mine
        kept = math.prod(loop.unroll for loop in inner if uses(match, operand.name, loop))
        held += kept if mine == kept else 1
    cost = match.intrinsic.cost
    starved = max(1.0, cost.latency_cycles / cost.issue_cycles / executions)
    return held, loads / executions + starved


def _place(match: Match, operand: str, loops: list[NestLoop], emulated: bool) -> Place:
    layout = next(v for v in match.layouts if v.operand == operand)
    variable = match.intrinsic.parsed.operand(operand)
    mine = [loop for loop in loops if uses(match, operand, loop)]
    natural = match.intrinsic.row_bytes(operand)
    held = content_of(match, operand)
    whole = all(loop.count % loop.unroll == 0 for loop in mine)
    partial = operand == match.intrinsic.output.name and any(map(match.is_partial, range(len(match.groups))))
    if not partial and layout.mode in (LoadMode.DIRECT, LoadMode.BROADCAST) and whole and isinstance(held, Load) \
            and _same_bits(match, operand, held):
        direct = _direct(match, operand, held, mine, 0)
        if operand != match.intrinsic.output.name and not emulated and _walks_pages(match, operand, loops, direct):
            return _packed(match, operand, mine)
        row = (layout.strides[0] or 0) * variable.dtype.bytes if layout.strides else natural
        if not emulated or row == natural or len(variable.shape) < 2:
            return _direct(match, operand, held, mine, row)
    return _packed(match, operand, mine)


def _walks_pages(match: Match, operand: str, loops: list[NestLoop], direct: Place) -> bool:
    """Whether a direct operand would be read again and again with strides that waste the TLB and cache sets."""
    width = match.intrinsic.parsed.operand(operand).dtype.bytes
    steps = [direct.block_strides[loop.name] * width for loop in loops
             if loop.reduction and loop.name in direct.block_strides and loop.count > 8]
    reuse = math.prod(loop.blocks for loop in loops if not loop.reduction and loop.name not in direct.block_strides)
    return reuse >= 4 and any(abs(step) >= LONG_STRIDE_BYTES for step in steps)


def _packed(match: Match, operand: str, mine: list[NestLoop]) -> Place:
    """A buffer with one block per point of the operand's loops, unrolled parts innermost."""
    natural = match.intrinsic.row_bytes(operand)
    blocks: dict[str, int] = {}
    unrolled: dict[str, int] = {}
    size = match.intrinsic.parsed.operand(operand).elements
    for loop in reversed(mine):
        if loop.unroll > 1:
            unrolled[loop.name] = size
            size *= loop.unroll
    for loop in reversed(mine):
        blocks[loop.name] = size
        size *= loop.blocks
    return Place(operand=operand, packed=True, block_strides=blocks, unrolled_strides=unrolled, base=0, elements=size,
                 row_stride_bytes=natural)


def _same_bits(match: Match, operand: str, held: Load) -> bool:
    return held.dtype == match.intrinsic.parsed.operand(operand).dtype


def _direct(match: Match, operand: str, held: Load, mine: list[NestLoop], row: int) -> Place:
    blocks, unrolled = {}, {}
    steps = match.fragment.memory_steps[held.reference] or {}
    for loop in mine:
        if loop.group < 0:
            one = steps.get(loop.source, 0)
        else:
            members = [n for n in match.loops[loop.group] if match.fragment.loop(n).extent > 1]
            one = steps.get(members[-1], 0) * match.extent(loop.group)
        unrolled[loop.name] = one
        blocks[loop.name] = one * loop.unroll
    return Place(operand=operand, packed=False, block_strides=blocks, unrolled_strides=unrolled,
                 base=first_element(match, held), elements=0, row_stride_bytes=row)


def first_element(match: Match, held: Load) -> int:
    """Position in memory of the element that the first iteration of every loop accesses."""
    strides, steps = match.fragment.array_strides[held.reference], match.fragment.memory_steps[held.reference]
    assert strides is not None
    assert steps is not None
    subscripts = match.fragment.statement.access(held.reference).subscripts
    base = sum(step * match.fragment.constant(subscript) for step, subscript in zip(strides, subscripts, strict=True))
    return base + sum(loop.lower * steps.get(loop.name, 0) for loop in match.fragment.loops)
