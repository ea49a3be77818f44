"""`CompiledModel`: a graph as one shared object, called with arrays by name."""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polysched.errors import UnsupportedGraphError, UsageError
from polysched.graph.limits import LIMITS as GRAPH_LIMITS
from polysched.graph.passes.narrow.carriers import narrow_outputs
from polysched.graph.planning.memory import ALIGNMENT
from polysched.graph.planning.plan import Plan
from polysched.graph.planning.steps import Copies, Kernel, Step
from polysched.graph.values.graph import Graph
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.kernel.passed_values import address_of
from polysched.model.driver import ARENA, ENTRY, FIRST_OF_INDICES, NO_MEMORY, driver_text, negative_at_some_size
from polysched.model.island import Island
from polysched.model.kernels import (
    FLAGS,
    KIND,
    BuiltKernel,
    build_kernels,
    compile_object,
    for_sizes,
    link_library,
    of_database,
    said_of,
    symbol_of,
)
from polysched.model.likely import LikelySizes, likely_sizes, sampled_sizes
from polysched.model.limits import LIMITS
from polysched.model.running import RunningModel
from polysched.model.saving import Parts, save, write_source
from polysched.model.sizes import Arguments
from polysched.model.variants import Asked, Choice, Chosen, choose
from polysched.pipeline.options import PipelineOptions
from polysched.records import dataclass
from polysched.scop.dtypes import DType
from polysched.target import Compiler, build_cache, find_compiler
from polysched.target.newest import Newest

