"""The rule for reductions: the iterations of a sum are dealt out to parts, in lanes or on threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.dependence.reductions import find_reductions
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.scheduling.primitives import SplitReduction
from polysched.scop.body import IteratorRef, walk
from polysched.scop.scop import Scop
from polysched.search.chooser import Chooser
from polysched.search.limits import LIMITS
from polysched.search.rewriting.producers import APART


@dataclass(frozen=True)
class Sum:
    """A statement that updates an element in any order.

    Parameters
    ----------
    statement : its name.
    loops : the iterators that do not move the element, innermost first; at least one.
    exact : another order gives the same bits.
    """

    statement: str
    loops: tuple[str, ...]
    exact: bool

    def rows(self) -> Iterator[SplitReduction]:
        """The steps that split it: parts that lanes take, then parts of whole rows, which threads take."""
        for loop in self.loops:
            name = f"{self.statement}.{loop}"
            yield from (SplitReduction(loop=name, parts=parts) for parts in LIMITS.parts_in_lanes)
            yield from (SplitReduction(loop=name, parts=parts, run=LIMITS.run_of_a_part)
                        for parts in LIMITS.parts_on_threads)


def sums(scop: Scop) -> Iterator[Sum]:
    """The reductions of a program of which no more loops move the element than do not.

    Of the others, a product of matrices for one, those loops have enough for lanes and threads.
    """
    for found in find_reductions(scop):
        statement = scop.statement(found.statement)
        moving = {e.name for s in statement.access(found.write).subscripts for e in walk(s)
                  if isinstance(e, IteratorRef)}
        still = tuple(name for name in reversed(statement.iterators) if name not in moving)
        if found.any_order and still and len(still) >= statement.depth - len(still):
            yield Sum(statement.name, still, found.exact)


def split_reduction(choose: Chooser, dependences: Dependences, recipe: Recipe) -> Recipe:
    """Per reduction: as it is, or in parts, where the numerics allow the order and the step is legal."""
    if recipe.steps:
        return recipe
    for found in sums(dependences.scop):
        if not (found.exact or choose.reassociate):
            continue
        if choose.one_of(f"parts of {found.statement}", (False, True)):
            rows = {f"{step.loop} in {step.parts} parts of {step.run}": replace(
                recipe, fusion=APART, steps=(*recipe.steps, step)) for step in found.rows()}
            recipe = choose.scheduled(f"how {found.statement} is split", rows)
    return recipe


__all__ = ["Sum", "split_reduction", "sums"]
