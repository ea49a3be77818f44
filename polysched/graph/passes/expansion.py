"""Compositions: operators that consist of others are replaced by them."""

from __future__ import annotations

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import at_node, infer, site_of
from polysched.graph.limits import LIMITS
from polysched.graph.operators.builder import Builder
from polysched.graph.operators.registry import operator_of
from polysched.graph.passes.names import fresh_names
from polysched.graph.values.graph import Graph, Node


def expand_compositions(graph: Graph) -> Graph:
    """Replace every operator that is a composition, until none is left.

    Rewrite:  let y = Gemm(a, b, c)  ->  let m = MatMul(a, b); let y = Add(m, c)

    Raises
    ------
    UnsupportedGraphError : they do not end.
    """
    for _ in range(LIMITS.most_expansions):
        if all(operator_of(node).composition is None for node in graph.nodes):
            return graph
        graph = _expanded_once(graph)
    raise UnsupportedGraphError("compositions contain each other without end", where=f"graph {graph.name}")


def _expanded_once(graph: Graph) -> Graph:
    inferred, fresh = infer(graph), fresh_names(graph)
    nodes: list[Node] = []
    constants: dict[str, np.ndarray] = dict(graph.constants)
    for node in graph.nodes:
        composition = operator_of(node).composition
        if composition is None:
            nodes.append(node)
            continue
        builder = Builder(fresh)
        site = site_of(node, inferred.types, inferred.known, results=True)
        with at_node(node):
            results = composition(site, builder, *node.inputs)
        names = results if isinstance(results, tuple) else (results,)
        nodes += _renamed(node, builder, names)
        constants |= builder.constants
    return graph.but(nodes=tuple(nodes), constants=constants, types={})


def _renamed(node: Node, builder: Builder, results: tuple[str, ...]) -> list[Node]:
    """The nodes of a composition, with the results under the names that the replaced node bound."""
    own = {o for n in builder.nodes for o in n.outputs}
    final: dict[str, str] = {}
    extra: list[Node] = []
    for wanted, made in zip(node.outputs, results, strict=False):
        if not wanted:
            continue
        if made in own and made not in final:
            final[made] = wanted
        else:
            extra.append(Node.of("Identity", (final.get(made, made),), (wanted,), name=node.name))
    return [Node(op=n.op, inputs=tuple(final.get(i, i) for i in n.inputs), attributes=n.attributes, regions=n.regions,
                 outputs=tuple(final.get(o, o) for o in n.outputs), name=node.name or node.outputs[0])
            for n in builder.nodes] + extra
