"""The layout of each operand, derived from the match: which array element each coordinate of the operand holds.

The relation maps `[outer, tile] , coordinate` to the element; when an element moves by the same distance in memory as
the coordinate does in the operand, the program's array can be loaded as it lies.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polysched.scop.body import Load
from polysched.tensorize.fragment import Fragment
from polysched.tensorize.intrinsic import LoadMode

if TYPE_CHECKING:
    from polysched.tensorize.match import Match


@dataclass(frozen=True, eq=False, kw_only=True)
class OperandLayout:
    """Where an operand's elements come from; tiles of the result that are partly padding may still be written in place.

    Parameters
    ----------
    operand : the instruction's operand.
    array : the array, or "" for an expression or a constant.
    mode : DIRECT (lies in memory as the instruction reads it), BROADCAST (every lane the same), or PACKED.
    strides : elements between neighbours along each subscript of the operand; None where that is not constant.
    packed_elements : elements copied over the whole program, padding included; 0 unless packed.
    least_elements : those of the array itself, where another order of its dimensions may do.
    """

    operand: str
    array: str
    mode: LoadMode
    strides: tuple[int | None, ...]
    packed_elements: int
    least_elements: int

    def to_json(self) -> dict[str, Any]:
        """The layout as plain values."""
        return {"array": self.array, "mode": self.mode.value, "strides": list(self.strides),
                "packed_elements": self.packed_elements}


def operand_layout(match: Match, operand: str) -> OperandLayout:
    """The layout of one operand."""
    variable = match.intrinsic.parsed.operand(operand)
    e = Load(match.fragment.target, variable.dtype) if variable.written else match.assignment.expression(operand)
    element = next(x for x in (match.intrinsic.contraction.output, *match.intrinsic.contraction.inputs)
                   if x.array == operand)
    strides: list[int | None] = []
    for subscript in element.subscripts:
        group = next((g for g, part in enumerate(match.groups) if subscript.names & set(part.dimensions)), None)
        strides.append(0 if group is None else _stride(match, e, group, subscript.names) if isinstance(e, Load)
                       else None)
    array = match.fragment.statement.access(e.reference).array if isinstance(e, Load) else ""
    mode = _mode(match, operand, strides, e)
    copied = 0 if mode in (LoadMode.DIRECT, LoadMode.BROADCAST) else _elements(match, operand)
    return OperandLayout(operand=operand, array=array, mode=mode, strides=tuple(strides), packed_elements=copied,
                         least_elements=min(copied, _touched(match, e)) if isinstance(e, Load) else copied)


def _stride(match: Match, e: Load, group: int, dimensions: frozenset[str]) -> int | None:
    """Distance in memory between neighbours along one dimension of a group; None when it is not constant."""
    if len(dimensions) > 1:
        return None
    part = match.groups[group]
    inner = part.dimensions[part.dimensions.index(next(iter(dimensions))) + 1:]
    extents = {d.name: d.extent for d in match.intrinsic.contraction.dimensions}
    factor = 1
    for name in inner:
        extent = extents[name]
        if isinstance(extent, str):
            return None
        factor *= extent
    steps = match.fragment.memory_steps[e.reference]
    step = uniform_step(match.fragment, steps, match.loops[group]) if steps is not None else None
    return None if step is None else step * factor


def uniform_step(fragment: Fragment, steps: Mapping[str, int], loops: Sequence[str]) -> int | None:
    """Elements between neighbours along the fused index of some loops, outermost first; None when that is not constant.

    It is when every outer loop steps over exactly what the next inner one covers.
    """
    extents = [(steps.get(n, 0), fragment.loop(n).extent) for n in loops if fragment.loop(n).extent > 1]
    if any(outer != inner * extent for (outer, _), (inner, extent) in itertools.pairwise(extents)):
        return None
    return extents[-1][0] if extents else 0


def _mode(match: Match, operand: str, strides: list[int | None], e: object) -> LoadMode:
    variable = match.intrinsic.parsed.operand(operand)
    described = match.intrinsic.operand(operand).mode
    full = all(match.fused_extent(g) % match.extent(g) == 0 for g, part in enumerate(match.groups)
               if operand in part.indexes)
    if not isinstance(e, Load):
        return LoadMode.PACKED
    if match.intrinsic.library:
        return described if strides and strides[-1] == 1 and None not in strides else LoadMode.PACKED
    natural = _natural(variable.shape)
    fits = tuple(strides) == natural or (described is LoadMode.TILE and None not in strides
                                         and tuple(strides[1:]) == natural[1:])
    ragged = variable.written and all(len(part.dimensions) == 1 for part in match.groups if operand in part.indexes)
    if (full or ragged) and fits:
        return LoadMode.BROADCAST if described is LoadMode.BROADCAST else LoadMode.DIRECT
    return LoadMode.PACKED


def _natural(shape: tuple[int | str, ...]) -> tuple[int, ...]:
    sizes = [s for s in shape if isinstance(s, int)]
    return tuple(math.prod(sizes[i + 1:]) if sizes[i] > 1 else 0 for i in range(len(sizes)))


def _elements(match: Match, operand: str) -> int:
    """Elements of all tiles of an operand, each packed once."""
    total = 1
    for g, part in enumerate(match.groups):
        if operand in part.indexes:
            total *= -(-match.fused_extent(g) // match.extent(g)) * match.extent(g)
    e = Load(match.fragment.target, match.fragment.update.dtype) \
        if operand == match.intrinsic.output.name else match.assignment.expression(operand)
    for name in match.outer:
        if name in match.fragment.loops_of(e):
            total *= match.fragment.loop(name).extent
    return total




def _touched(match: Match, e: Load) -> int:
    """Elements in the box around all that an access reads."""
    total = 1
    for index in match.fragment.indices[e.reference]:
        total *= 1 + sum(abs(c) * (match.fragment.loop(n).extent - 1) for n, c in index.coefficients)
    return total
