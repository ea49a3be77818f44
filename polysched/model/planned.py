"""The plan of a graph as it is compiled: behind the standard passes, in the layouts that kernels are fast with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from polysched.errors import PolyschedError
from polysched.graph.passes.channel_layout import alter_layout
from polysched.graph.passes.expansion import expand_compositions
from polysched.graph.passes.fusion import groups_by_dominators
from polysched.graph.passes.kernel_layout import (
    drop_unit_dimensions,
    pack_weights,
    pad_explicitly,
    products_of_places,
)
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import fold_constants, with_types
from polysched.graph.planning.cover import groups_in_order
from polysched.graph.planning.early_outputs import early_outputs_first
from polysched.graph.planning.expressions import scop_of
from polysched.graph.planning.fusion_plan import FusionPlan, Verdict, fusion_plan, fusion_plans, seconds_of
from polysched.graph.planning.online_softmax import online_softmax
from polysched.graph.planning.plan import Plan, plan
from polysched.graph.values.graph import Graph
from polysched.graph.values.text import to_text
from polysched.model.kernels import in_any_order, why_alone
from polysched.model.limits import LIMITS
from polysched.model.stitched import stitched_fragment
from polysched.pipeline.options import PipelineOptions
from polysched.records import whole
from polysched.scop.assumptions import ASSUMED
from polysched.target import Target, build_cache
from polysched.tiling.planning.register_shape import short_row

Fusion: TypeAlias = Literal["auto", "cost", "greedy"]
FUSIONS: tuple[Fusion, ...] = ("auto", "cost", "greedy")
VERDICTS, VERDICT = "verdicts", "verdict.json"


def planned(graph: Graph, target: Target | None = None, *, options: PipelineOptions | None = None,
            fusion: Fusion = "cost", sizes: Mapping[str, int] | None = None) -> Plan:
    """The plan of a graph: after the standard passes its nodes are grouped.

    Parameters
    ----------
    target : whose vectors decide how weights stand; without it every value stands as the graph says.
    options : of the kernels; without them elementwise nodes alone take their producers, whatever the fusion.
    fusion : `greedy`: elementwise nodes take their producers; `cost`: nodes are grouped by cost (`fusion_plan`), each
        kernel of several stages in one loop over tiles, and kernels with equal fragments side by side; `auto`: by cost
        where that is not worse than fusion by dominators by the model, else greedily.
    sizes : for which costs count, of those that stay open.
    """
    typed = prepared(graph, target)
    regions = _once(partial(planned, target=target, options=options, fusion=fusion, sizes=sizes))
    if options is not None and fusion != "greedy":
        by_cost = (planned_by_cost if fusion == "cost" else by_default)(typed, options, sizes)
        if isinstance(by_cost, FusionPlan):
            return as_plan(*online_or_whole(typed, by_cost, options), regions=regions)
        made = greedily(typed, regions=regions)
        why = (("a plan by cost", by_cost),) if by_cost else ()
        return replace(made, refused=(*why, *made.refused))
    return greedily(typed, regions=regions)


def _once(regions: Callable[[Graph], Plan]) -> Callable[[Graph], Plan]:
    """The plans of regions, each made once: every order of the nodes around them asks, and so on in regions of regions.
    """
    found: dict[object, tuple[Graph, Plan]] = {}   # with the graph, whose parts stand for their contents in the key

    def own(region: Graph) -> Plan:
        key = (id(region.nodes), id(region.constants), region.inputs, region.outputs)
        if key not in found:
            found[key] = (region, regions(region))
        return found[key][1]
    return own


def prepared(graph: Graph, target: Target | None = None) -> Graph:
    """A graph behind the standard passes, with types, in the layouts of a target's kernels."""
    expanded = standard(graph.but(outputs=tuple(dict.fromkeys(graph.outputs))))
    if target is not None:
        expanded = _placed(expanded, target)
    return with_types(expanded)


def greedily(typed: Graph, *, regions: Callable[[Graph], Plan]) -> Plan:
    """Elementwise nodes with the producers that only they use; early outputs early where that takes no more memory."""
    made = plan(typed, regions=regions)
    if len(typed.outputs) < 2 or typed.symbols:
        return made
    other = plan(early_outputs_first(typed), regions=regions)
    return other if other.arena.bytes <= made.arena.bytes else made


def by_default(graph: Graph, options: PipelineOptions, sizes: Mapping[str, int] | None = None) -> FusionPlan | str:
    """The plan by cost where fusion by dominators is not better by the model, else why not.

    Empty where there is nothing to plan, or where an open size has no value for which costs count.

    Parameters
    ----------
    graph : with types.
    sizes : for which costs count, of those that are open.
    """
    own = {name: size for name, size in (sizes or {}).items() if name in graph.symbols}
    if len(own) < len(graph.symbols) or not graph.nodes:
        return ""
    if options.database is not None:
        return "records of a database are of the kernels of the greedy rule"
    if len(graph.nodes) > LIMITS.most_nodes_by_cost:
        return f"{len(graph.nodes)} nodes, more than {LIMITS.most_nodes_by_cost}: fusion='cost' takes them"
    by_cost = fusion_plan(graph, options.target(), judge=partial(stitched_verdict, options=options),
                          refusal=partial(why_alone, options=options), judged=LIMITS.judged_by_default, sizes=own)
    rule = seconds_of(graph, groups_by_dominators(graph), options.target(), sizes=own)
    if by_cost.seconds > rule:
        return f"{by_cost.seconds:.1e} s by the model, {rule:.1e} s by dominators"
    return by_cost


