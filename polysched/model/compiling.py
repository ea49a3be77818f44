"""`polysched.compile`: whatever compiles, graphs among it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polysched.errors import UsageError
from polysched.graph.passes.expansion import expand_compositions
from polysched.graph.passes.kernel_layout import drop_unit_dimensions, pack_weights, pad_explicitly
from polysched.graph.passes.registry import standard
from polysched.graph.passes.simple import bind, fold_constants, with_types
from polysched.graph.planning.plan import Plan, plan
from polysched.graph.values.graph import Graph
from polysched.kernel.compiling import compile as compile_program
from polysched.model.compiled_model import CompiledModel
from polysched.pipeline.options import PipelineOptions
from polysched.target import Target


def compile(program: Any, *, sizes: Mapping[str, int] | None = None, values: Mapping[str, np.ndarray] | None = None,
            options: PipelineOptions | None = None, **more: Any) -> Any:
    """A graph as a `CompiledModel`; anything else as `polysched.kernel.compile` has it.

    Parameters
    ----------
    program : a graph; a Scop, the path of a C file, a tensor expression, a kernel or a Python function.
    sizes, values : of a graph, see `compile_graph`.
    options : of the pipeline.

    Raises
    ------
    UsageError : sizes or values of something that is no graph.
    PolyschedError : any stage refuses.
    """
    if isinstance(program, Graph):
        return compile_graph(program, sizes=sizes, values=values, options=options, **more)
    if sizes is not None or values is not None:
        raise UsageError("sizes= and values= are of graphs", witness=f"the program is a {type(program).__name__}")
    return compile_program(program, options=options, **more)


def compile_graph(graph: Graph, *, sizes: Mapping[str, int] | None = None,
                  values: Mapping[str, np.ndarray] | None = None,
                  options: PipelineOptions | None = None) -> CompiledModel:
    """A graph as a function of arrays by name.

    Parameters
    ----------
    sizes : values of symbols of its shapes; the others stay open, and every call says them by its arrays.
    values : values of inputs that decide about shapes; such an input is no argument of the model any more.

    Raises
    ------
    UnsupportedGraphError : a node is not had, or not for a size that is open; nothing is compiled before that is known.
    """
    bound = bind(graph, sizes, values)
    chosen = options or PipelineOptions()
    return CompiledModel(bound, planned(bound, chosen.target()), chosen)


def planned(graph: Graph, target: Target | None = None) -> Plan:
    """The plan of a graph: after the standard passes its nodes are grouped.

    Parameters
    ----------
    target : whose vectors decide how weights stand; without it every value stands as the graph says.
    """
    graph = graph.but(outputs=tuple(dict.fromkeys(graph.outputs)))
    expanded = standard(graph)
    if target is not None:
        expanded = _placed(expanded, target)
    return plan(with_types(expanded))


def _placed(graph: Graph, target: Target) -> Graph:
    """The graph with the layouts that kernels are fast with."""
    padded = fold_constants(pad_explicitly(drop_unit_dimensions(graph)))
    packed = pack_weights(padded, lanes=lambda dtype: target.lanes(dtype.bits))
    return fold_constants(expand_compositions(packed))
