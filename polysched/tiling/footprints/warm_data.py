"""What a nest finds in a cache because an earlier nest touched it in the same iteration of the loops around both.

    for i:                      one row of A, x and y fit the first cache together:
        for j: r += A[i][j] * x[j]
        for j: y[j] += A[i][j] * r        the second loop finds row i of A there

Apart, with a loop over i each, both load the whole matrix.  Source: K. McKinley, S. Carr, C.-W. Tseng, "Improving data
locality with loop transformations", TOPLAS 18(4), 1996, section 3 (reuse between nests, and fusion for it).
"""

from __future__ import annotations

from collections.abc import Sequence

from polysched.records import dataclass
from polysched.scheduling.tree.loop_tree import Band
from polysched.target.target import Target
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.references import Reference
from polysched.tiling.footprints.traffic import Level, footprint_bytes


@dataclass(frozen=True, eq=False, kw_only=True)
class PlacedNest:
    """A nest in its tree: the loops around its statements, and what each of them advances."""

    loops: tuple[Band, ...]
    nest: Nest
    levels: tuple[Level, ...]

    def edges_inside(self, depth: int) -> tuple[int, ...]:
        """Iterations of each loop of the nest that run within one iteration of the outermost `depth` loops."""
        edges = list(self.nest.extents)
        for level in self.levels[:depth]:
            edges[level.loop] = min(level.step, edges[level.loop])
        return tuple(edges)


def warm_references(before: Sequence[PlacedNest], here: PlacedNest, target: Target) -> tuple[frozenset[int], ...]:
    """Per cache of the target, the references of a nest whose data an earlier nest has left there.

    Parameters
    ----------
    before : the nests that run earlier in the tree, in order.
    """
    found: list[set[int]] = [set() for _ in target.caches]
    between = [here]
    for earlier in reversed(before):
        depth = _common(earlier, here)
        if not depth:
            break
        between.append(earlier)
        shared = [k for k, reference in enumerate(here.nest.references)
                  if any(_covers(earlier, other, here, reference, depth) for other in earlier.nest.references)]
        for cache, warm in zip(target.caches, found, strict=True):
            if shared and _touched(between, depth, cache.line_bytes) <= cache.size_bytes // cache.shared_by:
                warm.update(shared)
    return tuple(frozenset(warm) for warm in found)


def _common(one: PlacedNest, other: PlacedNest) -> int:
    """How many of the outermost loops are the same."""
    depth = 0
    for a, b in zip(one.loops, other.loops, strict=False):
        if a is not b:
            break
        depth += 1
    return depth


def _touched(nests: Sequence[PlacedNest], depth: int, line_bytes: int) -> int:
    """Bytes that the nests touch in one iteration of the outermost loops; an array counts once."""
    arrays: dict[str, int] = {}
    for placed in nests:
        edges = placed.edges_inside(depth)
        own: dict[str, int] = {}
        for reference in placed.nest.references:
            own[reference.array] = own.get(reference.array, 0) + footprint_bytes(reference, edges, line_bytes)
        arrays |= {array: max(size, arrays.get(array, 0)) for array, size in own.items()}
    return sum(arrays.values())


def _covers(earlier: PlacedNest, other: Reference, here: PlacedNest, reference: Reference, depth: int) -> bool:
    """Whether an earlier reference touches what one reads anew, in the same iteration of the common loops.

    Accesses a few rows or elements beside each other count as one: what lies beside was touched an iteration before.
    """
    if other.array != reference.array or reference.writes or other.whole or reference.whole:
        return False
    common = zip(earlier.levels[:depth], here.levels[:depth], strict=True)
    if any(o[a.loop] != r[b.loop] for a, b in common
           for o, r in zip(other.coefficients, reference.coefficients, strict=True)):
        return False
    return all(mine <= theirs for mine, theirs in zip(_extents(here, reference, depth), _extents(earlier, other, depth),
                                                      strict=True))


def _extents(placed: PlacedNest, reference: Reference, depth: int) -> list[int]:
    edges = placed.edges_inside(depth)
    return [1 + sum(abs(c) * (edge - 1) for c, edge in zip(row, edges, strict=True)) for row in reference.coefficients]
