"""Features of a recipe: what the polyhedral model knows of its loops, for a learned correction of its projection."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from math import log2

from polysched.pipeline.recipe import Recipe
from polysched.search.bands import BandFacts
from polysched.search.space import Explorer
from polysched.tiling.footprints.conflicts import most_rows
from polysched.tiling.footprints.strides import Stride
from polysched.tiling.footprints.traffic import traffic_bytes, working_set_bytes
from polysched.tiling.options import BandOptions
from polysched.tiling.planning.band_plan import BandPlan, plan_structure

OF_LEVEL = ("footprint over capacity", "traffic over the lower bound")
OF_BAND = ("shortest row", "rows of a block", "columns of a block", "loads per multiply-add", "remainders",
           "references at other strides", "references that stay", "set conflicts", "parallel width", "imbalance",
           "team starts", "tiled loops")
OF_RECIPE = ("plain loops", "choices for bands", "packed operands", "flags", "split tiles", "diamonds")
OF_CODE = "spills"
"""The last one: counted after compiling, and until then guessed from code with the same register blocks."""
LEVELS = 3


def names() -> tuple[str, ...]:
    """What each number is; those of bands are weighted by the projected time."""
    levels = tuple(f"{name}, L{level + 1}" for level in range(LEVELS) for name in OF_LEVEL)
    return (*OF_RECIPE, *OF_BAND, *levels, OF_CODE)


def registers_of(explorer: Explorer, recipe: Recipe) -> Hashable:
    """What the spills of a recipe depend on most: its register blocks, its vectors, and the compiler's flags.

    Raises
    ------
    PolyschedError : the recipe makes no schedule.
    """
    blocks = []
    for band in explorer.bands(recipe):
        plan = None if band.choices.holds_loops else band.plan_of(recipe.bands.get(band.number))
        shape = plan.shape if plan is not None else None
        blocks.append(None if shape is None else (shape.row_count, shape.column_count))
    return (*blocks, recipe.vector_bits, recipe.flags)


def features_of(explorer: Explorer, recipe: Recipe) -> tuple[float, ...]:
    """The numbers of a recipe before it is compiled; those of bands are means weighted by the projected time.

    Raises
    ------
    PolyschedError : the recipe makes no schedule.
    """
    bands = [b for b in explorer.bands(recipe) if not b.choices.holds_loops]
    found: list[tuple[float, tuple[float, ...]]] = []
    for band in bands:
        chosen = recipe.bands.get(band.number)
        plan = band.plan_of(chosen)
        if plan is not None:
            found.append((band.seconds_of(chosen) or 0.0, tuple(_of_band(band, plan, chosen))))
    weight = sum(seconds for seconds, _ in found) or 1.0
    width = len(OF_BAND) + LEVELS * len(OF_LEVEL)
    means = tuple(sum(s * values[k] for s, values in found) / weight for k in range(width))
    return (*_of_recipe(recipe), *means)


def _of_recipe(recipe: Recipe) -> Iterator[float]:
    every = recipe.bands.values()
    yield float(recipe.vector_bits == 0)
    yield float(len(every))
    yield float(sum(len(own.packed) for own in every if isinstance(own.packed, tuple)))
    yield float(len(recipe.flags))
    yield float(any(own.split is True for own in every) or bool(recipe.split_tiles))
    yield float(any(own.diamond is True for own in every) or recipe.diamond)


def _of_band(band: BandFacts, plan: BandPlan, chosen: BandOptions | None) -> Iterator[float]:
    nest, target, shape = plan.nest, band.target, plan.shape
    structure = plan_structure(plan)
    last = structure[-1].loop
    edges = tuple(min(e or extent, extent) for e, extent in zip(plan.edges, nest.extents, strict=True))
    rows, columns = (shape.row_count, shape.column_count) if shape is not None else (1, target.lanes(
        8 * nest.element_bytes))
    yield log2(edges[last])
    yield float(rows)
    yield columns / target.lanes(8 * nest.element_bytes)
    yield (rows + columns) / (rows * columns)
    yield sum(1 - extent / (-(-extent // e) * e) for extent, e in zip(nest.extents, edges, strict=True))
    yield float(sum(r.stride(last) is Stride.OTHER for r in nest.references))
    yield float(sum(r.stride(last) is Stride.INVARIANT for r in nest.references))
    yield float(sum(most_rows(r, target.caches[0]) is not None for r in nest.references if not r.whole))
    width, teams = band.width_of(plan, chosen)
    yield log2(max(1.0, width))
    rounds = -(-width // target.cores)
    yield 1 - width / max(1.0, rounds * target.cores)
    yield log2(1 + teams)
    yield float(len(plan.order))
    for level in range(LEVELS):
        cache = target.caches[min(level, len(target.caches) - 1)]
        size = cache.size_bytes // cache.shared_by
        yield log2(1 + working_set_bytes(nest, edges, cache.line_bytes) / size)
        moved = sum(traffic_bytes(nest, structure, size, cache.line_bytes))
        yield log2(max(1.0, moved / max(1.0, band.least_bytes(nest, size))))
