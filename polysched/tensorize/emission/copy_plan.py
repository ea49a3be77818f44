"""How elements lie in an operand's buffer: a table of axes, each a part of one coordinate of the array.

A buffer is a dense block with axes, outermost first.  Positions along an axis count steps of a coordinate, which is
a loop outside, the fused index of a group, or a subscript of the array; several axes may share one (a tile number and
the digits within the tile).  Places whose coordinate is past its count are padding and stay zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from polysched.records import dataclass
from polysched.scop.body import Load
from polysched.tensorize.description.semantics import Affine
from polysched.tensorize.emission.nest import NestLoop, first_element, group_step, moving_terms, tile_loop
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.proofs.contents import places_of
from polysched.tensorize.proofs.correspondence import is_shared
from polysched.tensorize.software.fragment import Index
from polysched.tensorize.software.sizes import may_exceed


@dataclass(frozen=True, kw_only=True)
class Coordinate:
    """Positions 0 to `count - 1`; one step moves `step` elements in the array."""

    count: int
    step: int


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One dimension of a buffer: a step along it moves its coordinate by `weight` positions."""

    name: str
    coordinate: int
    weight: int
    extent: int


@dataclass(frozen=True, kw_only=True)
class CopyPlan:
    """Where every element of an array goes.

    Parameters
    ----------
    axes : of the buffer, outermost first, the last one dense.
    start : element of the array at position 0 of every coordinate.
    moving : what kept loops add to that, as C.
    """

    coordinates: tuple[Coordinate, ...]
    axes: tuple[Axis, ...]
    start: int
    moving: tuple[str, ...] = ()

    @property
    def elements(self) -> int:
        """Size of the buffer."""
        size = 1
        for axis in self.axes:
            size *= axis.extent
        return size

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements of the buffer per step of each axis."""
        return tuple(math.prod(a.extent for a in self.axes[at + 1:]) for at in range(len(self.axes)))

    def is_padded(self, coordinate: int) -> bool:
        """Whether some positions of the buffer lie behind the coordinate's last."""
        reach = sum(a.weight * (a.extent - 1) for a in self.axes if a.coordinate == coordinate)
        return may_exceed(reach + 1, self.coordinates[coordinate].count)

    def stride_of(self, name: str) -> int:
        """Elements of the buffer per step of the axis of this name; 0 when there is none."""
        return next((s for a, s in zip(self.axes, self.strides, strict=True) if a.name == name), 0)


def block_copy(match: Match, operand: str, held: Load, mine: Sequence[NestLoop], *,
               rows: bool = False) -> CopyPlan | None:
    """One dense block per execution, in the order in which the nest visits them; unrolled parts innermost.

    With `rows` the unrolled part of each loop lies inside of its blocks.  None when fused loops do not lie at one
    distance in memory, or a subscript of the operand mixes dimensions.
    """
    subscripts = operand_subscripts(match, operand)
    steps = match.fragment.memory_steps[held.reference]
    if subscripts is None or steps is None or not match.holds_box(operand):
        return None
    groups = [g for g, part in enumerate(match.groups) if operand in part.indexes]
    coordinates: list[Coordinate] = []
    weights: dict[str, tuple[int, int]] = {}
    for loop in mine:
        if loop.group < 0:
            weights[loop.name] = (len(coordinates), 1)
            coordinates.append(Coordinate(count=loop.count, step=steps.get(loop.source, 0)))
    digits: dict[str, tuple[int, int]] = {}
    for g in groups:
        step = group_step(match, held, g)
        if step is None:
            return None
        if tile := tile_loop(list(mine), g):
            weights[tile.name] = (len(coordinates), match.extent(g))
        digits |= {name: (len(coordinates), weight) for name, weight in digit_weights(match, g).items()}
        coordinates.append(Coordinate(count=match.fused_extent(g), step=step))
    axes = _axes_of_loops(mine, weights, rows=rows)
    axes += [Axis(name=f"d_{name}", coordinate=digits[name][0], weight=digits[name][1], extent=extent)
             for name, extent in subscripts if name]
    return CopyPlan(coordinates=tuple(coordinates), axes=tuple(axes), start=first_element(match, held),
                    moving=moving_terms(match, held))


def _axes_of_loops(mine: Sequence[NestLoop], weights: Mapping[str, tuple[int, int]], *, rows: bool) -> list[Axis]:
    """The axes of blocks and of their unrolled parts, as of `block_copy`.

    Parameters
    ----------
    weights : per loop its coordinate, and how many positions one iteration moves.
    """
    blocks = [Axis(name=loop.name, coordinate=weights[loop.name][0], weight=weights[loop.name][1] * loop.unroll,
                   extent=loop.blocks) for loop in mine]
    inside = [[Axis(name=f"u_{loop.name}", coordinate=weights[loop.name][0], weight=weights[loop.name][1],
                    extent=loop.unroll)] * (loop.unroll > 1) for loop in mine]
    if rows:
        return [axis for block, parts in zip(blocks, inside, strict=True) for axis in (block, *parts)]
    return [*blocks, *(axis for parts in inside for axis in parts)]


