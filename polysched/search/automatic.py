"""The automatic space: a union of rules, each an ordinary template that adds its choices to a recipe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.pipeline.recipe import Recipe
from polysched.search.bands import has_threads, is_innermost, is_over_time
from polysched.search.chooser import Chooser
from polysched.search.rewriting.partial_sums import split_reduction
from polysched.search.rewriting.producers import fusible_consumer, inline
from polysched.tensorize.decision import may_gain
from polysched.tensorize.options import DEFAULT, NONE
from polysched.tiling.options import BandOptions

Rule = Callable[[Chooser, Dependences, Recipe], Recipe]

POLICIES = ("smart", "max", "typed", "none")
"""Of fusion, that are tried."""


def fusion(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """Which nests share loops, and by which scheduler; of a program with several statements.

    What a rule before placed by steps stays there.
    """
    if len(dependences.scop.statements) < 2 or recipe.steps:
        return recipe
    rows = {name: replace(recipe, fusion=name) for name in POLICIES}
    rows |= {f"{name} scheduler": replace(recipe, scheduler=name) for name in ("isl", "feautrier")}
    return choose.scheduled("fusion", rows)


def concurrent_start(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """A schedule of least distance, or one whose tiles over time can start together where that one's cannot."""
    if not any(is_over_time(band) and has_threads(band) for band in choose.bands(recipe)):
        return recipe
    if not choose.one_of("tiles start together", (False, True)):
        return recipe
    recipe = replace(recipe, concurrent_start=1)
    choose.bands(recipe)   # a program without a schedule for them is rejected here, with all that begins so
    return recipe


def time_tiles(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """Per band with tiles over time that threads share: the model's form, split tiles, wavefronts, or diamonds."""
    for band in choose.bands(recipe):
        own = recipe.bands.get(band.number, BandOptions())
        if not is_over_time(band) or not has_threads(band) or own.sizes == "off" or own.parallel is False or (
                own.parallel_loop is not None):
            continue
        way = choose.one_of(f"band {band.number}, tiles over time", ("model", "split", "wavefronts", "diamonds"))
        if way != "model":
            recipe = recipe.with_band(band.number, BandOptions(
                split=way == "split", diamond=True if way == "diamonds" else None))
    return recipe


def threads(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """Per band that threads may share: the loop that the model takes, another free one, or one thread alone.

    Of short bands a team of threads takes longer to start than it saves.
    """
    for band in choose.bands(recipe):
        if not has_threads(band):
            continue
        own = recipe.bands.get(band.number, BandOptions())
        others = [loop for loop in band.choices.free[1:] if not is_innermost(band, own, loop)]
        ways: tuple[int | str, ...] = ("model", *others, "one")
        way = choose.one_of(f"band {band.number}, threads", ways)
        if isinstance(way, int):
            recipe = recipe.with_band(band.number, BandOptions(parallel_loop=way))
        elif way == "one":
            recipe = recipe.with_band(band.number, BandOptions(parallel=False))
    return recipe


def tiles(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """Per band: what the model chooses, no tiles, or tiles that fit a cache, with a register block."""
    for band in choose.bands(recipe):
        if band.choices.holds_loops:
            continue
        ways = ("model", *(("tiles",) if band.can_be_tiled else ()), *(("off",) if band.depth > 1 else ()))
        way = choose.one_of(f"band {band.number}", ways)
        if way == "off":
            recipe = recipe.with_band(band.number, BandOptions(sizes="off", register=choose.block(band)))
        elif way == "tiles":
            recipe = recipe.with_band(band.number, choose.tiled(band))
    return recipe


def cache_write(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """Per band with the model's tiles: the registers in which results are gathered, or none."""
    for band in choose.bands(recipe):
        if band.number in recipe.bands or band.choices.holds_loops or not band.blocks:
            continue
        if choose.one_of(f"band {band.number}, results", ("model", "chosen")) == "chosen":
            recipe = recipe.with_band(band.number, BandOptions(register=choose.block(band)))
    return recipe


def packing(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """Which operands of a register block are copied; of bands with tiles by hand."""
    for band in choose.bands(recipe):
        own = recipe.bands.get(band.number)
        if own is None or not band.packable or own.register is False:
            continue
        if choose.one_of(f"band {band.number}, packing", ("model", "chosen")) == "chosen":
            kept = tuple(array for k, array in enumerate(band.packable)
                         if choose.one_of(f"band {band.number}, pack operand {k}", (True, False)))
            recipe = recipe.with_band(band.number, BandOptions(packed=kept))
    return recipe


def vectors(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """Explicit vectors of the machine's width or of a narrower one, or what the C compiler makes of plain loops."""
    if recipe.bands:
        return recipe
    return replace(recipe, vector_bits=choose.one_of("vector bits", (None, *choose.narrower_vectors, 0)))


def outer_tiles(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """A further level of tiles around chosen ones: whole multiples of their edges, none, or the loop uncut."""
    for band in choose.bands(recipe):
        own = recipe.bands.get(band.number)
        if own is None or not isinstance(own.sizes, tuple) or is_over_time(band):
            continue
        if choose.one_of(f"band {band.number}, outer tiles", (False, True)):
            times: list[int] = []
            for k in range(band.depth):
                needed = k == band.depth - 1 and not any(times)   # an outer level cuts one loop at least
                times.append(choose.one_of(f"band {band.number}, loop {k}, outer tile", (0, 2, 4, 8)[needed:]))
            outer = tuple(t * edge for t, edge in zip(times, own.sizes, strict=True))
            recipe = recipe.with_band(band.number, BandOptions(outer_sizes=(outer,)))
    return recipe


def instructions(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """The instruction that the models choose by default, none, or per statement one of its mappings and plans."""
    if recipe.bands or not may_gain(dependences.scop):
        return recipe
    way = choose.one_of("instruction", (DEFAULT, NONE, "chosen"))
    if way != "chosen":
        return replace(recipe, instruction=way)
    made = choose.instructions()
    if not made:
        choose.reject("no statement has an instruction of its own choice")
    return replace(recipe, instructions=made)


def compiler_flags(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """One flag of the closed list, or none."""
    flag = choose.one_of("compiler flag", (None, *OFFERED_FLAGS))
    return recipe if flag is None else replace(recipe, flags=(flag,))


OFFERED_FLAGS = ("-O2", "-funroll-loops", "-fno-tree-vectorize")
"""Of `pipeline.options.FLAGS`, those that every compiler takes."""

RULES: tuple[Rule, ...] = (inline, fusible_consumer, split_reduction, fusion, concurrent_start, vectors, instructions,
                           tiles, cache_write, packing, outer_tiles, threads, time_tiles, compiler_flags)


def automatic(choose: Chooser, dependences: Dependences, rules: tuple[Rule, ...] = RULES) -> Recipe:
    """All rules, one after the other."""
    recipe = Recipe()
    for rule in rules:
        recipe = rule(choose, dependences, recipe)
    return recipe