def planned_by_cost(graph: Graph, options: PipelineOptions, sizes: Mapping[str, int] | None = None) -> FusionPlan:
    """Which nodes of a graph with types become one kernel, by cost; the pipeline judges kernels of several stages.

    Parameters
    ----------
    sizes : for which costs count, of those that are open; a typical one else.
    """
    own = {name: (sizes or {}).get(name, ASSUMED.typical_size) for name in graph.symbols}
    return fusion_plan(graph, options.target(), judge=partial(stitched_verdict, options=options),
                       refusal=partial(why_alone, options=options), sizes=own)


def online_or_whole(typed: Graph, whole: FusionPlan, options: PipelineOptions) -> tuple[Graph, FusionPlan]:
    """The graph with its softmaxes over long rows in blocks, and its plan, where that is cheaper by the model.

    Parameters
    ----------
    typed, whole : a graph with types, and its plan by cost.
    """
    online = in_blocks(typed, options.target())
    if online is None:
        return typed, whole
    found = planned_by_cost(online, options)
    if found.seconds < whole.seconds:
        told = f"{whole.seconds:.1e} s by the model, {found.seconds:.1e} s block by block"
        return online, replace(found, refused=(*found.refused, ("softmax over whole rows", told)))
    told = f"{found.seconds:.1e} s by the model, {whole.seconds:.1e} s over whole rows"
    return typed, replace(whole, refused=(*whole.refused, ("softmax block by block", told)))


def in_blocks(typed: Graph, target: Target) -> Graph | None:
    """The graph with its softmaxes over long rows in blocks; None where it has none."""
    online = online_softmax(typed, target.kept_bytes(2))
    return None if len(online.nodes) == len(typed.nodes) or typed.symbols else with_types(fold_constants(online))


def best_plans(graph: Graph, target: Target, options: PipelineOptions) -> tuple[Plan, ...]:
    """The cheapest plans of a graph, to be measured: one with softmaxes in blocks, if any; last the greedy one."""
    typed = prepared(graph, target)
    regions = _once(partial(planned, target=target, options=options, fusion="auto"))
    found = fusion_plans(typed, options.target(), judge=partial(stitched_verdict, options=options),
                         refusal=partial(why_alone, options=options))
    plans = [as_plan(typed, each, regions=regions) for each in found]
    online = in_blocks(typed, options.target())
    if online is not None:
        plans.insert(0, as_plan(online, planned_by_cost(online, options), regions=regions))
    return tuple(plans)


def as_plan(typed: Graph, found: FusionPlan, *, regions: Callable[[Graph], Plan]) -> Plan:
    """The plan of groups by cost; early outputs early where that takes no more memory."""
    made = replace(plan(typed, found.groups, regions=regions), refused=found.refused)
    if len(typed.outputs) < 2 or typed.symbols:
        return made
    early = early_outputs_first(typed)
    other = plan(early, groups_in_order(early, found.groups), regions=regions)
    return replace(other, refused=found.refused) if other.arena.bytes <= made.arena.bytes else made


def stitched_verdict(fragment: Graph, sizes: Mapping[str, int], options: PipelineOptions) -> Verdict:
    """Whether a fragment of several stages becomes one loop over tiles, and how long that takes by the model.

    Verdicts are kept in the cache.

    Parameters
    ----------
    sizes : of those that are open.
    """
    options = replace(options, assumed=tuple(sorted(sizes.items()))) if sizes else options
    target = options.target()
    machine = whole(replace(target, features=frozenset())) + " ".join(sorted(target.features))
    key = build_cache.program_key({"fragment": to_text(fragment), "options": options.differences(), "target": machine})

    def write(folder: Path) -> None:
        (folder / VERDICT).write_text(json.dumps(asdict(_judged(fragment, options))))
    kept = build_cache.find_or_build(key, write, kind=VERDICTS) / VERDICT
    return Verdict(**json.loads(kept.read_text()))


def _judged(fragment: Graph, options: PipelineOptions) -> Verdict:
    try:
        if options.instructions_for(scop_of(fragment)) is not None:
            return Verdict("an instruction may compute its product of bytes, which a loop over tiles by hand has not")
        found = stitched_fragment(fragment, in_any_order(options))   # as its kernel asks for it
    except PolyschedError as error:
        return Verdict(error.problem)
    if found is None:
        return Verdict("no tiles of one statement hold all of its stages")
    return Verdict(seconds=found.plan.seconds)


def _placed(graph: Graph, target: Target) -> Graph:
    """The graph with the layouts that kernels are fast with."""
    plain = drop_unit_dimensions(products_of_places(graph))
    lanes = max(2, target.lanes(32))
    blocked = alter_layout(plain, lanes, wide=short_row(target) * lanes)
    padded = fold_constants(pad_explicitly(blocked))
    packed = pack_weights(padded, lanes=lambda dtype: target.lanes(dtype.bits))
    return fold_constants(expand_compositions(packed))
