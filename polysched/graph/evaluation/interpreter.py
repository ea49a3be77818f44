"""A graph run in NumPy, node by node: what every compiled model is compared with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import site_of
from polysched.graph.operators.operator import Site
from polysched.graph.operators.registry import operator_of
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.types import TensorType


def interpret(graph: Graph, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of a graph for arrays of its inputs, by the references of its operators.

    Shapes may differ from call to call where the graph has symbols.  A result that has another type than was inferred
    is a fault of an operator's description and raises `UnsupportedGraphError`.

    Raises
    ------
    UnsupportedGraphError : an input is missing or has another type.
    """
    values: dict[str, np.ndarray] = dict(graph.constants)
    for name, its_type in graph.inputs:
        if name not in inputs:
            raise UnsupportedGraphError(f"the input {name!r} is missing", where=f"graph {graph.name}")
        values[name] = np.asarray(inputs[name])
        check_input(name, its_type, values[name])
    for node in graph.nodes:
        values |= run_node(node, values)
    return {name: values[name] for name in graph.outputs}


def check_input(name: str, its_type: TensorType, value: np.ndarray) -> None:
    """Refuse an array of another type than an input has.

    Raises
    ------
    UnsupportedGraphError : element type, rank or a known extent differ.
    """
    own = value.dtype != its_type.numpy or value.ndim != its_type.rank or any(
        e.is_constant and e.constant != n for e, n in zip(its_type.shape, value.shape, strict=True))
    if own:
        raise UnsupportedGraphError(f"the input {name!r} is {its_type}",
                                    witness=f"{value.dtype}[{', '.join(map(str, value.shape))}]")


def run_node(node: Node, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The results of one node, compared with the types that its operator promises."""
    operator = operator_of(node)
    types = {n: TensorType.of_array(values[n]) for n in node.inputs if n in values}
    site = site_of(node, types, values)
    promised = operator.types(site)
    site = Site(node=node, inputs=site.inputs, known=site.known, outputs=promised)
    results = operator.reference(site, *(values[n] if n else None for n in node.inputs))
    listed = results if isinstance(results, tuple) else (results,)
    found: dict[str, np.ndarray] = {}
    for name, its_type, value in zip(node.outputs, promised, listed, strict=False):
        if TensorType.of_array(np.asarray(value)) != its_type:
            raise UnsupportedGraphError(f"the reference of {node.op} makes another type than it promises",
                                        where=node.where, witness=f"{TensorType.of_array(value)}, not {its_type}")
        if name:
            found[name] = np.asarray(value)
    return found
