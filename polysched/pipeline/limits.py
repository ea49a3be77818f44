"""The limits of this room: budgets of searches and proofs, and sizes from which on a choice pays.

What a machine takes for something stands in `polysched.target.costs`.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class PipelineLimits:
    """By the module that asks for them."""

    # file_budget.py
    file_seconds: float = constant(
        25.0, unit="s", source="of processor time, for reading and transforming all regions of a file; 30 with the "
        "step that runs out of it, reading on and writing")
    found_region_share: float = constant(
        0.25, unit="1", source="of what is left of a file's time, for one region that nobody marked: behind three that "
        "take too long there are 10 of 25 s for the others; one region of codec2's `fdmdv.c` took 20, and 87 of 106 "
        "loops had none")
    found_region_seconds: float = constant(
        1.0, unit="s", source="that such a region has in any case: most regions of files with many take less")
    long_seconds: float = constant(10.0, unit="s", source="from here on it is told what takes long")
    worth_telling_share: float = constant(
        0.1, unit="1", source="the share of a file's time from which a region or a stage is named")
    # kept_stages.py
    kept_values: int = constant(64, unit="values", source="of one search; a candidate adds two that no other asks for "
                                "where a part of its program is made anew")
    # promises.py
    told_promises: int = constant(2, unit="assumptions", source="that a line names; `polysched extract` lists all")
    # recipe.py
    recipe_entries: int = constant(4096, unit="values", source="of the JSON of a recipe that is read")
    recipe_depth: int = constant(12, unit="levels", source="of the JSON of a recipe that is read")
    kept_checks: int = constant(4096, unit="recipes", source="whose values were found good; one is made per choice")


LIMITS = PipelineLimits()
