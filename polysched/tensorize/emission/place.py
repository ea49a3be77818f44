"""Where each operand lies while the nest runs: in the program's array, or in a buffer that is filled before."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from polysched.records import dataclass
from polysched.scop.body import Binary, Load, walk
from polysched.tensorize.description.intrinsic import LoadMode
from polysched.tensorize.emission.copy_c import is_turned
from polysched.tensorize.emission.copy_plan import CopyPlan, block_copy, homes, operand_subscripts, window_copy
from polysched.tensorize.emission.nest import (
    NestLoop,
    content_of,
    copied_element,
    first_element,
    group_step,
    tile_loop,
    uses,
)
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.software.sizes import divides, is_general, same

LONG_STRIDE_LINES = LIMITS.long_stride_lines
LONG_ROW_LINES = LIMITS.long_row_lines


@dataclass(frozen=True, kw_only=True)
class InPlace:
    """The program's array as it lies, for those calls whose sizes let an operand be read there.

    Parameters
    ----------
    conditions : C over the sizes, all of which have to hold.
    steps : elements per iteration of each loop, by its name.
    base : elements from the start.
    copied : elements of the whole array, copied where the operand holds a function of each; 0 where it is read.
    shifted : unrolled loops whose last block may have less iterations; there it starts earlier, and ends with the loop.
    """

    conditions: tuple[str, ...]
    steps: Mapping[str, int]
    base: int
    shifted: frozenset[str]
    copied: int = 0


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
    copy : how the buffer is filled; None in place, and where only the element-by-element copy describes it.
    ragged : in place although its last tiles reach past the program's elements; those go through a small buffer.
    steps : of a buffer whose rows lie as those of the array: elements per iteration of each loop, which the nest gets
        as arguments; empty where strides stand in the code.
    in_place : the array, where calls may read it instead of the buffer.
    """

    operand: str
    packed: bool
    block_strides: Mapping[str, int]
    unrolled_strides: Mapping[str, int]
    base: int
    elements: int
    row_stride_bytes: int
    copy: CopyPlan | None = None
    ragged: bool = False
    steps: Mapping[str, int] = field(default_factory=dict)
    in_place: InPlace | None = None


def place_of(match: Match, operand: str, loops: list[NestLoop], *, emulated: bool) -> Place:
    """The place of an operand: in place where it lies right and is read sensibly, else packed with the least copying.

    Parameters
    ----------
    emulated : the emulator reads operands in their natural layout only.
    """
    mine = [loop for loop in loops if uses(match, operand, loop)]
    if _is_cut_out(match, operand):   # memory holds other values than zero where the domain ends
        return _packed(match, operand, mine, None)
    output = operand in match.written
    partial = output and match.adds_at_the_end
    direct = _direct(match, operand, mine, emulated=emulated) if not partial else None
    if direct is not None and (emulated or output or not _walks_pages(match, operand, loops, direct)):
        return direct
    source = copied_element(match, operand)
    if source is None or partial:
        return _packed(match, operand, mine, None)
    if output or emulated:
        return _packed(match, operand, mine, block_copy(match, operand, source, mine))
    return _copied_input(match, operand, source, loops)


def _copied_input(match: Match, operand: str, source: Load, loops: list[NestLoop]) -> Place:
    """The buffer of an input that is copied element by element."""
    mine = [loop for loop in loops if uses(match, operand, loop)]
    if rows := _in_rows(match, operand, source, loops):
        return rows
    blocks = block_copy(match, operand, source, mine)
    return _smaller_window(match, operand, source, mine, blocks) or _packed(match, operand, mine, blocks)


def _in_rows(match: Match, operand: str, source: Load, loops: list[NestLoop]) -> Place | None:
    """A buffer whose rows are those of the array, for a group of elements that is repeated in every lane; else None.

    Copying is fast, since neighbours stay neighbours, and where a call's sizes allow it the array itself is read: both
    differ in the distance of rows only, which only the running program knows.
    """
    mine = [loop for loop in loops if uses(match, operand, loop)]
    kind = match.intrinsic.operand(operand)
    if kind.mode is not LoadMode.BROADCAST or not kind.register.c_type or not is_general(*(x.count for x in mine)):
        return None
    copy = block_copy(match, operand, source, mine, rows=True)
    if copy is None or is_turned(copy) or not any(loop.reduction for loop in mine):
        return None
    rows = _packed(match, operand, mine, copy, rows=True)
    return replace(rows, in_place=_readable(match, operand, source, loops, rows.elements))


