"""The arrays of a call: checked, and what they say about the sizes that are open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.given import given_array
from polysched.graph.evaluation.interpreter import check_input
from polysched.graph.limits import LIMITS as GRAPH_LIMITS
from polysched.graph.values.graph import Graph
from polysched.graph.values.sizes import Size
from polysched.model.limits import LIMITS


class Arguments:
    """Checks the arrays of calls; what holds for some shapes and types is not found anew by the next call with them.

    Parameters
    ----------
    graph : whose inputs they are.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._names = tuple(name for name, _ in graph.inputs)
        self._known: dict[tuple[tuple[tuple[int, ...], np.dtype], ...], dict[str, int]] = {}

    def of(self, inputs: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, int]]:
        """The arrays in the order of the inputs, contiguous, and the values of the graph's symbols in their order.

        Raises
        ------
        UnsupportedGraphError : an input is missing or has another type, or the arrays say no sizes.
        UsageError : an input is a masked array.
        """
        arrays = [given_array(name, inputs[name]) for name in self._names if name in inputs]
        key = tuple((array.shape, array.dtype) for array in arrays)
        sizes = self._known.get(key) if len(arrays) == len(self._names) == len(inputs) else None
        if sizes is None:
            given = given_arrays(self._graph, inputs)
            sizes = sizes_of(self._graph, given)
            if len(self._known) >= LIMITS.most_sizes:
                self._known = {}
            self._known[key] = sizes
            return given, dict(sizes)
        return {name: array if array.flags.c_contiguous else np.ascontiguousarray(array)
                for name, array in zip(self._names, arrays, strict=True)}, dict(sizes)


def given_arrays(graph: Graph, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The arrays of the inputs in their order, contiguous.

    Raises
    ------
    UnsupportedGraphError : an input is missing or has another type.
    UsageError : an input is a masked array.
    """
    unknown = [name for name in inputs if name not in dict(graph.inputs)]
    missing = [name for name, _ in graph.inputs if name not in inputs]
    if unknown or missing:
        raise UnsupportedGraphError(f"the model has no input {unknown[0]!r}" if unknown else
                                    f"the input {missing[0]!r} is missing", where=f"model {graph.name}",
                                    hint=f"inputs: {', '.join(f'{n}: {t}' for n, t in graph.inputs) or 'none'}")
    found = {}
    for name, its_type in graph.inputs:
        array = given_array(name, inputs[name])
        check_input(name, its_type, array)
        found[name] = np.ascontiguousarray(array).reshape(array.shape)
    return found


def linear_in(extent: Size) -> tuple[str, int]:
    """The symbol of an extent that is a multiple of one symbol and a constant, and its factor; else nothing."""
    if len(extent.terms) != 1 or not isinstance(extent.terms[0][0], str):
        return "", 1
    return extent.terms[0][0], extent.terms[0][1]


def sizes_of(graph: Graph, arrays: Mapping[str, np.ndarray]) -> dict[str, int]:
    """The values of a graph's symbols, in their order, by the extents of arrays.

    Raises
    ------
    UnsupportedGraphError : two extents contradict each other, or none gives a symbol; or a size is 0, or too large.
    """
    if not graph.symbols:
        return {}
    found: dict[str, int] = {}
    for name, its_type in graph.inputs:
        for extent, value in zip(its_type.shape, arrays[name].shape, strict=True):
            symbol, factor = linear_in(extent)
            if symbol and (value - extent.constant) % factor == 0:
                found.setdefault(symbol, (value - extent.constant) // factor)
    for symbol in graph.symbols:
        if found.get(symbol, 0) > GRAPH_LIMITS.most_extent:
            raise UnsupportedGraphError(f"the size {symbol} is {found[symbol]}", where=f"model {graph.name}",
                                        hint=f"a size that is open is at most {GRAPH_LIMITS.most_extent}")
        if found.get(symbol, 0) < 1:
            raise UnsupportedGraphError(f"the size {symbol} is {found.get(symbol, 'given by no input')}",
                                        where=f"model {graph.name}", hint="a size that is open is at least 1; compile "
                                        f"with sizes={{{symbol!r}: {found.get(symbol, 1)}}}")
    for name, its_type in graph.inputs:
        if its_type.bound(found).extents != arrays[name].shape:
            raise UnsupportedGraphError(f"the input {name!r} is {its_type}", where=f"model {graph.name}", witness=(
                f"{list(arrays[name].shape)} with {', '.join(f'{n} = {v}' for n, v in found.items())}"),
                                        hint="give arrays whose extents agree with each other and with the types of "
                                             "the inputs")
    return {symbol: found[symbol] for symbol in graph.symbols}
