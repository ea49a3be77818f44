"""`onnx.backend.base` over compiled models: ONNX's own tests run what a user runs.

Operands that decide about shapes are values in ONNX's tests: a model is compiled for their values when it is first
called with them, and kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from polysched.errors import PolyschedError
from polysched.graph.evaluation.given import given_array
from polysched.graph.evaluation.sequences import item_name
from polysched.graph.evaluation.steering import steering_inputs
from polysched.graph.reading.onnx_reader import Elements, load, structured_inputs
from polysched.graph.values.graph import Graph
from polysched.graph.values.types import TensorType
from polysched.model.compiled_model import CompiledModel
from polysched.model.compiling import compile_graph
from polysched.model.limits import LIMITS
from polysched.pipeline.options import PipelineOptions
from polysched.target.newest import Newest


class PolyschedRep(BackendRep):
    """A model that compiles for the sizes and steering values of its first call, and for others when they come."""

    def __init__(self, graph: Graph, options: PipelineOptions | None = None) -> None:
        self.graph = graph
        self.options = options
        self.steering = steering_inputs(graph)
        self._bound = steering_inputs(graph, control=False)
        self._compiled: Newest[object, CompiledModel] = Newest(LIMITS.most_specialisations)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs in their order; a sequence is a list.

        Parameters
        ----------
        inputs : arrays by name, or in the order of the inputs.
        """
        names = [name for name, _ in self.graph.inputs]
        given = dict(inputs) if isinstance(inputs, Mapping) else dict(zip(names, inputs, strict=True))
        arrays = {name: given_array(name, value) for name, value in given.items()}
        model = self.compiled(arrays)
        results = model.run({name: a for name, a in arrays.items() if name in dict(model.graph.inputs)})
        return tuple(results[name] if name in results else _elements(results, name) for name in self.graph.outputs)

    def compiled(self, arrays: Mapping[str, np.ndarray]) -> CompiledModel:
        """The model for the shapes and steering values of some inputs.

        Conditions and numbers of iterations are decided when it runs, where that is possible.
        """
        if self._bound != self.steering:
            try:
                model = self._compiled_for(arrays, self._bound)
                model.prepare()
                return model
            except PolyschedError:   # which the compilation for their values raises again, if that is refused, too
                self._bound = self.steering
        return self._compiled_for(arrays, self.steering)

    def _compiled_for(self, arrays: Mapping[str, np.ndarray], steering: Sequence[str]) -> CompiledModel:
        """The model for the values of some inputs, and the shapes of all."""
        sizes = sizes_by_shapes(self.graph, {name: array.shape for name, array in arrays.items()})
        values = {name: arrays[name] for name in steering}
        key = (tuple(sorted(sizes.items())), tuple((n, v.shape, v.tobytes()) for n, v in sorted(values.items())))
        return self._compiled.find_or_make(key, lambda: compile_graph(self.graph, sizes=sizes, values=values,
                                                                      options=self.options))


def _elements(results: Mapping[str, np.ndarray], output: str) -> list[np.ndarray]:
    """An output that is a sequence; no other value is called as its elements are."""
    names = (item_name(output, place) for place in itertools.count())
    return [results[name] for name in itertools.takewhile(lambda name: name in results, names)]


class StructuredRep(BackendRep):
    """A model whose inputs are sequences or optionals: what they consist of is that of a call.

    Parameters
    ----------
    model : onnx's value.
    """

    def __init__(self, model: onnx.ModelProto, options: PipelineOptions | None = None) -> None:
        self.model = model
        self.options = options
        constants = {t.name for t in model.graph.initializer}
        self.names = [value.name for value in model.graph.input if value.name not in constants]
        self.structured = structured_inputs(model)
        self._known: Newest[object, PolyschedRep] = Newest(LIMITS.most_specialisations)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs in their order; a sequence is a list, an empty optional None.

        Parameters
        ----------
        inputs : values by name, or in the order of the inputs.
        """
        given = dict(inputs) if isinstance(inputs, Mapping) else dict(zip(self.names, inputs, strict=True))
        elements = {name: _types(given[name]) for name in self.structured}
        key = tuple(elements.items())
        model = self._known.find_or_make(key, lambda: PolyschedRep(load(self.model, elements=elements), self.options))
        arrays: dict[str, Any] = {}
        for name, value in given.items():
            if isinstance(value, list):
                arrays |= {item_name(name, place): element for place, element in enumerate(value)}
            elif value is not None:
                arrays[name] = value
        return model.run(arrays)


def _types(value: Any) -> Elements:
    """The types of what a sequence or an optional consists of."""
    if value is None:
        return None
    if isinstance(value, list):
        return tuple(TensorType.of_array(np.asarray(element)) for element in value)
    return TensorType.of_array(np.asarray(value))


def sizes_by_shapes(graph: Graph, shapes: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """The values of the symbols that are an extent of an input, by the shapes of some inputs."""
    found: dict[str, int] = {}
    for name, its_type in graph.inputs:
        for extent, value in zip(its_type.shape, shapes.get(name, ()), strict=False):
            if len(extent.symbols) == 1 and str(extent) in extent.symbols:
                found.setdefault(str(extent), value)
    return found


class PolyschedBackend(Backend):
    """Compiles ONNX models."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> PolyschedRep | StructuredRep:
        """A model ready to run.

        Raises
        ------
        PolyschedError : it is not had.
        """
        if structured_inputs(model):
            return StructuredRep(model, kwargs.get("options"))
        return PolyschedRep(load(model), kwargs.get("options"))

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU",
                 outputs_info: Sequence[Any] | None = None, **kwargs: Any) -> tuple[np.ndarray, ...]:
        """The results of one node for arrays of its operands."""
        names = [name for name in node.input if name]
        arrays = [given_array(n, a) for n, a in zip(names, inputs, strict=True)]
        made = onnx.helper.make_graph(
            [node], "node", [onnx.helper.make_tensor_value_info(
                n, onnx.helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in zip(names, arrays, strict=True)],
            [onnx.helper.make_value_info(n, onnx.TypeProto()) for n in node.output if n])
        version = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
        model = onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", version)])
        return cls.prepare(model).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Processors only."""
        return device.split(":")[0] == "CPU"


prepare = PolyschedBackend.prepare
run_model = PolyschedBackend.run_model
run_node = PolyschedBackend.run_node
supports_device = PolyschedBackend.supports_device
