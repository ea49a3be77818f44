"""Programs of several stages in one loop over tiles: the step that the model finds cheapest, as options."""

from __future__ import annotations

from dataclasses import dataclass, replace

from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop.scop import Scop
from polysched.tiling.stitch import CodePlan, stitch


@dataclass(frozen=True, eq=False, kw_only=True)
class StitchedProgram:
    """How a program becomes one kernel.

    Parameters
    ----------
    options : with the step.
    plan : its cost.
    refused : cheaper plans, and why not.
    """

    options: PipelineOptions
    plan: CodePlan
    refused: tuple[tuple[CodePlan, str], ...]


def stitched_program(scop: Scop, options: PipelineOptions) -> StitchedProgram | None:
    """The options with which a program becomes one loop over tiles; None where no plan is legal.

    Raises
    ------
    PolyschedError : the program is not analysed or scheduled.
    """
    plain = replace(options, collapse=False)
    dependences = analysed(scop, expand=plain.expand).dependences
    schedule = scheduled(dependences, plain)
    found = stitch(schedule, plain.target(), parameters=plain.assumed_in(scop))
    if found is None:
        return None
    return StitchedProgram(options=replace(plain, steps=(*plain.steps, found.plan.step)), plan=found.plan,
                           refused=found.refused)
