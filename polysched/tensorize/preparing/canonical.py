"""The canonical form of a program before it is compared with instructions.

Every step is a function of its own that gives the program in other words, or None where it has nothing to say; each
proves or checks that no value changes.  They are repeated until none of them has anything to say.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial

from polysched.dependence.dependences import Dependences
from polysched.dependence.substitution import substitute_temporaries
from polysched.errors import BudgetExceededError
from polysched.scop.budget import ISL_OPERATIONS, with_budget
from polysched.tensorize.equality.questions import one_budget
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.preparing.branches import with_choices_for_branches
from polysched.tensorize.preparing.copies import without_copies
from polysched.tensorize.preparing.first_iterations import with_starts_apart
from polysched.tensorize.preparing.guards import with_decided_choices, with_domains_for_choices, without_idle_guards
from polysched.tensorize.preparing.partial_sums import without_partial_sums
from polysched.tensorize.preparing.rerolling import rerolled
from polysched.tensorize.preparing.stepped_tiles import without_stepped_tiles

logger = logging.getLogger(__name__)


def without_scalars(dependences: Dependences) -> Dependences | None:
    """The program with scalars that choices have become replaced by their values; None where there are none."""
    after = substitute_temporaries(dependences)
    return None if after is dependences else after


Rewrite = Callable[[Dependences], Dependences | None]

STEPS: Mapping[Rewrite, str] = {
    without_stepped_tiles: "a loop over tiles and the loop inside it as one loop",
    with_decided_choices: "choices that are always decided the same way as that side",
    without_copies: "an array in place of a copy of it",
    with_starts_apart: "the start of a sum as a statement of its own",
    with_domains_for_choices: "a choice by position as bounds of the loops",
    without_idle_guards: "a statement without a condition that changes nothing",
    with_choices_for_branches: "branches on data as choices of what is written",
    without_scalars: "scalars of one iteration as their values",
    without_partial_sums: "partial sums as one sum",
    rerolled: "statements that are written out as a loop"}
"""The steps, and how a program is read behind each, in words."""
MOST_REWRITES = LIMITS.most_rewrites
MOST_ROUNDS = LIMITS.most_rounds


def canonical_form(dependences: Dependences) -> Dependences:
    """The program in the words in which instructions are described; the same object where it is.

    The steps are taken in turn until none has anything to say: a copy seen through may show a tile, and so on.  Those
    that need more isl operations than there are leave the program as it is.
    """
    name = dependences.scop.name
    with one_budget() as asked:
        quiet = 0   # so many steps in a row have had nothing more to say
        for step, words in tuple(STEPS.items()) * MOST_ROUNDS:
            before, dependences = dependences, _repeated(step, words, dependences)
            quiet = quiet + 1 if dependences is before else 1
            if quiet == len(STEPS):
                break
    if asked.refused:
        logger.info("function %s: whether instructions compute parts of it was not fully looked into: that %s",
                    name, asked.words)
    return dependences


def reordered_form(dependences: Dependences) -> Dependences:
    """The canonical form of a program whose floats may be added in any order; the same object where it is that.

    Partial sums of floats become one sum, and a statement that adds several products is rolled up.
    """
    for step in (without_partial_sums, rerolled):
        dependences = _repeated(partial(step, reorder=True), f"{STEPS[step]}, added in another order", dependences)
    return dependences


def _repeated(step: Rewrite, words: str, dependences: Dependences) -> Dependences:
    """A step, as often as it has something to say."""
    for _ in range(MOST_REWRITES):
        after = _taken(step, words, dependences)
        if after is None:
            break
        logger.info("function %s: compared with instructions, it is read with %s", dependences.scop.name, words)
        dependences = after
    return dependences


def _taken(step: Rewrite, words: str, before: Dependences) -> Dependences | None:
    try:
        made = with_budget(ISL_OPERATIONS, lambda: (step(before),))
    except BudgetExceededError:
        made = None
    if made is None:
        logger.info("function %s: compared with instructions, it is not read with %s: to show that this is the same "
                    "program takes isl too long", before.scop.name, words)
        return None
    return made[0]
