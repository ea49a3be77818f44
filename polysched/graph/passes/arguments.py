"""Split arguments: operators of very many operands become trees of operators of few."""

from __future__ import annotations

from collections.abc import Sequence

from polysched.graph.limits import LIMITS
from polysched.graph.passes.rewriting import Rewriting, rewritten
from polysched.graph.values.graph import Graph, Node

ASSOCIATIVE = frozenset({"Concat", "Max", "Min"})
"""A Sum is not among them: its order of additions is part of the result."""


def split_arguments(graph: Graph, most: int = LIMITS.most_arguments) -> Graph:
    """Let no Concat, Max or Min have more operands than a call takes.

    Rewrite:  let y = Concat(a, b, c)  ->  let t = Concat(a, b); let y = Concat(t, c)     (of at most 2)

    Parameters
    ----------
    most : operands; at least 2.
    """
    def split(node: Node, rw: Rewriting) -> Sequence[str] | None:
        if node.op not in ASSOCIATIVE or len(node.inputs) <= most:
            return None
        names = list(node.inputs)
        while len(names) > 1:
            parts = [names[k:k + most] for k in range(0, len(names), most)]
            names = [rw.op(node.op, *part, **dict(node.attributes)) if len(part) > 1 else part[0] for part in parts]
        return (names[0],)
    return rewritten(graph, split)
