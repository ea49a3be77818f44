"""`CompiledModel`: a graph as one shared object, called with arrays by name."""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polysched.errors import CompileError, UnsupportedGraphError, UsageError
from polysched.graph.evaluation.interpreter import check_input
from polysched.graph.planning.memory import ALIGNMENT
from polysched.graph.planning.plan import Copies, Kernel, Plan
from polysched.graph.values.graph import Graph
from polysched.measure.processes.building import first_lines
from polysched.model.driver import ENTRY, FIRST_OF_INDICES, NO_MEMORY, driver_text
from polysched.model.kernels import FLAGS, KIND, BuiltKernel, build_kernels, compile_object, of_database, symbol_of
from polysched.pipeline.options import PipelineOptions
from polysched.target import Compiler, build_cache, find_compiler

LIBRARY = "model.so"
DRIVER = "driver.c"


class CompiledModel:
    """A graph that runs as C on NumPy arrays.

    It is called with the graph's inputs by name, and returns the outputs by name.

    Parameters
    ----------
    graph : as it was given, with sizes and values bound.
    plan : its steps and its memory.
    options : of the pipeline.
    """

    def __init__(self, graph: Graph, plan: Plan, options: PipelineOptions) -> None:
        self.graph = graph
        self.plan = plan
        self.options = options
        self._running = threading.Lock()   # one arena: calls of several threads take turns

    def __repr__(self) -> str:
        return (f"<CompiledModel {self.graph.name[:60]}: {len(self.plan.kernels)} kernels, "
                f"{len(set(self._symbols.values()))} of them different, arena {self.plan.arena.bytes} bytes>")

    @cached_property
    def _symbols(self) -> dict[int, str]:
        """The function of every kernel step."""
        return {place: symbol_of(step.fragment, self.options) for place, step in enumerate(self.plan.steps)
                if isinstance(step, Kernel)}

    @cached_property
    def kernels(self) -> dict[str, BuiltKernel]:
        """The different kernels by their symbol, built.

        Raises
        ------
        PolyschedError : a stage or the compiler refuses one.
        """
        return build_kernels([k.fragment for k in self.plan.kernels], self.options)

    @cached_property
    def c_source(self) -> str:
        """The C of the driver."""
        return driver_text(self.plan, self._symbols)

    @cached_property
    def library(self) -> Path:
        """The shared object of the whole model, in the cache."""
        compiler = find_compiler(self.options.cc)
        key = build_cache.entry_key({"driver": self.c_source, "flags": list(FLAGS),
                                     "options": self.options.differences(), **of_database(self.options)}, compiler)
        return build_cache.find_or_build(key, lambda folder: self._build(folder, compiler), kind=KIND) / LIBRARY

    def _build(self, folder: Path, compiler: Compiler) -> None:
        (folder / DRIVER).write_text(self.c_source)
        compile_object(folder / DRIVER, folder / "driver.o", compiler, what=f"the driver of {self.graph.name}")
        objects = [str(k.object) for k in self.kernels.values()]
        done = compiler.run(["-shared", "-fPIC", "-o", str(folder / LIBRARY), str(folder / "driver.o"), *objects,
                             *compiler.openmp_link, "-lm"], folder=folder)
        if done.returncode != 0:
            raise CompileError(f"{compiler} cannot link the model {self.graph.name}",
                               witness=first_lines(done.stderr, str(folder)))
        (folder / "entry.json").write_text(json.dumps({"model": self.graph.name, "kernels": sorted(self.kernels)}))

    @cached_property
    def _function(self) -> Any:
        function = getattr(ctypes.CDLL(str(self.library)), ENTRY)
        function.restype = ctypes.c_int
        function.argtypes = [ctypes.c_void_p] * 4
        return function

    @cached_property
    def _constants(self) -> list[np.ndarray]:
        return [np.ascontiguousarray(a) for a in self.plan.graph.constants.values()]

    @cached_property
    def _places_of_constants(self) -> Any:
        return _pointers(self._constants)

    @cached_property
    def _results(self) -> list[tuple[tuple[int, ...], np.dtype]]:
        """Shape and element type of every output."""
        types = [self.plan.type_of(o) for o in self.plan.graph.outputs]
        return [(t.extents, t.numpy) for t in types]

    @cached_property
    def _arena(self) -> np.ndarray:
        return np.empty(self.plan.arena.bytes + ALIGNMENT, np.uint8)

    def __call__(self, **inputs: np.ndarray) -> dict[str, np.ndarray]:
        """The outputs for arrays of the inputs.

        Raises
        ------
        UnsupportedGraphError : an input is missing or has another type.
        MemoryError : there is no memory for a temporary.
        """
        return self.run(inputs)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The outputs for arrays of the inputs, for names that are no identifiers."""
        given = _given(self.graph, inputs)
        outputs = [np.empty(shape, dtype) for shape, dtype in self._results]
        with self._running:
            arena = self._arena.ctypes.data
            status = self._function(_pointers(given), _pointers(outputs), self._places_of_constants,
                                    arena + -arena % ALIGNMENT)
        if status == NO_MEMORY:
            raise MemoryError(f"{self.graph.name}: no memory for the temporaries")
        if status >= FIRST_OF_INDICES:
            step = self.plan.steps[status - FIRST_OF_INDICES]
            assert isinstance(step, Copies)
            raise UsageError("an index is outside the dimension that it counts", where=f"value {step.output!r}",
                             hint="indices of a dimension of extent n go from -n to n - 1")
        return dict(zip(self.plan.graph.outputs, outputs, strict=True))


def _given(graph: Graph, inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """The arrays of the inputs in their order, contiguous."""
    unknown = [name for name in inputs if name not in dict(graph.inputs)]
    missing = [name for name, _ in graph.inputs if name not in inputs]
    if unknown or missing:
        raise UnsupportedGraphError(f"the model has no input {unknown[0]!r}" if unknown else
                                    f"the input {missing[0]!r} is missing", where=f"model {graph.name}",
                                    hint=f"inputs: {', '.join(f'{n}: {t}' for n, t in graph.inputs) or 'none'}")
    found = []
    for name, its_type in graph.inputs:
        array = np.asarray(inputs[name])
        check_input(name, its_type, array)
        found.append(np.ascontiguousarray(array).reshape(array.shape))
    return found


def _pointers(arrays: list[np.ndarray]) -> Any:
    return (ctypes.c_void_p * max(len(arrays), 1))(*(a.ctypes.data for a in arrays))
