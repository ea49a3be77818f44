"""Compositions: operators that consist of others are replaced by them."""

from __future__ import annotations

from collections.abc import Sequence

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import at_node
from polysched.graph.limits import LIMITS
from polysched.graph.operators.registry import operator_of
from polysched.graph.passes.rewriting import Rewriting, rewritten
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.refusals import Remedy
from polysched.scop.dtypes import FLOAT16


def expand_compositions(graph: Graph) -> Graph:
    """Replace every operator that is a composition, until none is left.

    Rewrite:  let y = Gemm(a, b, c)  ->  let m = MatMul(a, b); let y = Add(m, c)

    What float16 does not hold on the way, as the sum of a mean, is computed in float32.

    Raises
    ------
    UnsupportedGraphError : they do not end.
    """
    for _ in range(LIMITS.most_expansions):
        if all(operator_of(node).composition is None for node in graph.nodes):
            return graph
        graph = rewritten(graph, _composed)
    raise UnsupportedGraphError("compositions contain each other without end", where=f"graph {graph.name}",
                                hint=Remedy.FAULT.value)


def _composed(node: Node, rw: Rewriting) -> Sequence[str] | None:
    operator = operator_of(node)
    composition = operator.composition
    if composition is None:
        return None
    with at_node(node):
        if operator.sums and rw.type(node.inputs[0]).dtype == FLOAT16:
            return _in_float32(node, rw)
        results = composition(rw.inference.site(node), rw, *node.inputs)
    return results if isinstance(results, tuple) else (results,)


def _in_float32(node: Node, rw: Rewriting) -> Sequence[str]:
    """The same operator on float32, with results of the types that they have.

    Rewrite:  let y = ReduceMean(x: float16[N])  ->  let w = Cast(x; to="float32"); let m = ReduceMean(w);
    let y = Cast(m; to="float16")
    """
    own = rw.inference.site(node).outputs
    inputs = [rw.op("Cast", name, to="float32") if name and rw.type(name).dtype == FLOAT16 else name
              for name in node.inputs]
    made = rw.ops(node.op, len(own), *inputs, **dict(node.attributes))
    return [rw.op("Cast", name, to=kind.dtype.name) for name, kind in zip(made, own, strict=True)]