def window_copy(match: Match, operand: str, held: Load, mine: Sequence[NestLoop]) -> CopyPlan | None:
    """The array itself in another order of dimensions: the instruction's innermost, everything else around them.

    Convolutions read overlapping windows; blocks would copy every element once per window, this copies it once
    (NCHWc layouts, Georganas et al., SC 2018, section II.A).  A subscript that only one group's loop moves is cut into
    the digits of that group and padded with zeros; one that other loops move too stays whole, and serves one dimension
    of the result, whose padding is computed but not stored.  None where that does not describe the access.
    """
    subscripts = operand_subscripts(match, operand)
    if subscripts is None or not match.holds_box(operand) or match.fragment.memory_steps[held.reference] is None:
        return None
    home = homes(match, operand, held)
    if home is None:
        return None
    strides = match.fragment.array_strides[held.reference]
    assert strides is not None
    coordinates: list[Coordinate] = []
    axes: list[Axis] = []
    inner: dict[str, Axis] = {}
    start = 0
    for at, index in enumerate(match.fragment.indices[held.reference]):
        low, high, first = _range(match, held, at)
        group, coefficient = home.get(at, (-1, 0))
        if group >= 0 and len(index.coefficients) == 1:
            coordinates.append(Coordinate(count=match.fused_extent(group), step=coefficient * strides[at]))
            start += first * strides[at]
            if tile := tile_loop(list(mine), group):
                axes.append(Axis(name=tile.name, coordinate=at, weight=match.extent(group),
                                 extent=tile.blocks * tile.unroll))
            for name, weight in digit_weights(match, group).items():
                inner[name] = Axis(name=f"d_{name}", coordinate=at, weight=weight, extent=_extent(match, name))
            continue
        missing = _missing(index, mine)
        if missing is None:
            return None
        padded = high + missing
        if group >= 0:
            tile = tile_loop(list(mine), group)
            lanes = (tile.blocks * tile.unroll if tile else 1) * match.extent(group)
            padded += coefficient * (lanes - match.fused_extent(group))
        coordinates.append(Coordinate(count=high - low + 1, step=strides[at]))
        start += low * strides[at]
        whole = Axis(name=f"s{at}", coordinate=at, weight=1, extent=padded - low + 1)
        if group < 0:
            axes.append(whole)
        else:
            inner[match.groups[group].dimensions[0]] = whole
    axes += [inner[name] for name, _ in subscripts if name]
    return CopyPlan(coordinates=tuple(coordinates), axes=tuple(axes), start=start, moving=moving_terms(match, held))


def _missing(index: Index, mine: Sequence[NestLoop]) -> int | None:
    """How much further a subscript reaches in the last blocks of loops outside; None where that is ahead of all."""
    total = 0
    for loop in mine:
        moved = dict(index.coefficients).get(loop.source, 0) if loop.group < 0 and loop.unroll > 1 else 0
        if moved < 0:
            return None
        total += moved * (loop.blocks * loop.unroll - loop.count)
    return total


def homes(match: Match, operand: str, held: Load) -> dict[int, tuple[int, int]] | None:
    """Per subscript of the array the group whose loop moves it, and by how much; None when there is no such order."""
    indices = match.fragment.indices[held.reference]
    home: dict[int, tuple[int, int]] = {}
    for g, part in enumerate(match.groups):
        if operand not in part.indexes:
            continue
        loops = [n for n in match.loops[g] if match.fragment.loop(n).extent > 1]
        places = [(at, dict(i.coefficients)[loops[0]]) for at, i in enumerate(indices)
                  if loops and loops[0] in i.loops]
        if len(loops) != 1 or len(places) != 1 or places[0][0] in home:
            return None
        at, coefficient = places[0]
        alone = len(indices[at].coefficients) == 1
        if not alone and (coefficient <= 0 or len(part.dimensions) > 1
                          or match.intrinsic.output.name not in part.indexes or match.is_partial(g)):
            return None
        home[at] = (g, coefficient)
    return home


def _range(match: Match, held: Load, at: int) -> tuple[int, int, int]:
    """Least and greatest value of a subscript over all iterations, and its value at the first."""
    fragment = match.fragment
    index = fragment.indices[held.reference][at]
    constant = fragment.constant(held.reference, at)
    low = high = first = constant
    for name, c in index.coefficients:
        loop = fragment.loop(name)
        ends = (c * loop.lower, c * (loop.lower + loop.extent - 1))
        low, high, first = low + min(ends), high + max(ends), first + ends[0]
    return low, high, first


def operand_subscripts(match: Match, operand: str) -> list[tuple[str, int]] | None:
    """Per subscript of an operand its dimension and extent, "" for a constant 0; None when one is anything else.

    Subscripts that are another function of the dimensions, leave elements out or repeat a dimension have no dense copy,
    nor have operands with elements that several instances access.
    """
    element, *others = places_of(match.intrinsic.contraction, operand)
    if others or is_shared(match.intrinsic, operand):
        return None
    shape = match.intrinsic.parsed.operand(operand).shape
    extents = {d.name: d.extent for d in match.intrinsic.contraction.dimensions}
    found: list[tuple[str, int]] = []
    for subscript, extent in zip(element.subscripts, shape, strict=True):
        name = subscript.terms[0][0] if subscript.terms else ""
        counts = subscript == Affine(((name, 1),)) and extents[name] == extent and (name, extent) not in found
        if not counts and (subscript != Affine() or extent != 1):
            return None
        found.append((name, int(extent)))
    return found


def digit_weights(match: Match, group: int) -> dict[str, int]:
    """Per dimension of a group the steps of the fused index that one step of it makes, outermost first."""
    weights, size = {}, 1
    for name in reversed(match.groups[group].dimensions):
        weights[name] = size
        size *= _extent(match, name)
    return dict(reversed(weights.items()))


def _extent(match: Match, dimension: str) -> int:
    return next(int(d.extent) for d in match.intrinsic.contraction.dimensions if d.name == dimension)
