"""Small passes: sizes and values bound, constant folding, types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.given import given_array
from polysched.graph.evaluation.inference import infer
from polysched.graph.evaluation.interpreter import check_input
from polysched.graph.passes.dead_code import remove_dead_code
from polysched.graph.passes.differentiation.gradients import differentiated
from polysched.graph.passes.names import fresh_names
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.sizes import Size, SizeLike


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

    A `Gradient` that waits for sizes becomes derivatives.

    Raises
    ------
    UnsupportedGraphError : there is no such symbol or input, a value has another type, or derivatives are not had.
    UsageError : a value is a masked array.
    """
    sizes, values = sizes or {}, values or {}
    unknown = [n for n in sizes if n not in graph.symbols] + [n for n in values if n not in dict(graph.inputs)]
    if unknown:
        raise UnsupportedGraphError(f"the graph has no symbol or input {unknown[0]!r}", where=f"graph {graph.name}",
                                    hint=f"symbols: {', '.join(graph.symbols) or 'none'}")
    types = {n: t.bound(sizes) for n, t in graph.inputs}
    arrays = {n: given_array(n, value) for n, value in values.items()}
    for name, array in arrays.items():
        check_input(name, types[name], array)
    inputs = tuple((n, t) for n, t in types.items() if n not in arrays)
    return differentiated(graph.but(inputs=inputs, types={}, constants={**graph.constants, **arrays}))


def fold_constants(graph: Graph) -> Graph:
    """Compute whatever follows from constants and shapes, shape arithmetic included.

    Rewrite:  const a = [2]; let b = Mul(a, a); let c = Reshape(x, b)  ->  const b = [4]; let c = Reshape(x, b)

    A shape with one extent that is affine in symbols becomes a constant with -1 there; the type of the result says it.
    """
    inferred, fresh = infer(graph), fresh_names(graph)
    known = inferred.known
    kept, constants = [], dict(graph.constants)
    for node in graph.nodes:
        values = [known.get(o) for o in node.outputs if o]
        if all(v is not None and v.dtype != object for v in values):
            constants |= {o: known[o] for o in node.outputs if o}
            continue
        shape = known.get(node.inputs[1]) if node.op == "Reshape" else None
        wanted = constant_shape(inferred.types[node.outputs[0]].shape) if shape is not None else None
        if shape is not None and shape.dtype == object and wanted is not None:
            name = fresh("shape")
            constants[name] = np.array(wanted, np.int64)
            node = Node.of("Reshape", (node.inputs[0], name), node.outputs, name=node.name)
        kept.append(node)
    return remove_dead_code(graph.but(nodes=tuple(kept), constants=constants, types={}))


def constant_shape(shape: Sequence[Size]) -> list[int] | None:
    """A shape as an operand of Reshape, with -1 for one extent that is a symbol; None where there are more."""
    open_ones = [d for d, e in enumerate(shape) if not e.is_constant]
    if not open_ones:
        return [int(e) for e in shape]
    if len(open_ones) > 1 or any(e == 0 for e in shape):
        return None
    return [-1 if d in open_ones else int(e) for d, e in enumerate(shape)]
