"""At most k recipes for all sizes: those of least regret over sampled sizes, and for which sizes each is taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log2

from polysched.errors import UsageError
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.scheduling.solving.cp_sat import cp_sat, new_model
from polysched.search.limits import LIMITS


@dataclass(frozen=True, kw_only=True)
class Variants:
    """Recipes that together serve all sampled sizes.

    Parameters
    ----------
    recipes : at most as many as were asked for.
    of_size : per sampled size, the number of its recipe.
    regret : how many times slower than the best of each size, in the mean of the logarithms (1 is none).
    """

    recipes: tuple[Recipe, ...]
    of_size: Mapping[int, int]
    regret: float

    def thresholds(self) -> tuple[tuple[int, int], ...]:
        """From which size on which recipe is taken, as pairs, the smallest size first."""
        return thresholds(self.of_size)

    def recipe_for(self, size: int) -> Recipe:
        """The recipe of any size."""
        chosen = [number for least, number in self.thresholds() if size >= least][-1]
        return self.recipes[chosen]


@dataclass(frozen=True, kw_only=True)
class LeastRegret:
    """Which of several codes serve all sampled sizes.

    Parameters
    ----------
    kept : their numbers, growing.
    of_size : per sampled size the number of its code.
    regret : how many times slower than the best of each size, in the mean of the logarithms (1 is none).
    """

    kept: tuple[int, ...]
    of_size: Mapping[int, int]
    regret: float


def thresholds(of_size: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
    """From which size on which code is taken, as pairs, the smallest size first.

    Between two sampled sizes with different codes the border is their geometric mean, which is above the smaller one.
    """
    sizes = sorted(of_size)
    found = [(0, of_size[sizes[0]])]
    for before, size in pairwise(sizes):
        if of_size[size] != found[-1][1]:
            found.append((max(before + 1, round((before * size) ** 0.5)), of_size[size]))
    return tuple(found)


def choose_variants(seconds: Mapping[Recipe, Mapping[int, float]], most: int) -> Variants:
    """The recipes with the least summed logarithms of regret, by an exact integer program (CP-SAT).

    Their code stands in one file, so they have the same compiler flags.

    Parameters
    ----------
    seconds : per recipe and sampled size what was measured; a recipe may lack sizes, where it is not taken.
    most : recipes that may be kept.

    Raises
    ------
    UsageError : there is nothing to choose from, or a size has no time of any recipe that could be kept.
    """
    recipes = tuple(seconds)
    found = least_regret(tuple(seconds.values()), most, flags=[recipe.flags for recipe in recipes])
    return Variants(recipes=tuple(recipes[k] for k in found.kept), regret=found.regret,
                    of_size={size: found.kept.index(k) for size, k in found.of_size.items()})


def least_regret(seconds: Sequence[Mapping[int, float]], most: int, *,
                 flags: Sequence[tuple[str, ...]] | None = None) -> LeastRegret:
    """The codes with the least summed logarithms of regret, by an exact integer program (CP-SAT).

    Parameters
    ----------
    seconds : of every code, by sampled size; a code may lack sizes, where it is not taken.
    most : codes that may be kept.
    flags : of every code, where those that are kept need the same.

    Raises
    ------
    UsageError : there is nothing to choose from, or a size has no time of any code that could be kept.
    """
    sizes = sorted({size for times in seconds for size in times})
    if not sizes or most < 1:
        raise UsageError("there are no times to choose variants by" if not sizes else "at least one variant is kept",
                         witness=f"most={most}")
    costs = _costs(seconds, sizes)
    taken = _solved(costs, [()] * len(seconds) if flags is None else flags, sizes, most)
    if taken is None:
        raise UsageError("no so few recipes have times at all sizes", witness=f"most={most}")
    regret = sum(costs[taken[size], size] for size in sizes) / len(sizes) / LIMITS.regret_unit
    return LeastRegret(kept=tuple(sorted(set(taken.values()))), of_size=taken, regret=2.0**regret)


def _costs(seconds: Sequence[Mapping[int, float]], sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """What taking a recipe at a size costs, by their numbers."""
    best = {size: min(times[size] for times in seconds if size in times) for size in sizes}
    return {(k, size): _cost(taken / best[size]) for k, times in enumerate(seconds) for size, taken in times.items()}


def _cost(ratio: float) -> int:
    """The logarithm of a regret in whole units."""
    return round(LIMITS.regret_unit * log2(max(1.0, ratio)))


def _solved(costs: Mapping[tuple[int, int], int], flags: Sequence[tuple[str, ...]], sizes: Sequence[int],
            most: int) -> dict[int, int] | None:
    """Per size the number of its recipe; None where so few recipes of the same flags do not reach all sizes."""
    cp_model = cp_sat()
    model, count = new_model(), len(flags)
    kept = [model.new_bool_var(f"kept{k}") for k in range(count)]
    takes = {pair: model.new_bool_var(f"takes{pair}") for pair in costs}
    for size in sizes:
        model.add_exactly_one([takes[k, s] for k, s in takes if s == size])
    for (k, _), variable in takes.items():
        model.add_implication(variable, kept[k])
    model.add(sum(kept) <= most)
    used = {own: model.new_bool_var(f"flags {own}") for own in dict.fromkeys(flags)}
    model.add_exactly_one(used.values())
    for variable, own in zip(kept, flags, strict=True):
        model.add_implication(variable, used[own])
    # of equal regrets, fewer recipes and the first ones
    tie = count * (count + 1)
    model.minimize(sum(tie * costs[pair] * variable for pair, variable in takes.items())
                   + sum((count + k) * variable for k, variable in enumerate(kept)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = LIMITS.variant_seconds
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return {size: k for (k, size), variable in takes.items() if solver.value(variable)}
