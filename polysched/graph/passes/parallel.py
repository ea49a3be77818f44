"""Combine parallel convolutions and dense layers: those that read the same data become one with more channels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from polysched.graph.passes.dead_code import remove_dead_code
from polysched.graph.passes.names import fresh_names
from polysched.graph.values.graph import Graph, Node

Key: TypeAlias = "tuple[object, ...]"
WEIGHT_AXIS = {"Conv": 0, "MatMul": 1, "Dense": 0}
"""The axis of the weights along which the results lie."""
RESULT_AXIS = {"Conv": 1, "MatMul": -1, "Dense": -1}


def combine_parallel(graph: Graph) -> Graph:
    """Make one operator of several convolutions, products or dense layers of the same data by constant weights.

    Rewrite:  let a = MatMul(x, v); let b = MatMul(x, w)  ->  let m = MatMul(x, [v w]); let a, b = Split(m; axis=-1)

    Every element is the same sum as before.
    """
    groups: dict[Key, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        key = _key(node, graph)
        if key is not None:
            groups[key].append(node)
    fresh, constants = fresh_names(graph), dict(graph.constants)
    first: dict[int, list[Node]] = {}
    for group in groups.values():
        if len(group) > 1:
            first[id(group[0])] = _combined(group, graph, fresh, constants)
    gone = {id(node) for group in groups.values() if len(group) > 1 for node in group[1:]}
    nodes = [made for node in graph.nodes if id(node) not in gone for made in first.get(id(node), [node])]
    return remove_dead_code(graph.but(nodes=tuple(nodes), constants=constants, types={}))


def _key(node: Node, graph: Graph) -> Key | None:
    """What must agree of operators that are combined; None where one is not."""
    if node.op not in WEIGHT_AXIS or node.inputs[1] not in graph.constants or node.attribute("group", 1) != 1:
        return None
    weights = graph.constants[node.inputs[1]]
    if node.op != "Conv" and weights.ndim != 2:
        return None
    bias = node.inputs[2] if len(node.inputs) > 2 else ""
    if bias and bias not in graph.constants:
        return None
    others = tuple(e for d, e in enumerate(weights.shape) if d != WEIGHT_AXIS[node.op])
    return node.op, node.inputs[0], node.attributes, others, weights.dtype.str, bool(bias)


def _combined(group: Sequence[Node], graph: Graph, fresh: Callable[[str], str],
              constants: dict[str, np.ndarray]) -> list[Node]:
    """The one operator and the split of its result."""
    op, attributes = group[0].op, dict(group[0].attributes)
    weights, parts, whole = fresh("weights"), fresh("parts"), fresh(op.lower())
    constants[weights] = np.concatenate([graph.constants[n.inputs[1]] for n in group], WEIGHT_AXIS[op])
    inputs = [group[0].inputs[0], weights]
    if len(group[0].inputs) > 2 and group[0].inputs[2]:
        inputs.append(fresh("bias"))
        constants[inputs[2]] = np.concatenate([graph.constants[n.inputs[2]] for n in group])
    extents = [graph.constants[n.inputs[1]].shape[WEIGHT_AXIS[op]] for n in group]
    constants[parts] = np.array(extents, np.int64)
    return [Node.of(op, inputs, (whole,), attributes, name=group[0].name),
            Node.of("Split", (whole, parts), [n.outputs[0] for n in group], {"axis": RESULT_AXIS[op]})]