def _readable(match: Match, operand: str, held: Load, loops: list[NestLoop], most: int) -> InPlace | None:
    """Where an operand may be read as it lies, and under which conditions on the sizes; None where at no sizes.

    Parameters
    ----------
    most : elements of the buffer that would be filled instead.
    """
    mine = [loop for loop in loops if uses(match, operand, loop)]
    copied = _copied_elements(match, operand, held)
    if copied is None or not _lies_right(match, operand, held):
        return None
    conditions = [*_whole_groups(match, operand), *([] if same(copied, 0) else [f"{copied} <= {most}"])]
    partial = [loop for loop in mine if not divides(loop.unroll, loop.count)]
    shifted = frozenset(x.name for x in partial if _may_start_earlier(match, operand, x, loops))
    conditions += [f"{x.count} >= {x.unroll}" if x.name in shifted else f"{x.count} % {x.unroll} == 0" for x in partial]
    steps = {loop.name: _step(match, held, loop) for loop in mine}
    direct = Place(operand=operand, packed=False, unrolled_strides=steps, base=first_element(match, held), elements=0,
                   block_strides={loop.name: steps[loop.name] * loop.unroll for loop in mine},
                   row_stride_bytes=match.intrinsic.row_bytes(operand))
    if _walks_pages(match, operand, loops, direct):
        return None
    return InPlace(conditions=tuple(conditions), steps=steps, base=direct.base, shifted=shifted, copied=copied)


def _copied_elements(match: Match, operand: str, held: Load) -> int | None:
    """Elements of the array, where an operand holds a function of each; 0 of itself; None where they are not known."""
    if content_of(match, operand) == held and held.dtype == match.intrinsic.parsed.operand(operand).dtype:
        return 0
    whole = match.fragment.extents(match.fragment.statement.access(held.reference).array)
    return None if whole is None else math.prod(whole)


def _whole_groups(match: Match, operand: str) -> Iterator[str]:
    """Conditions under which executions need no padding of an operand."""
    for g, part in enumerate(match.groups):
        if operand in part.indexes and not divides(match.extent(g), match.fused_extent(g)):
            yield f"{match.fused_extent(g)} % {match.extent(g)} == 0"


def _lies_right(match: Match, operand: str, held: Load) -> bool:
    """Whether elements of an array are neighbours in memory as the instruction reads an operand that holds them."""
    subscripts = operand_subscripts(match, operand)
    if subscripts is None or match.fragment.memory_steps[held.reference] is None:
        return False
    for at, (name, extent) in enumerate(subscripts):
        group = next((g for g, part in enumerate(match.groups) if part.dimensions == (name,)), None)
        step = group_step(match, held, group) if group is not None else None
        if extent > 1 and (step is None or not same(step, math.prod(int(e) for _, e in subscripts[at + 1:]))):
            return False
    return True


def _may_start_earlier(match: Match, operand: str, loop: NestLoop, loops: list[NestLoop]) -> bool:
    """Whether the last block of a loop may repeat iterations: no other input knows the loop, results lie in place."""
    others = [o.name for o in match.intrinsic.operands if o.name != operand and uses(match, o.name, loop)]
    return loop.group < 0 and all(
        o in match.written and not _is_cut_out(match, o) and not match.adds_at_the_end
        and _direct(match, o, [x for x in loops if uses(match, o, x)], emulated=False) is not None for o in others)


def _smaller_window(match: Match, operand: str, source: Load, mine: list[NestLoop],
                    blocks: CopyPlan | None) -> Place | None:
    """The operand within its array in another order, where that copies fewer elements than blocks have; else None."""
    if any(isinstance(x, Binary) and x.op in ("/", "%") for x in walk(content_of(match, operand))):
        return None
    windows = window_copy(match, operand, source, mine)
    if windows is None or (blocks is not None and int(windows.elements) >= int(blocks.elements)):
        return None
    return _windowed(match, operand, source, mine, windows)


