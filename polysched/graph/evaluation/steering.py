"""Which inputs of a graph decide about shapes, and so must be known while compiling."""

from __future__ import annotations

from polysched.graph.operators.registry import OPERATORS
from polysched.graph.values.graph import Graph

SHAPE_ONLY = frozenset({"Shape", "Size"})


def steering_inputs(graph: Graph, *, control: bool = True) -> tuple[str, ...]:
    """The inputs from whose values a steering operand is computed, in order.

    Parameters
    ----------
    control : conditions and numbers of iterations count, too, although many are decided when the model runs.
    """
    wanted = _wanted(graph, set(), control)
    return tuple(name for name, _ in graph.inputs if name in wanted)


def _wanted(graph: Graph, wanted: set[str], control: bool) -> set[str]:
    """The values of a graph, and around it, whose values must be known."""
    for node in reversed(graph.nodes):
        if wanted & set(node.outputs) and node.op not in SHAPE_ONLY:
            wanted |= set(node.used)
        for region in node.regions:
            inner = _wanted(region, set(), control)
            wanted |= inner & set(region.free)
            if inner & set(region.parameters):
                wanted |= set(node.inputs) - {""}
        counts = node.op in OPERATORS and (control or not node.regions)
        steering = OPERATORS[node.op].steering if counts else ()
        wanted |= {name for place, name in enumerate(node.inputs) if place in steering and name}
    return wanted
