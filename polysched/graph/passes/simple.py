"""Small passes: constant folding, dead code, types."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.evaluation.interpreter import check_input
from polysched.graph.values.graph import Graph
from polysched.graph.values.sizes import SizeLike


def with_types(graph: Graph) -> Graph:
    """The graph with the type of every value that a node binds.

    Rewrite:  let y = Add(x, w)  ->  let y: float32[N, 4] = Add(x, w)
    """
    bound = {o for node in graph.nodes for o in node.outputs}
    return graph.but(types={name: t for name, t in infer(graph).types.items() if name in bound})


def bind(graph: Graph, sizes: Mapping[str, SizeLike] | None = None,
         values: Mapping[str, np.ndarray] | None = None) -> Graph:
    """The graph for some sizes, and with some inputs as constants.

    Rewrite:  graph f(x: float32[N, 4], s: int64[2])  ->  graph f(x: float32[8, 4]) { const s: int64[2] = [8, 4]

    Raises
    ------
    UnsupportedGraphError : there is no such symbol or input, or a value has another type.
    """
    sizes, values = sizes or {}, values or {}
    unknown = [n for n in sizes if n not in graph.symbols] + [n for n in values if n not in dict(graph.inputs)]
    if unknown:
        raise UnsupportedGraphError(f"the graph has no symbol or input {unknown[0]!r}", where=f"graph {graph.name}",
                                    hint=f"symbols: {', '.join(graph.symbols) or 'none'}")
    types = {n: t.bound(sizes) for n, t in graph.inputs}
    arrays = {n: np.asarray(value) for n, value in values.items()}
    for name, array in arrays.items():
        check_input(name, types[name], array)
    inputs = tuple((n, t) for n, t in types.items() if n not in arrays)
    return graph.but(inputs=inputs, types={}, constants={**graph.constants, **arrays})


def fold_constants(graph: Graph) -> Graph:
    """Compute whatever follows from constants and shapes, shape arithmetic included.

    Rewrite:  const a = [2]; let b = Mul(a, a); let c = Reshape(x, b)  ->  const b = [4]; let c = Reshape(x, b)
    """
    known = infer(graph).known
    kept, constants = [], dict(graph.constants)
    for node in graph.nodes:
        values = [known.get(o) for o in node.outputs if o]
        if all(v is not None and v.dtype != object for v in values):
            constants |= {o: known[o] for o in node.outputs if o}
        else:
            kept.append(node)
    return remove_dead_code(graph.but(nodes=tuple(kept), constants=constants, types={}))


def remove_dead_code(graph: Graph) -> Graph:
    """Leave out nodes and constants that no output needs.

    Rewrite:  let a = Exp(x); let b = Neg(x); return b  ->  let b = Neg(x); return b
    """
    needed = set(graph.outputs)
    kept = []
    for node in reversed(graph.nodes):
        if needed & set(node.outputs):
            kept.append(node)
            needed |= set(node.used)
    nodes = tuple(reversed(kept))
    return graph.but(nodes=nodes, constants={n: a for n, a in graph.constants.items() if n in needed},
                     types={n: t for n, t in graph.types.items() if any(n in k.outputs for k in nodes)}
                     if graph.types else {})
