"""The canonical form of a program before it is compared with instructions.

Every step is a function of its own that gives the program in other words, or None where it has nothing to say; each
proves or checks that no value changes.  They are repeated until none of them has anything to say.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from polysched.dependence.dependences import Dependences
from polysched.errors import BudgetExceededError
from polysched.scop.budget import ISL_OPERATIONS, with_budget
from polysched.tensorize.equality.questions import one_budget
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.preparing.copies import without_copies
from polysched.tensorize.preparing.first_iterations import with_starts_apart
from polysched.tensorize.preparing.guards import with_decided_choices, with_domains_for_choices, without_idle_guards
from polysched.tensorize.preparing.partial_sums import without_partial_sums
from polysched.tensorize.preparing.rerolling import rerolled
from polysched.tensorize.preparing.stepped_tiles import without_stepped_tiles

logger = logging.getLogger(__name__)

STEPS: tuple[Callable[[Dependences], Dependences | None], ...] = (
    without_stepped_tiles, with_decided_choices, without_copies, with_starts_apart, with_domains_for_choices,
    without_idle_guards, without_partial_sums, rerolled)
MOST_REWRITES = LIMITS.most_rewrites


def canonical_form(dependences: Dependences) -> Dependences:
    """The program in the words in which instructions are described; the same object where it is.

    Steps that need more isl operations than there are leave the program as it is.
    """
    with one_budget() as asked:
        for step in STEPS:
            for _ in range(MOST_REWRITES):
                after = _taken(step, dependences)
                if after is None:
                    break
                logger.info("%s: %s", dependences.scop.name, step.__name__)
                dependences = after
    if asked.refused:
        logger.info("%s: its canonical form %s", dependences.scop.name, asked.words)
    return dependences


def reordered_form(dependences: Dependences) -> Dependences:
    """The canonical form of a program whose floats may be added in any order; the same object where it is that.

    Partial sums of floats become one sum, and a statement that adds several products is rolled up.
    """
    for step in (without_partial_sums, rerolled):
        for _ in range(MOST_REWRITES):
            after = _taken(partial(step, reorder=True), dependences)
            if after is None:
                break
            logger.info("%s: %s, in another order", dependences.scop.name, step.__name__)
            dependences = after
    return dependences


def _taken(step: Callable[[Dependences], Dependences | None], before: Dependences) -> Dependences | None:
    try:
        made = with_budget(ISL_OPERATIONS, lambda: (step(before),))
    except BudgetExceededError:
        made = None
    if made is None:
        logger.info("%s: %s needs more isl operations than there are", before.scop.name, step.__name__)
        return None
    return made[0]
