"""The plan of a graph as it is compiled: behind the standard passes, in the layouts that kernels are fast with."""

from __future__ import annotations

from polysched.graph.passes.expansion import expand_compositions
from polysched.graph.passes.kernel_layout import drop_unit_dimensions, pack_weights, pad_explicitly
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import fold_constants, with_types
from polysched.graph.planning.early_outputs import early_outputs_first
from polysched.graph.planning.plan import Plan, plan
from polysched.graph.values.graph import Graph
from polysched.target import Target


def planned(graph: Graph, target: Target | None = None) -> Plan:
    """The plan of a graph: after the standard passes its nodes are grouped.

    Parameters
    ----------
    target : whose vectors decide how weights stand; without it every value stands as the graph says.
    """
    graph = graph.but(outputs=tuple(dict.fromkeys(graph.outputs)))
    expanded = standard(graph)
    if target is not None:
        expanded = _placed(expanded, target)
    return _with_early_outputs(plan(with_types(expanded)))


def _with_early_outputs(made: Plan) -> Plan:
    """The plan whose driver makes early outputs early, where that takes no more memory."""
    if len(made.graph.outputs) < 2 or made.graph.symbols:
        return made
    other = plan(early_outputs_first(made.graph))
    return other if other.arena.bytes <= made.arena.bytes else made


def _placed(graph: Graph, target: Target) -> Graph:
    """The graph with the layouts that kernels are fast with."""
    padded = fold_constants(pad_explicitly(drop_unit_dimensions(graph)))
    packed = pack_weights(padded, lanes=lambda dtype: target.lanes(dtype.bits))
    return fold_constants(expand_compositions(packed))
