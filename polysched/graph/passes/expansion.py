"""Compositions: operators that consist of others are replaced by them."""

from __future__ import annotations

from collections.abc import Sequence

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import at_node
from polysched.graph.limits import LIMITS
from polysched.graph.operators.registry import operator_of
from polysched.graph.passes.rewriting import Rewriting, rewritten
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
        graph = rewritten(graph, _composed)
    raise UnsupportedGraphError("compositions contain each other without end", where=f"graph {graph.name}")


def _composed(node: Node, rw: Rewriting) -> Sequence[str] | None:
    composition = operator_of(node).composition
    if composition is None:
        return None
    with at_node(node):
        results = composition(rw.inference.site(node), rw, *node.inputs)
    return results if isinstance(results, tuple) else (results,)