if TYPE_CHECKING:
    from polysched.model.measured_plans import PlanRace

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
    likely : values of sizes that stay open: kernels with such a size have a code per value, and the driver chooses.

    Raises
    ------
    UsageError : the options name a device, or the likely values are none.
    """

    def __init__(self, graph: Graph, plan: Plan, options: PipelineOptions, *,
                 likely: LikelySizes | None = None) -> None:
        if options.device is not None:
            raise UsageError(f"compiled models do not run on {options.device}", witness=f"device {options.device}",
                             hint="leave the device out, or use @polysched.kernel or polysched.source_to_source")
        self.graph = graph
        self.likely = likely_sizes(graph, likely)
        self._steps = plan
        self.options = options
        self.race: PlanRace | None = None   # where its plan was chosen by times
        self.last_sizes: dict[str, int] | None = None   # of the last call; what it placed its arena for
        self._arguments = Arguments(graph)
        self._kept: Newest[tuple[int, ...], _Ready] = Newest(LIMITS.most_sizes)
        self._running = threading.Lock()   # one arena: calls of several threads take turns

    def __repr__(self) -> str:
        arena = (f"sizes {', '.join(self.graph.symbols)[:60]} open" if self.graph.symbols else
                 f"arena {self.plan.arena.bytes} bytes")
        different = {symbol_of(k.fragment, self.options, said=self._said) for k in self._steps.kernels}
        return (f"<CompiledModel {self.graph.name[:60]}: {len(self._steps.kernels)} kernels, "
                f"{len(different)} of them different, {arena}>")

    @cached_property
    def plan(self) -> Plan:
        """The steps and their memory; with likely sizes also the codes of kernels, for which these are built.

        Raises
        ------
        PolyschedError : a stage or the compiler refuses a kernel.
        """
        if not self.likely:
            return self._steps
        told: dict[Step, str] = {step: chosen.told(self._ranging) for step, chosen in self._chosen.items()}
        for step in self._steps.kernels:
            fixed = [f"{size} = {own}" for size in step.sizes if (own := size.bound(self._fixed)).is_constant]
            if fixed:
                told[step] = "; ".join(filter(None, [told.get(step, ""), f"made for {', '.join(fixed)}"]))
        return replace(self._steps, variants=told)

    @property
    def _ranging(self) -> str:
        """The size with several likely values; empty where none has."""
        return next((name for name, values in self.likely.items() if len(values) > 1), "")

    @property
    def _fixed(self) -> dict[str, int]:
        """The sizes with one likely value."""
        return {name: values[0] for name, values in self.likely.items() if len(values) == 1}

    @cached_property
    def _shared(self) -> frozenset[Kernel]:
        """The kernels that every thread of a team calls."""
        return frozenset(self._steps.shared)

    def _asked(self, step: Kernel) -> dict[int, Asked]:
        """What the codes of a kernel are made for, by the likely value; one by 0 where it has no size with several."""
        if step in self._shared:
            return {0: Asked(shared=True)}   # its sizes are known
        names = {size: f"n{place}" for place, size in enumerate(step.sizes)}
        fixed = {own: int(value) for size, own in names.items() if (value := size.bound(self._fixed)).is_constant}
        if (ranging := Size.symbol(self._ranging)) not in names:
            return {0: Asked(assumed=tuple(sorted(fixed.items())))}
        own, values = names[ranging], self.likely[self._ranging]
        return {value: Asked(assumed=tuple(sorted({**fixed, own: value}.items())), parameter=own,
                             sampled=sampled_sizes(values)) for value in values}

    @cached_property
    def _built(self) -> dict[str, BuiltKernel]:
        """Every code of every kernel by its symbol."""
        wanted = [(k.fragment, asked) for k in self._steps.kernels for asked in self._asked(k).values()]
        return build_kernels([f for f, _ in wanted], self.options, [a for _, a in wanted])

    @cached_property
    def _chosen(self) -> dict[Kernel, Chosen]:
        """The codes that are kept of kernels that have several."""
        found = {}
        for step in self._steps.kernels:
            asked = self._asked(step)
            if 0 not in asked:
                built = {v: self._built[symbol_of(step.fragment, for_sizes(self.options, a))] for v, a in asked.items()}
                found[step] = choose([kernel.candidate(value) for value, kernel in built.items()],
                                     step.sizes.index(Size.symbol(self._ranging)))
        return found

    @cached_property
    def symbols(self) -> dict[int, Choice]:
        """The functions of every kernel step."""
        return {place: self._choice(step) for place, step in enumerate(self._steps.walked) if isinstance(step, Kernel)}

    def _choice(self, step: Kernel) -> Choice:
        asked = self._asked(step)
        if 0 not in asked:
            return self._chosen[step].choice
        own = asked[0]
        return Choice(functions=(symbol_of(step.fragment, for_sizes(self.options, own), shared=own.shared,
                                           said=None if own.assumed else self._said),))

    @cached_property
    def _said(self) -> str:
        return said_of(self.options)

    @cached_property
    def kernels(self) -> dict[str, BuiltKernel]:
        """The different kernels by their symbol, built.

        Raises
        ------
        PolyschedError : a stage or the compiler refuses one.
        """
        kept = {function for choice in self.symbols.values() for function in choice.functions}
        return {symbol: kernel for symbol, kernel in self._built.items() if symbol in kept}

    @cached_property
    def c_source(self) -> str:
        """The C of the driver."""
        return driver_text(self.plan, self.symbols, threads=self.options.emit_options().openmp)

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
        link_library([folder / "driver.o", *(k.object for k in self.kernels.values())], folder / LIBRARY, compiler,
                     what=f"the model {self.graph.name}")
        (folder / "entry.json").write_text(json.dumps({"model": self.graph.name, "kernels": sorted(self.kernels)}))

    @property
    def islands(self) -> tuple[Island, ...]:
        """What is not compiled: nothing."""
        return ()

    @property
    def shares(self) -> dict[Island, float | None]:
        """The share of the time that each island took: there is none."""
        return {}

    @property
    def models(self) -> tuple[CompiledModel, ...]:
        """The parts that are compiled: itself."""
        return (self,)

    def prepare(self) -> None:
        """Compile and load it, which its first call does else."""
        self._function  # noqa: B018

    @cached_property
    def _loaded(self) -> ctypes.CDLL:
        return ctypes.CDLL(str(self.library))

    @cached_property
    def _function(self) -> Any:
        function = getattr(self._loaded, ENTRY)
        function.restype = ctypes.c_int
        function.argtypes = [ctypes.c_void_p] * 7
        return function

    def _ready(self, sizes: tuple[int, ...]) -> _Ready:
        """What a call for some sizes needs; kept for the sizes of the last calls."""
        return self._kept.find_or_make(sizes, lambda: self._made_ready(sizes))

    def _made_ready(self, sizes: tuple[int, ...]) -> _Ready:
        """The same, made anew."""
        values = dict(zip(self.graph.symbols, sizes, strict=True))
        types = [self._result(o).bound(values) for o in self.plan.graph.outputs]
        given = (ctypes.c_long * max(len(sizes), 1))(*sizes)
        offsets = (ctypes.c_long * max(len(self.plan.lives), 1))()
        where = getattr(self._loaded, ARENA)
        where.restype, where.argtypes = ctypes.c_long, [ctypes.c_void_p] * 2
        needed = where(given, offsets)
        if needed < 0:
            problem = ("a value has a negative extent, an operand is larger than the data that it goes over, or a "
                       "slice ends outside")
            where, said = f"model {self.graph.name}", ", ".join(f"{n} = {v}" for n, v in values.items())
            negative = [e for e in negative_at_some_size(self.plan) if int(e.bound(values)) < 0]
            left = [e for e in negative if e in self.plan.ranges]
            if left:
                raise UnsupportedGraphError(
                    "a whole number that follows from open sizes leaves its type", where=where,
                    witness=f"{', '.join(map(str, left))} with {said}: negative",
                    hint=f"compute shapes in int64, or compile with sizes={values}: then it wraps as in ONNX")
            if not negative:
                raise UnsupportedGraphError("a value is larger than a model may have", where=where, witness=said,
                                            hint=f"give smaller arrays: at most {GRAPH_LIMITS.most_bytes} bytes each")
            raise UnsupportedGraphError(problem, where=where, witness=f"{', '.join(map(str, negative))} with {said}",
                                        hint=f"compile with sizes={values}, where a slice may end outside")
        arena = np.empty(needed + ALIGNMENT, np.uint8)
        return _Ready(sizes=given, offsets=offsets, arena=arena, results=tuple((t.extents, t.numpy) for t in types))

    def memory(self, inputs: Mapping[str, Any]) -> CallMemory:
        """What a call with these inputs needs, apart from the model's own: for callers that run its steps themselves.

        Raises
        ------
        UnsupportedGraphError : an input is missing or has another type.
        """
        given, sizes = self._arguments.of(inputs)
        ready = self._ready(tuple(sizes.values()))
        arena = np.empty(len(ready.arena), np.uint8)
        first = -arena.ctypes.data % ALIGNMENT
        return CallMemory(inputs=given, constants=self._constants, sizes=np.array(ready.sizes, np.int64),
                          offsets=np.array(ready.offsets, np.int64), arena=arena[first:],
                          results=dict(zip(self.plan.graph.outputs, ready.results, strict=True)))

    @cached_property
    def _narrow(self) -> dict[str, DType]:
        """The outputs whose bits are those of a narrow type."""
        return narrow_outputs(self.graph)

    def _result(self, output: str) -> TensorType:
        """The type of an output as a caller sees it."""
        own = self.plan.type_of(output)
        return own.with_dtype(self._narrow[output]) if output in self._narrow else own

    @cached_property
    def _constants(self) -> list[np.ndarray]:
        return [np.ascontiguousarray(a) for a in self.plan.graph.constants.values()]

    @cached_property
    def _places_of_constants(self) -> Any:
        return _pointers(self._constants)

    def save(self, path: str | Path) -> tuple[Path, Path, Path]:
        """Write the model as `NAME.so`, with `NAME.h` and `NAME.weights` beside it: it runs without Python.

        Raises
        ------
        UsageError : the path does not end in .so, or its folder is not there.
        PolyschedError : a stage or the compiler refuses something.
        """
        return save(self._parts, path)

    def write_source(self, folder: str | Path, name: str = "model") -> Path:
        """Write the model as C source with a program that reads and writes .npy files; `sh build.sh` makes it."""
        return write_source(self._parts, folder, name)

    @property
    def _parts(self) -> Parts:
        return Parts(plan=self.plan, symbols=self.symbols, kernels=self.kernels,
                     compiler=find_compiler(self.options.cc), threads=self.options.emit_options().openmp)

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
        given, sizes = self._arguments.of(inputs)
        with self._running:
            outputs = self._outputs(sizes)
            self._call(given, outputs, sizes, None)
        return outputs

    def start(self, inputs: Mapping[str, Any] | None = None, /, **more: np.ndarray) -> RunningModel:
        """Begin a call: each output can be had as soon as it is whole.

        Returns
        -------
        what waits for outputs; until it has finished, other calls of the model wait.

        Raises
        ------
        UnsupportedGraphError : an input is missing or has another type.
        """
        given, sizes = self._arguments.of({**(inputs or {}), **more})
        self.prepare()
        with self._running:
            outputs = self._outputs(sizes)

        def call(ready: Any) -> None:
            with self._running:
                self._call(given, outputs, sizes, ready)
        return RunningModel(self.graph.name, outputs, call)

    def _outputs(self, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
        """Arrays for the outputs."""
        results = self._ready(tuple(sizes.values())).results
        return {n: np.empty(shape, dtype) for n, (shape, dtype) in zip(self.plan.graph.outputs, results, strict=True)}

    def _call(self, given: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray], sizes: dict[str, int],
              flags: Any) -> None:
        """Run the C function.

        Parameters
        ----------
        flags : of the outputs, or nothing.
        """
        self.last_sizes, ready = sizes, self._ready(tuple(sizes.values()))
        arena = address_of(ready.arena)
        status = self._function(_pointers(list(given.values())), _pointers(list(outputs.values())),
                                self._places_of_constants, ready.sizes, ready.offsets, arena + -arena % ALIGNMENT,
                                flags)
        if status == NO_MEMORY:
            raise MemoryError(f"{self.graph.name}: no memory for the temporaries")
        if status >= FIRST_OF_INDICES:
            step = self.plan.walked[status - FIRST_OF_INDICES]
            assert isinstance(step, Copies)
            where = f"node {(step.node or step.output)!r}, index {' and '.join(map(repr, step.indices))}"
            raise UsageError("an index is outside the dimension that it counts", where=where,
                             hint="indices of a dimension of extent n go from -n to n - 1")


@dataclass(frozen=True, eq=False, kw_only=True)
class CallMemory:
    """The arrays of one call, in the order of the driver's arguments, and what its outputs are.

    Parameters
    ----------
    inputs, constants : as the driver takes them.
    sizes, offsets : of the open sizes, and where values stand in the arena.
    arena : of this call alone, aligned.
    results : shape and element type of every output.
    """

    inputs: Mapping[str, np.ndarray]
    constants: list[np.ndarray]
    sizes: np.ndarray
    offsets: np.ndarray
    arena: np.ndarray
    results: Mapping[str, tuple[tuple[int, ...], np.dtype]]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Ready:
    """What a call for some sizes needs.

    Parameters
    ----------
    sizes, offsets : as the C function takes them.
    arena : memory for all values that stand in it.
    results : shape and element type of every output.
    """

    sizes: Any
    offsets: Any
    arena: np.ndarray
    results: tuple[tuple[tuple[int, ...], np.dtype], ...]


def _pointers(arrays: list[np.ndarray]) -> Any:
    return (ctypes.c_void_p * max(len(arrays), 1))(*map(address_of, arrays))
