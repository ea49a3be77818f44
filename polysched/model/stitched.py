"""Programs of several stages in one loop over tiles: the step that the model finds cheapest, as options."""

from __future__ import annotations

from dataclasses import replace

from polysched.dependence import analyse
from polysched.dependence.collapsing import collapse_rows
from polysched.graph.planning.expressions import scop_of
from polysched.graph.values.graph import Graph
from polysched.graph.values.text import to_text
from polysched.model.limits import LIMITS
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.target import Target
from polysched.tiling.stitch import CodePlan, stitch


@dataclass(frozen=True, eq=False, kw_only=True)
class StitchedProgram:
    """How a program becomes one kernel.

    Parameters
    ----------
    scop : the program, loops over short rows collapsed.
    options : with the step.
    plan : its cost.
    refused : cheaper plans, and why not.
    """

    scop: Scop
    options: PipelineOptions
    plan: CodePlan
    refused: tuple[tuple[CodePlan, str], ...]


_KEPT: dict[str, tuple[PipelineOptions, Target, StitchedProgram | None]] = {}


def stitched_fragment(fragment: Graph, options: PipelineOptions) -> StitchedProgram | None:
    """`stitched_program` of a fragment: a plan judges it, then its kernel is made of the same one.

    Raises
    ------
    PolyschedError : as there, or the fragment is no program.
    """
    text, target = to_text(fragment), options.target()
    kept = _KEPT.pop(text, None)
    if kept is None or kept[:2] != (options, target):
        kept = (options, target, stitched_program(scop_of(fragment), options))
    _KEPT[text] = kept   # behind all others
    if len(_KEPT) > LIMITS.kept_fragments:
        _KEPT.pop(next(iter(_KEPT)), None)
    return kept[2]


def stitched_program(scop: Scop, options: PipelineOptions) -> StitchedProgram | None:
    """The options with which a program becomes one loop over tiles; None where no plan is legal.

    Raises
    ------
    PolyschedError : the program is not analysed or scheduled.
    """
    flat, _ = collapse_rows(analyse(scop), options.collapses_for(), options.row_loss)
    plain = replace(options, collapse=False)
    dependences = analysed(flat.scop, expand=plain.expand, known=flat).dependences
    schedule = scheduled(dependences, plain)
    found = stitch(schedule, plain.target(), parameters=plain.assumed_in(flat.scop))
    if found is None:
        return None
    return StitchedProgram(scop=flat.scop, options=replace(plain, steps=(*plain.steps, found.plan.step)),
                           plan=found.plan, refused=found.refused)
