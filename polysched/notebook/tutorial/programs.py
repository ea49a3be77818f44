"""Questions about whole programs: which statements are reductions, and whether a rewritten program still agrees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polysched.dependence import analyse, find_reductions
from polysched.dependence.dependences import DependenceKind
from polysched.errors import UsageError
from polysched.notebook.tutorial.answers import Verdict, as_text, as_words, right, wrong
from polysched.notebook.tutorial.pairs import first_pair
from polysched.records import dataclass
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.scop import Scop, Storage

SEED = 1


@dataclass(frozen=True, eq=False, kw_only=True)
class ReductionsOf:
    """Which statements are reductions: updates that may run in any order?  The answer is a set of names."""

    scop: Scop

    expects = "a set of names of statements, {'S0'}"

    def judge(self, answer: object) -> Verdict:
        """By the analysis of reductions."""
        given = as_words(answer, [s.name for s in self.scop.statements])
        found = {reduction.statement: reduction for reduction in find_reductions(self.scop)}
        if extra := sorted(given - set(found)):
            return wrong(f"{extra[0]} is no reduction", "a reduction is x = x op ..., where the operator may be "
                         "applied in any order, and x is one element in many iterations")
        if missing := sorted(set(found) - given):
            return wrong(f"{missing[0]} is a reduction, too", "it combines an element with one more value in each "
                         "iteration, and the order of the values does not matter")
        return right(", ".join(sorted(found)) or "none is")


@dataclass(frozen=True, eq=False, kw_only=True)
class ParallelProgram:
    """Which program computes the same with a parallel loop?  The answer is the text of a C function.

    Parameters
    ----------
    original : what it has to agree with.
    loop : the name of the loop that has to be parallel.
    sizes : those at which both are run.
    """

    original: Scop
    loop: str
    sizes: Mapping[str, int]

    expects = "the text of a C function"

    def judge(self, answer: object) -> Verdict:
        """By its dependences, and by running both programs on the same random numbers."""
        scop = from_c_text(as_text(answer, '"void f(int n, ...) { ... }"'))
        difference = different_result(self.original, scop, self.sizes)
        if difference:
            return wrong(f"it computes something else: {difference}", "both were run on the same random numbers")
        carried = [pair for pair in analyse(scop).carried_by(self.loop) if pair.kind is not DependenceKind.INPUT]
        if carried:
            return wrong(f"loop {self.loop} still carries a dependence on {carried[0].array}",
                         first_pair(carried[0].relation))
        return right(f"it computes the same, and loop {self.loop} carries nothing")


def different_result(original: Scop, other: Scop, sizes: Mapping[str, int]) -> str:
    """The first element in which two programs differ after a run on the same random numbers; nothing where none does.

    Raises
    ------
    UsageError : the two have not the same sizes and arrays.
    """
    first, second = (_inputs(scop, sizes) for scop in (original, other))
    wanted, given = (", ".join(f"{v.dtype} {name}{list(v.shape)}" for name, v in values.items())
                     for values in (first, second))
    if wanted != given:
        raise UsageError("the function should take the same sizes and arrays",
                         witness=f"{given or 'none'} in place of {wanted}")
    execute(original, sizes, first)
    execute(other, sizes, second)
    for name, expected in first.items():
        for at in np.argwhere(expected != second[name]):
            where = tuple(int(x) for x in at)
            return f"{name}{list(where) if where else ''} is {second[name][where]}, and should be {expected[where]}"
    return ""


def _inputs(scop: Scop, sizes: Mapping[str, int]) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    """Random small whole numbers, the same for the same array: sums of them round nowhere."""
    if unknown := sorted({p.name for p in scop.parameters} - set(sizes)):
        raise UsageError(f"the function has another size, {unknown[0]}")
    made = {}
    for array in sorted(scop.arrays, key=lambda a: a.name):
        if array.storage is Storage.LOCAL:
            continue
        extents = [extent or 0 for extent in extents_of(array, sizes)]
        values = np.random.default_rng([SEED, len(array.name), *array.name.encode()]).integers(-9, 10, extents)
        made[array.name] = values.astype(array.dtype.name)
    return made
