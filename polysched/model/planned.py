"""The plan of a graph as it is compiled: behind the standard passes, in the layouts that kernels are fast with."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from polysched.errors import PolyschedError
from polysched.graph.passes.expansion import expand_compositions
from polysched.graph.passes.kernel_layout import drop_unit_dimensions, pack_weights, pad_explicitly
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import fold_constants, with_types
from polysched.graph.planning.early_outputs import early_outputs_first
from polysched.graph.planning.expressions import scop_of
from polysched.graph.planning.fusion_plan import FusionPlan, Verdict, fusion_plan
from polysched.graph.planning.plan import Plan, plan
from polysched.graph.values.graph import Graph
from polysched.model.kernels import why_alone
from polysched.model.stitched import stitched_program
from polysched.pipeline.options import PipelineOptions
from polysched.target import Target


def planned(graph: Graph, target: Target | None = None, *, options: PipelineOptions | None = None) -> Plan:
    """The plan of a graph: after the standard passes its nodes are grouped.

    Parameters
    ----------
    target : whose vectors decide how weights stand; without it every value stands as the graph says.
    options : of the kernels; with them nodes are grouped by cost (`fusion_plan`), each kernel of several stages in one
        loop over tiles; without them elementwise nodes alone take their producers.
    """
    graph = graph.but(outputs=tuple(dict.fromkeys(graph.outputs)))
    expanded = standard(graph)
    if target is not None:
        expanded = _placed(expanded, target)
    typed = with_types(expanded)
    regions = partial(planned, target=target, options=options)
    if options is not None:
        by_cost = planned_by_cost(typed, options)
        return replace(plan(typed, by_cost.groups, regions=regions), refused=by_cost.refused)
    made = plan(typed, regions=regions)
    if len(typed.outputs) < 2 or typed.symbols:
        return made
    other = plan(early_outputs_first(typed), regions=regions)   # early outputs early, where that takes no more memory
    return other if other.arena.bytes <= made.arena.bytes else made


def planned_by_cost(graph: Graph, options: PipelineOptions) -> FusionPlan:
    """Which nodes of a graph with types become one kernel, by cost; the pipeline judges kernels of several stages."""
    return fusion_plan(graph, options.target(), judge=partial(stitched_verdict, options=options),
                       refusal=partial(why_alone, options=options))


def stitched_verdict(fragment: Graph, options: PipelineOptions) -> Verdict:
    """Whether a fragment of several stages becomes one loop over tiles, and how long that takes by the model."""
    try:
        found = stitched_program(scop_of(fragment), options)
    except PolyschedError as error:
        return Verdict(error.problem)
    if found is None:
        return Verdict("no tiles of one statement hold all of its stages")
    return Verdict(seconds=found.plan.seconds)


def _placed(graph: Graph, target: Target) -> Graph:
    """The graph with the layouts that kernels are fast with."""
    padded = fold_constants(pad_explicitly(drop_unit_dimensions(graph)))
    packed = pack_weights(padded, lanes=lambda dtype: target.lanes(dtype.bits))
    return fold_constants(expand_compositions(packed))
