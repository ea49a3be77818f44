"""A graph with a copy of itself beside it: every kernel has one with an equal fragment that needs nothing of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polysched.graph.values.graph import Graph

OTHER = "other "


def twice(graph: Graph) -> Graph | None:
    """The graph with a copy of its nodes on inputs of their own; None where it has regions, which see values by name.

    Rewrite:  y = f(x)  ->  y = f(x); "other y" = f("other x")
    """
    if any(node.regions for node in graph.nodes):
        return None

    def name(value: str) -> str:
        return value if not value or value in graph.constants else f"{OTHER}{value}"
    nodes = [replace(n, inputs=tuple(map(name, n.inputs)), outputs=tuple(map(name, n.outputs))) for n in graph.nodes]
    outputs = tuple(dict.fromkeys(map(name, graph.outputs)))
    return graph.but(inputs=(*graph.inputs, *((name(n), t) for n, t in graph.inputs)), nodes=(*graph.nodes, *nodes),
                     outputs=(*graph.outputs, *(o for o in outputs if o not in graph.outputs)),
                     types={**graph.types, **{name(n): t for n, t in graph.types.items()}})


def inputs_twice(inputs: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays for both copies."""
    return {**inputs, **{f"{OTHER}{n}": a for n, a in others.items()}}
