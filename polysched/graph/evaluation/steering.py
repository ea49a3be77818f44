"""Which inputs of a graph decide about shapes, and so must be known while compiling."""

from __future__ import annotations

from polysched.graph.operators.registry import operator_of
from polysched.graph.values.graph import Graph

SHAPE_ONLY = frozenset({"Shape", "Size"})


def steering_inputs(graph: Graph) -> tuple[str, ...]:
    """The inputs from whose values a steering operand is computed, in order."""
    wanted: set[str] = set()
    for node in reversed(graph.nodes):
        steering = operator_of(node).steering
        if wanted & set(node.outputs) and node.op not in SHAPE_ONLY:
            wanted |= {name for name in node.used if name}
        wanted |= {name for place, name in enumerate(node.inputs) if place in steering and name}
    return tuple(name for name, _ in graph.inputs if name in wanted)