def _is_cut_out(match: Match, operand: str) -> bool:
    """Whether a buffer is filled element by element in any case: no box, a table, or negative zeros."""
    return operand in match.intrinsic.contraction.tables or not match.holds_box(operand) or (
        operand in match.padded_with_negative_zeros and not all(
            divides(match.extent(g), match.fused_extent(g)) for g, part in enumerate(match.groups)
            if operand in part.indexes))


def _direct(match: Match, operand: str, mine: list[NestLoop], *, emulated: bool) -> Place | None:
    """In the program's array; None where it does not lie as the instruction reads it."""
    held = content_of(match, operand)
    variable, layout = match.intrinsic.parsed.operand(operand), next(v for v in match.layouts if v.operand == operand)
    natural, output = match.intrinsic.row_bytes(operand), operand in match.written
    if layout.mode not in (LoadMode.DIRECT, LoadMode.BROADCAST) or not isinstance(held, Load) \
            or held.dtype != variable.dtype:
        return None
    row = (layout.strides[0] or 0) * variable.dtype.bytes if layout.strides else natural
    if emulated and row != natural and len(variable.shape) > 1:
        return None
    whole = is_whole(match, operand, mine)
    if not whole and (emulated or not (output or _has_whole_executions(match, operand, mine))):
        return None
    unrolled = {loop.name: _step(match, held, loop) for loop in mine}
    blocks = {loop.name: unrolled[loop.name] * loop.unroll for loop in mine}
    return Place(operand=operand, packed=False, block_strides=blocks, unrolled_strides=unrolled,
                 base=first_element(match, held), elements=0, row_stride_bytes=row, ragged=output and not whole)


def _step(match: Match, held: Load, loop: NestLoop) -> int:
    """Elements of the program's array from one execution to the next along a loop."""
    if loop.group >= 0:
        return (group_step(match, held, loop.group) or 0) * match.extent(loop.group)
    return (match.fragment.memory_steps[held.reference] or {}).get(loop.source, 0)


def _has_whole_executions(match: Match, operand: str, mine: list[NestLoop]) -> bool:
    """Whether only blocks of the program's own loops are ragged: their last iterations get a nest of their own."""
    return not is_general(*(loop.count for loop in mine)) and is_whole(
        match, operand, [loop for loop in mine if loop.group >= 0])


def is_whole(match: Match, operand: str, mine: list[NestLoop]) -> bool:
    """Whether blocks and executions hold iterations of the program only."""
    return all(divides(loop.unroll, loop.count) for loop in mine) and all(
        divides(match.extent(g), match.fused_extent(g)) for g, part in enumerate(match.groups)
        if operand in part.indexes)


def _walks_pages(match: Match, operand: str, loops: list[NestLoop], direct: Place) -> bool:
    """Whether a direct operand would be read again and again with strides that waste the TLB and cache sets.

    That is also so for every tile register whose rows lie far apart: no prefetcher follows them.
    """
    width = match.intrinsic.parsed.operand(operand).dtype.bytes
    steps = [int(direct.block_strides[loop.name]) * width for loop in loops
             if loop.reduction and loop.name in direct.block_strides and int(loop.count) >= LIMITS.least_far_steps]
    reuse = math.prod(int(loop.blocks) for loop in loops
                      if not loop.reduction and loop.name not in direct.block_strides)
    line = match.target.line_bytes
    far = match.intrinsic.operand(operand).mode is LoadMode.TILE and (
        int(direct.row_stride_bytes) >= LONG_ROW_LINES * line)
    return reuse >= LIMITS.least_far_reuse and (far or any(abs(step) >= LONG_STRIDE_LINES * line for step in steps))


