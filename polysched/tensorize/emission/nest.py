"""The loops around the instruction, and what an operand has to do with each of them."""

from __future__ import annotations

from functools import lru_cache

from polysched.records import dataclass
from polysched.scop.body import Expr, IteratorRef, Load, walk
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.operand_layout import uniform_step
from polysched.tensorize.proofs.correspondence import is_shared
from polysched.tensorize.software.sizes import argument_of, is_general, may_exceed


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
    tile : 0, or after how many blocks a loop around the whole nest takes over, so that caches hold what is reused.
    first : the iteration that it starts with, where it is the last part of a loop.
    """

    name: str
    count: int
    source: str = ""
    group: int = -1
    reduction: bool = False
    unroll: int = 1
    tile: int = 0
    first: int = 0

    @property
    def blocks(self) -> int:
        """Iterations after unrolling; the last block may be partly padding."""
        return -(-self.count // self.unroll)

    @property
    def tiles(self) -> int:
        """Iterations of the loop around the nest; 1 without one."""
        return -(-self.blocks // self.tile) if self.tile else 1


def nest_loops(match: Match) -> list[NestLoop]:
    """One loop per loop of the program that stayed outside, and one over the tiles of every group."""
    written = match.fragment.loops_of(content_of(match, match.intrinsic.output.name))
    loops = []
    for name in match.outer:
        extent = match.fragment.loop(name).extent
        if may_exceed(extent, 1):
            loops.append(NestLoop(name=f"o_{name}", count=extent, source=name, reduction=name not in written))
    for at, group in enumerate(match.groups):
        count = -(-match.fused_extent(at) // match.extent(at))
        if may_exceed(count, 1):
            loops.append(NestLoop(name=f"t_{'_'.join(group.dimensions)}", count=count, group=at,
                                  reduction=match.intrinsic.output.name not in group.indexes or match.is_partial(at)))
    return loops


def uses(match: Match, operand: str, loop: NestLoop) -> bool:
    """Whether an operand changes with a loop."""
    return operand in _moved(match, loop.group, loop.source)


@lru_cache(maxsize=256)   # models of caches ask some hundred thousand times for one program
def _moved(match: Match, group: int, source: str) -> frozenset[str]:
    """The operands that change with a loop over the tiles of a group, or with a loop of the program."""
    if group >= 0:
        accumulated = {match.intrinsic.output.name} if match.is_partial(group) else set()
        return frozenset(o for o in match.groups[group].indexes if not _is_repeated(match, o, group)) - accumulated
    return frozenset(o for o, held in match.contents.items() if source in match.fragment.loops_of(held))


def _is_repeated(match: Match, operand: str, group: int) -> bool:
    """Whether an input holds the same in every tile of a group, so that one copy serves all: `x[k]` in lanes along i.

    Lanes behind the last iteration hold it, too, which does no harm where the group tells elements of the result
    apart: these are not stored.
    """
    loops, told = match.loops[group], match.intrinsic.output.name in match.groups[group].indexes
    return told and not match.is_partial(group) and operand not in match.written \
        and not match.fragment.loops_of(content_of(match, operand)) & {*loops} \
        and not is_shared(match.intrinsic, operand) and match.holds_box(operand)


def content_of(match: Match, operand: str) -> Expr:
    """What an operand holds, results included."""
    return match.contents[operand]


def loaded(match: Match, operand: str) -> frozenset[str]:
    """The accesses of the program that an operand's elements come from; equal elements have one reference."""
    return frozenset(x.reference for x in walk(content_of(match, operand)) if isinstance(x, Load))


def copied_element(match: Match, operand: str) -> Load | None:
    """The one element of an array that each element of an operand is computed from; None when there are several.

    Bytes that an instruction wants wider are such a function, and offsets that are subtracted from them.
    """
    held = content_of(match, operand)
    parts = list(walk(held))
    loads = {x for x in parts if isinstance(x, Load)}
    moved = any(isinstance(x, IteratorRef) for x in parts)
    if len(loads) != 1 or moved:
        return None
    wanted = match.intrinsic.parsed.operand(operand).dtype
    (load,) = loads
    if operand in match.written and load.dtype != wanted:
        return None
    return load


def tile_loop(loops: list[NestLoop], group: int) -> NestLoop | None:
    """The loop over the tiles of a group; None when one tile holds it."""
    return next((loop for loop in loops if loop.group == group), None)


def first_element(match: Match, held: Load) -> int:
    """Position in memory of the element that the first iteration of every loop accesses."""
    strides, steps = match.fragment.array_strides[held.reference], match.fragment.memory_steps[held.reference]
    assert strides is not None
    assert steps is not None
    base = sum(step * match.fragment.constant(held.reference, at) for at, step in enumerate(strides))
    return base + sum(loop.lower * steps.get(loop.name, 0) for loop in match.fragment.loops)


def moving_terms(match: Match, held: Load) -> tuple[str, ...]:
    """What the iterators of the kept loops add to `first_element`, as C over the arguments of the functions."""
    steps = match.fragment.memory_steps[held.reference]
    assert steps is not None
    lowers = {n: match.fragment.loop(n).lower for n in match.fragment.kept}
    return tuple(f"({argument_name(n)} - {low}) * {steps[n]}" if low else f"{argument_name(n)} * {steps[n]}"
                 for n, low in lowers.items() if steps.get(n))


def argument_name(iterator: str) -> str:
    """The argument that tells a function the iteration of a kept loop."""
    return f"ps_in_{iterator}"


def kept_parameters(match: Match) -> list[str]:
    """Declarations of these arguments, and of the sizes known at run time, behind those of the arrays."""
    sizes = [f"long {argument} __attribute__((unused))" for argument in size_arguments(match)]
    return [*(f"long {argument_name(n)}" for n in match.fragment.kept), *sizes]


def kept_arguments(match: Match) -> list[str]:
    """What a function hands on to another."""
    return [*(argument_name(n) for n in match.fragment.kept), *size_arguments(match)]


def size_arguments(match: Match) -> list[str]:
    """The arguments that tell functions the sizes known at run time."""
    return [argument_of(name) for name, value in match.fragment.sizes.items() if is_general(value)]


def group_step(match: Match, held: Load, group: int) -> int | None:
    """Elements in memory between neighbours along the fused index of a group; None when that is not constant."""
    steps = match.fragment.memory_steps[held.reference]
    if steps is None:
        return None
    return uniform_step(match.fragment, steps, match.loops[group])
