"""`tune_range`: recipes for a range of sizes, searched at sampled sizes, of which few are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, overload

from polysched.errors import UsageError
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.scop.dtypes import INT64
from polysched.scop.scop import Scop
from polysched.search.chooser import Chooser
from polysched.search.database import Case, Database, Range
from polysched.search.identity import canonical_scop
from polysched.search.several import best_seconds, model_seconds
from polysched.search.space import Space
from polysched.search.tuned import Tuned
from polysched.search.tuning import Budget
from polysched.search.tuning import tune as tune_at
from polysched.search.variants import Variants, choose_variants


@dataclass(frozen=True, eq=False, kw_only=True)
class TunedRange:
    """What was found for a range of sizes.

    Parameters
    ----------
    parameter : whose values were sampled.
    found : the search at each sampled size.
    seconds : per recipe that won somewhere, and per size, what it takes.
    variants : the few that are kept, and for which sizes.
    """

    parameter: str
    found: Mapping[int, Tuned]
    seconds: Mapping[Recipe, Mapping[int, float]]
    variants: Variants

    def __str__(self) -> str:
        lines = [f"from {self.parameter} = {least} on: {self.variants.recipes[number]}"
                 for least, number in self.variants.thresholds()]
        lines += [f"at {self.parameter} = {n}: gain {own.gain}" for n, own in self.found.items()]
        return "\n".join([*lines, f"{self.variants.regret:.3f} times the time of the best of each size"])

    def to_json(self) -> dict[str, Any]:
        """What was found, as JSON values; `trials`, `rejected` and `seconds` of all searches together."""
        searches = list(self.found.values())
        return {"parameter": self.parameter, "trials": sum(len(t.trials) for t in searches),
                "rejected": sum(t.rejections.total for t in searches),
                "seconds": sum(t.search_seconds for t in searches), "regret": self.variants.regret,
                "variants": [{"from": least, "recipe": self.variants.recipes[k].to_json()}
                             for least, k in self.variants.thresholds()],
                "found": {str(n): own.to_json() for n, own in self.found.items()}}


@overload
def tune(program: str | Path | Scop, *, sizes: Mapping[str, int] | None = None, **how: Any) -> Tuned: ...


@overload
def tune(program: str | Path | Scop, *, sizes: Mapping[str, int | str], **how: Any) -> Tuned | TunedRange: ...


@wraps(tune_at)
def tune(program: str | Path | Scop, *, sizes: Mapping[str, Any] | None = None, **how: Any) -> Tuned | TunedRange:
    if not any(isinstance(value, str) for value in (sizes or {}).values()):
        return tune_at(program, sizes=sizes, **how)
    if how.get("database") is None:
        raise UsageError("a range of sizes needs a database", hint='database="tuned.db"')
    return tune_range(program, sizes=sizes or {}, budget=how.pop("budget", None) or Budget(trials=64), **how)


def samples_of(text: str, count: int) -> tuple[int, ...]:
    """Sizes of a range such as `64..2048`, at equal factors.

    Raises
    ------
    UsageError : it is no range.
    """
    low, dots, high = text.partition("..")
    if max(len(low), len(high)) > len(str(INT64.value_range()[1])):
        raise UsageError(f"sizes of {max(len(low), len(high))} characters are sampled nowhere", hint="64..2048")
    if not dots or not low.isdecimal() or not high.isdecimal() or not 0 < int(low) < int(high) or count < 2:
        raise UsageError(f"{text!r} is no range of sizes with samples", hint="64..2048, with two samples or more")
    count = min(count, int(high) - int(low) + 1)
    factor = (int(high) / int(low)) ** (1 / (count - 1))
    return tuple(dict.fromkeys(round(int(low) * factor**k) for k in range(count)))


def tune_range(program: str | Path | Scop, *, sizes: Mapping[str, int | str], database: str | Path, budget: Budget,
               most: int = 4, samples: int = 4, **others: Any) -> TunedRange:
    """Search at sampled sizes, time what won anywhere at all of them, and keep the few of least regret.

    Every search is in the database, so that a lookup finds the nearest size; and so is what was kept, so that code for
    no size in particular has the variants behind tests of the parameter.  All variants have the same compiler flags.

    Parameters
    ----------
    sizes : by C spelling; one of them is a range, `64..2048`.
    budget : of the search at one size.
    most : recipes that are kept.
    samples : sizes of the range.
    others : as for `tune`.

    Raises
    ------
    UsageError : not exactly one size is a range.
    PolyschedError : as for `tune`.
    """
    ranges = {name: value for name, value in sizes.items() if isinstance(value, str)}
    if len(ranges) != 1:
        raise UsageError("exactly one size is a range", witness=str(dict(sizes)), hint='sizes={"n": "64..2048"}')
    ((name, text),) = ranges.items()
    fixed = {n: v for n, v in sizes.items() if isinstance(v, int)}
    every = samples_of(text, samples)
    found = {n: tune_at(program, sizes={**fixed, name: n}, database=database, budget=budget, **others) for n in every}
    winners = tuple(dict.fromkeys([Recipe(), *(f.recipe for f in found.values())]))
    seconds: dict[Recipe, dict[int, float]] = {recipe: {} for recipe in winners}
    for n, own in found.items():
        for recipe, taken in _times(program, {**fixed, name: n}, winners, own, others).items():
            seconds[recipe][n] = taken
    variants = choose_variants(seconds, most)
    _keep(name, variants, found, database)
    return TunedRange(parameter=name, found=found, seconds=seconds, variants=variants)


def _keep(name: str, variants: Variants, found: Mapping[int, Tuned], database: str | Path) -> None:
    """Enter the variants into the database."""
    one = next(iter(found.values()))
    scop = one.scop
    canonical = canonical_scop(scop)
    names = canonical.to_canonical()
    parameter = next(p.name for p in scop.parameters if name in (p.spelling, p.name))
    codes = {t.recipe: t.code for own in found.values() for t in (own.first, *own.trials, *own.confirmed) if t.code}
    cases = [Case(least=least, recipe=variants.recipes[k].renamed(names), code=codes[variants.recipes[k]])
             for least, k in variants.thresholds()]
    sizes = {n: v for n, v in one.key.sizes if n != names[parameter]}
    with Database(database) as opened:
        opened.set_range(Range(key=replace(one.key, sizes=tuple(sorted(sizes.items()))), name=one.name,
                               parameter=names[parameter], cases=tuple(cases)))


def _times(program: str | Path | Scop, sizes: Mapping[str, int], winners: tuple[Recipe, ...], own: Tuned,
           others: Mapping[str, Any]) -> dict[Recipe, float]:
    """What the winners of all sizes take at one size, in pairs with the model's pick there."""
    taken = {Recipe(): model_seconds(own), own.recipe: best_seconds(own)}
    missing = [recipe for recipe in winners if recipe not in taken]
    if not missing:
        return taken
    raced = tune_at(program, sizes=sizes, budget=Budget(trials=len(missing)), **{
        **others, "space": _one_of(missing), "strategy": "grid", "model": "projected", "resume": False})
    return taken | {t.recipe: model_seconds(own) / t.ratio for t in raced.trials if t.ratio is not None}


def _one_of(recipes: list[Recipe]) -> Space:
    def space(choose: Chooser, dependences: object) -> Recipe:
        return recipes[choose.one_of("winner of another size", tuple(range(len(recipes))))]
    return space