def _packed(match: Match, operand: str, mine: list[NestLoop], copy: CopyPlan | None, *, rows: bool = False) -> Place:
    """A buffer with one block per point of the operand's loops, unrolled parts innermost.

    Parameters
    ----------
    rows : the unrolled part of a loop lies inside of its blocks instead.
    """
    natural = match.intrinsic.row_bytes(operand)
    blocks: dict[str, int] = {}
    unrolled: dict[str, int] = {}
    steps: dict[str, int] = {}
    size = match.intrinsic.parsed.operand(operand).elements
    for loop in reversed(mine) if not rows else ():
        if loop.unroll > 1:
            unrolled[loop.name] = size
            size *= loop.unroll
    for loop in reversed(mine):
        if rows:
            steps[loop.name] = unrolled[loop.name] = size
            size *= loop.unroll
        blocks[loop.name] = size
        size *= loop.blocks
    return Place(operand=operand, packed=True, block_strides=blocks, unrolled_strides=unrolled, base=0, elements=size,
                 row_stride_bytes=natural, copy=copy, steps=steps)


def _windowed(match: Match, operand: str, held: Load, mine: list[NestLoop], copy: CopyPlan) -> Place | None:
    """The operand within its array in another order; None when the instruction cannot read it there."""
    home = homes(match, operand, held)
    assert home is not None
    subscripts = operand_subscripts(match, operand)
    assert subscripts is not None
    windows = {match.groups[g].dimensions[0]: (at, c) for at, (g, c) in home.items()
               if len(match.fragment.indices[held.reference][at].coefficients) > 1}
    strides = [0 if not name else copy.stride_of(f"s{windows[name][0]}") * windows[name][1] if name in windows
               else copy.stride_of(f"d_{name}") for name, _ in subscripts]
    natural = [math.prod(e for _, e in subscripts[i + 1:]) if subscripts[i][0] else 0 for i in range(len(subscripts))]
    free = 1 if match.intrinsic.operand(operand).mode is LoadMode.TILE else 0
    if strides[free:] != natural[free:]:
        return None
    steps = _window_steps(match, held, copy)
    blocks, unrolled = {}, {}
    for loop in mine:
        one = steps.get(loop.source, 0) if loop.group < 0 else copy.stride_of(loop.name)
        if loop.group >= 0 and match.groups[loop.group].dimensions[0] in windows:
            at, c = windows[match.groups[loop.group].dimensions[0]]
            one = c * copy.stride_of(f"s{at}") * match.extent(loop.group)
        unrolled[loop.name] = one
        blocks[loop.name] = one * loop.unroll
    width = match.intrinsic.parsed.operand(operand).dtype.bytes
    return Place(operand=operand, packed=True, block_strides=blocks, unrolled_strides=unrolled,
                 base=_window_base(match, held, copy), elements=copy.elements,
                 row_stride_bytes=strides[0] * width, copy=copy)


def _window_steps(match: Match, held: Load, copy: CopyPlan) -> dict[str, int]:
    """Elements of the buffer per iteration of each loop of the program."""
    steps: dict[str, int] = {}
    for at, index in enumerate(match.fragment.indices[held.reference]):
        for name, c in index.coefficients:
            steps[name] = steps.get(name, 0) + c * copy.stride_of(f"s{at}")
    return steps


def _window_base(match: Match, held: Load, copy: CopyPlan) -> int:
    """Where the first iteration of every loop reads: behind the least value of subscripts with falling terms."""
    base = 0
    for at, index in enumerate(match.fragment.indices[held.reference]):
        falling = sum(-c * (match.fragment.loop(n).extent - 1) for n, c in index.coefficients if c < 0)
        base += falling * copy.stride_of(f"s{at}")
    return base


def edge_counts(match: Match, place: Place, mine: list[NestLoop]) -> list[tuple[NestLoop | None, int, int]]:
    """Per subscript of the result: the loop over its tiles, the elements per tile, and how many there are in all."""
    subscripts = operand_subscripts(match, place.operand) or []
    found: list[tuple[NestLoop | None, int, int]] = []
    for name, extent in subscripts:
        group = next((g for g, part in enumerate(match.groups) if name in part.dimensions), -1)
        found.append((tile_loop(mine, group), extent, match.fused_extent(group)) if group >= 0 else (None, extent, 1))
    return found
