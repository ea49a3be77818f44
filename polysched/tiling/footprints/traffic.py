"""How many bytes a loop structure moves into a cache, by footprints and reuse.

A structure is the sequence of loops around the statements, outermost first; each advances one loop of a
`Nest` by a step.  Going outward from the statements, the working set of the loops inside grows; the
innermost part that still fits is loaded once and stays while the loops directly outside do not move it.

Source: R. Li, Y. Xu, A. Sukumaran-Rajam, A. Rountev, P. Sadayappan, "Analytical Characterization and Design
Space Exploration for Optimization of CNNs", ASPLOS 2021, sections 3 and 4 (data volume by permutation);
A. Olivry, G. Iooss, N. Tollenaere, A. Rountev, P. Sadayappan, F. Rastello, "IOOpt: Automatic Derivation of
I/O Complexity Bounds for Affine Programs", PLDI 2021, section 5 (upper bounds).
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from math import ceil, prod

from polysched.records import dataclass
from polysched.target.target import CacheLevel
from polysched.tiling.footprints.conflicts import most_rows
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.references import Reference
from polysched.tiling.limits import LIMITS


@dataclass(frozen=True)
class Level:
    """One loop of a structure: which loop of the nest advances, and by how many of its iterations."""

    loop: int
    step: int


def footprint_bytes(reference: Reference, edges: tuple[int, ...], line_bytes: int, *, joined: bool = False) -> int:
    """Bytes, in whole cache lines, that a box of iterations with these edges touches.

    The last dimension with more than one element is contiguous: a run of k elements lies, on average over its
    alignment, on one line less an element more than its own length.

    Parameters
    ----------
    joined : rows that follow one another share the line between them; else each counts for itself, as when edges are
        chosen.
    """
    return _footprint_bytes(reference.form, edges, line_bytes, joined)


@lru_cache(maxsize=LIMITS.kept_footprints)
def _footprint_bytes(reference: Reference, edges: tuple[int, ...], line_bytes: int, joined: bool) -> int:
    """As `footprint_bytes`, kept: many references of a program differ in nothing that counts here."""
    if reference.whole:
        return reference.bytes_reached
    if not reference.coefficients:
        return reference.element_bytes
    lengths = _lengths(reference, edges)
    run = lengths[reference.row_dim]
    rows = max(1, _elements(reference, edges, lengths) // run)
    alone = run * reference.element_bytes + line_bytes - reference.element_bytes
    pitch = reference.row_elements * reference.element_bytes
    if not joined or reference.coupled or not pitch or len(lengths) + reference.row_dim < 1:
        return rows * alone
    together = lengths[reference.row_dim - 1]   # rows one behind the other: a gap shorter than a line skips none
    return rows // together * ((together - 1) * min(alone, pitch) + alone)


def _elements(reference: Reference, edges: tuple[int, ...], lengths: list[int]) -> int:
    """Elements that a box of iterations touches, of these lengths per dimension of the array."""
    elements = prod(lengths)
    if not reference.coupled:
        return elements
    touched = prod(edge for loop, edge in enumerate(edges) if reference.moves_with(loop))
    return min(elements, touched * reference.most_places)


def rows_fit(nest: Nest, edges: tuple[int, ...], cache: CacheLevel) -> bool:
    """Whether the rows that a box of iterations with these edges touches find room in the sets that they share.

    Only rows of which less than half is touched: whole rows lie one behind the other, in all sets alike.
    """
    for reference in nest.references:
        most = None if reference.whole else most_rows(reference, cache)
        if most is None:
            continue
        lengths = _lengths(reference, edges)
        rows, run = lengths[:reference.row_dim], lengths[reference.row_dim]
        if 2 * run <= reference.row_elements and prod(rows) > most:
            return False
    return True


def _lengths(reference: Reference, edges: tuple[int, ...]) -> list[int]:
    """Elements per dimension of the array that a box of iterations touches."""
    return [min(most, 1 + span + sum(coefficient * (edges[loop] - 1) for loop, coefficient in row))
            for row, span, most in zip(reference.movers, reference.spans, reference.reach, strict=True)]


def transfers(reference: Reference) -> int:
    """How often a line crosses the boundary: written lines come in and go out again."""
    return 2 if reference.writes else 1


def working_set_bytes(nest: Nest, edges: tuple[int, ...], line_bytes: int) -> int:
    """Bytes that a box of iterations touches, all references together."""
    return sum(footprint_bytes(r, edges, line_bytes) for r in nest.references)


def traffic_bytes(nest: Nest, structure: tuple[Level, ...], capacity_bytes: int,
                  line_bytes: int, cache: CacheLevel | None = None, *, in_box: bool = True,
                  boxes: Boxes | None = None) -> tuple[int, ...]:
    """Bytes moved into (and for written data out of) a cache of the given capacity, per reference of the nest.

    Parameters
    ----------
    cache : rows that share its sets fit only as far as its ways do; None where sets are of no matter.
    in_box : for instances that fill the bounding box of the loops, and rows apart, as edges are chosen; else for those
        that there are, and rows that share lines, which takes longer.
    boxes : `Boxes.of(nest, structure)`, for who asks about several caches.
    """
    boxes = boxes or Boxes.of(nest, structure, joined=not in_box)
    inside = boxes.inside
    fits = next((k for k, edges in enumerate(inside) if boxes.working_set_bytes(k, line_bytes) <= capacity_bytes
                 and (cache is None or rows_fit(nest, edges, cache))), len(structure))
    moved = (_moved(number, boxes, structure, fits, line_bytes) for number in range(len(nest.references)))
    return tuple(transfers(reference) * (size if in_box else ceil(size * share_of_box(nest, reference, repeating)))
                 for reference, (size, repeating) in zip(nest.references, moved, strict=True))


def share_of_box(nest: Nest, reference: Reference, repeating: frozenset[int]) -> float:
    """How much of what a box of instances would touch, anew for all values of some loops, the instances do touch."""
    if nest.counted is None or reference.whole:
        return 1.0
    found = nest.counted.touched(reference, repeating)
    if found is None:
        return 1.0
    alone, touched = found
    edges = tuple(1 if loop in repeating else extent for loop, extent in enumerate(nest.extents))
    box = prod(nest.extents[loop] for loop in repeating) * _elements(alone, edges, _lengths(alone, edges))
    return min(1.0, touched / box)


@dataclass(frozen=True, kw_only=True)
class Boxes:
    """What runs inside the loops of a structure.

    Parameters
    ----------
    inside : entry k: how many iterations of each loop of the nest run inside the loops k, k + 1, ... together.
    joined : as for `footprint_bytes`.
    """

    nest: Nest
    inside: tuple[tuple[int, ...], ...]
    joined: bool = False
    _bytes: dict[tuple[int, int], int] = field(default_factory=dict, repr=False, compare=False)
    _footprints: dict[tuple[int, tuple[int, ...], int], int] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def of(nest: Nest, structure: tuple[Level, ...], *, joined: bool = False) -> Boxes:
        """The boxes of a structure, outermost first."""
        edges = list(nest.extents)
        inside = [tuple(edges)]
        for level in structure:
            edges[level.loop] = min(level.step, edges[level.loop])
            inside.append(tuple(edges))
        return Boxes(nest=nest, inside=tuple(inside), joined=joined)

    def working_set_bytes(self, k: int, line_bytes: int) -> int:
        """Bytes that entry k touches, counted once."""
        found = self._bytes.get((k, line_bytes))
        if found is None:
            found = self._bytes[k, line_bytes] = sum(
                self.footprint_bytes(number, self.inside[k], line_bytes) for number in range(len(self.nest.references)))
        return found

    def footprint_bytes(self, number: int, edges: tuple[int, ...], line_bytes: int) -> int:
        """Bytes that the reference of this number touches in a box, counted once."""
        found = self._footprints.get((number, edges, line_bytes))
        if found is None:
            found = self._footprints[number, edges, line_bytes] = footprint_bytes(
                self.nest.references[number], edges, line_bytes, joined=self.joined)
        return found


def _moved(number: int, boxes: Boxes, structure: tuple[Level, ...], fits: int, line_bytes: int
           ) -> tuple[int, frozenset[int]]:
    """Bytes of the reference of this number, and the loops for each of whose values they move anew."""
    reference, inside, outer = boxes.nest.references[number], boxes.inside, fits
    while outer > 0 and not reference.moves_with(structure[outer - 1].loop):
        outer -= 1
    if outer == 0:
        return boxes.footprint_bytes(number, inside[fits], line_bytes), frozenset()
    # along the nearest loop that moves it, neighbouring boxes overlap: count their union once
    edges = list(inside[fits])
    moving = structure[outer - 1].loop
    edges[moving] = inside[outer - 1][moving]
    over, under = 1, 1   # how often it comes in, as a fraction: integers are exact, and quicker than fractions
    for k in range(outer - 1):
        iterations, step = inside[k][structure[k].loop], min(structure[k].step, inside[k][structure[k].loop])
        if reference.moves_with(structure[k].loop):   # a partial last box counts as such where it is smaller
            over, under = over * iterations, under * step
        else:
            over *= -(-iterations // step)
    repeating = frozenset(structure[k].loop for k in range(outer - 1))
    return over * boxes.footprint_bytes(number, tuple(edges), line_bytes) // under, repeating


def structure_of(edges_by_level: tuple[tuple[int, ...], ...], orders: tuple[tuple[int, ...], ...],
                 depth: int) -> tuple[Level, ...]:
    """The loops of several tile levels, outermost level first, above the loops of single iterations.

    Parameters
    ----------
    edges_by_level : tile edges per level.
    orders : the order of the loops per level, and last the order of the point loops.
    """
    levels = [Level(loop, edges[loop]) for edges, order in zip(edges_by_level, orders, strict=False) for loop in order]
    points = orders[len(edges_by_level)] if len(orders) > len(edges_by_level) else tuple(range(depth))
    return (*levels, *(Level(loop, 1) for loop in points))
