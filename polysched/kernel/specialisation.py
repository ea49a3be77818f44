"""A kernel for one combination of argument types: Scop, schedule, C, and the loaded code."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polysched.emit_c.function import CFunction, emit_function, function_around
from polysched.kernel import arguments as checks
from polysched.measure.processes.building import DEFAULT_FLAGS, compile_shared
from polysched.pipeline import Optimized, optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scop.dtypes import BOOL, LONGDOUBLE, DType, Kind
from polysched.scop.interpreter import extents_of
from polysched.scop.python_frontend import PythonScop
from polysched.scop.python_frontend.signature import ArgumentType, ArrayType
from polysched.scop.scop import Array, Storage
from polysched.target import Compiler, build_cache, find_compiler

if TYPE_CHECKING:
    from polysched.kernel.choosing import Choice

FLAGS = (*DEFAULT_FLAGS, "-fwrapv")
LIBRARY = "kernel"
RECORD = "entry.json"
FUNCTION = "polysched_kernel"
EXPORTED = "#pragma GCC visibility push(default)\n"


class Specialisation:
    """One extracted function; it is optimised and compiled when it first runs, or found in the cache.

    Parameters
    ----------
    python : the extracted function.
    options : of the pipeline.
    key_parts : what names the specialisation beyond the compiler: source, types, options.
    types, same : of the arguments, and which of them are the same array.

    Attributes
    ----------
    choices : by the lengths of the sizes in bits, which code is the fastest; for `safe` kernels.
    """

    def __init__(self, python: PythonScop, options: PipelineOptions, key_parts: Mapping[str, object],
                 types: Mapping[str, ArgumentType], same: tuple[tuple[str, str], ...]) -> None:
        self.types = types
        self.same = same
        self.python = python
        self.options = options
        self.key_parts = key_parts
        self.choices: dict[tuple[int, ...], Choice] = {}

    @cached_property
    def optimized(self) -> Optimized:
        """All stages of the pipeline."""
        return optimize(self.python.scop, self.options)

    @cached_property
    def as_written(self) -> Specialisation:
        """The same function with its loops as they are written, on one thread."""
        plain = PipelineOptions(scheduler="original", tile="off", parallel=False, expand=False, cc=self.options.cc,
                                tensorize=None)
        return Specialisation(self.python, plain, {**self.key_parts, "options": "as written"}, self.types, self.same)

    @cached_property
    def c_function(self) -> CFunction:
        """The C function around the optimised region."""
        source = self.optimized.source
        if source.preamble:
            return function_around(source, name=FUNCTION)
        return emit_function(self.optimized.tiled, name=FUNCTION, options=self.options.emit_options())

    @cached_property
    def compiler(self) -> Compiler:
        """What compiles the C."""
        return find_compiler(self.options.cc)

    @cached_property
    def function(self) -> Callable[..., int | None]:
        """The compiled function, loaded; from the cache when it is there.

        Raises
        ------
        CompileError, OutputError : the C does not compile, the cache cannot be written.
        """
        key = build_cache.entry_key(self.key_parts, self.compiler)
        entry = build_cache.find_or_build(key, self._build)
        try:
            library = ctypes.CDLL(str(entry / f"{LIBRARY}.so"))
        except OSError:
            build_cache.forget(key)
            entry = build_cache.find_or_build(key, self._build)
            library = ctypes.CDLL(str(entry / f"{LIBRARY}.so"))
        function = getattr(library, FUNCTION)
        record = json.loads((entry / RECORD).read_text())
        function.restype = ctypes.c_int if record["return_type"] == "int" else None
        function.argtypes = self._argument_types()
        return function  # type: ignore[no-any-return]

    def _build(self, folder: Path) -> None:
        text = EXPORTED + self.c_function.text
        binary = compile_shared(text, name=LIBRARY, folder=folder, compiler=self.compiler, flags=FLAGS,
                                what=f"the kernel {self.python.scop.name}")
        record = {**self.key_parts, "compiler": str(self.compiler), "flags": list(binary.flags),
                  "steps": list(self.optimized.steps()), "return_type": self.c_function.signature.return_type}
        (folder / RECORD).write_text(json.dumps(record, indent=1, sort_keys=True))

    def _argument_types(self) -> list[Any]:
        """The C types of the arguments; the same without emitting anything, so a cached kernel needs no schedule."""
        arrays = [a for a in self.python.scop.arrays if a.storage is not Storage.LOCAL]
        return [c_type(p.dtype) for p in self.python.scop.parameters] + [
            c_type(a.dtype) if passed_by_value(a) else ctypes.c_void_p for a in arrays]

    def prepare(self, values: Mapping[str, Any], sizes: Mapping[str, int]) -> Prepared:
        """Buffers for one call."""
        return Prepared(self, values, sizes)


class Prepared:
    """One call with its buffers: contiguous copies where the caller's arrays are not, and the results.

    Attributes
    ----------
    results : the returned arrays, 0-dimensional for numbers.
    """

    def __init__(self, kernel: Specialisation, values: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        python = kernel.python
        self.kernel = kernel
        self.given: dict[str, Any] = {}
        for argument in python.arguments:
            if not argument.is_size:
                self.given.setdefault(argument.target, values[argument.name])
        self.buffers: dict[str, np.ndarray] = {}
        self.results: dict[str, np.ndarray] = {}
        passed: list[Any] = [int(sizes.get(p.name, 0)) for p in python.scop.parameters]
        for array in python.scop.arrays:
            if array.storage is Storage.LOCAL:
                continue
            if passed_by_value(array):
                passed.append(_number(self.given[array.name], array.dtype))
                continue
            if array.name in self.given:
                buffer = checks.buffer(self.given[array.name])
            else:
                shape = tuple(e or 0 for e in extents_of(array, sizes))
                buffer = self.results[array.name] = checks.empty_result(array.dtype, shape)
            self.buffers[array.name] = buffer
            passed.append(buffer.ctypes.data)
        self.passed = passed

    def run(self) -> None:
        """Run the compiled code on the buffers.

        Raises
        ------
        MemoryError : there is no memory for its temporaries; nothing was computed.
        """
        if self.kernel.function(*self.passed):
            raise MemoryError(f"{self.kernel.python.scop.name}: no memory for the temporaries")

    def copy_back(self) -> None:
        """Bring what was written in copies to the caller's arrays."""
        for name, buffer in self.buffers.items():
            original = self.given.get(name)
            if original is not None and buffer is not original and not self.kernel.python.scop.array(name).constant:
                original[...] = buffer

    def returned(self) -> Any:
        """What the function returns."""
        python = self.kernel.python
        values = []
        for name in python.results:
            if name not in self.results:
                values.append(self.given[name])
            elif self.results[name].ndim:
                values.append(self.results[name])
            else:
                values.append(self.results[name].item() if name in python.weak_results else self.results[name][()])
        if python.returns_tuple:
            return tuple(values)
        return values[0] if values else None


def passed_by_value(array: Array) -> bool:
    """Whether an argument is a number, not a pointer to one; the same rule as the emitted function's."""
    return array.is_scalar and not array.c_element.startswith("(*")


def _number(value: Any, dtype: DType) -> int | float:
    return float(value) if dtype.is_float else int(value)


def c_type(dtype: DType) -> Any:
    """The ctypes type of a number passed by value."""
    if dtype == LONGDOUBLE:
        return ctypes.c_longdouble
    if dtype.is_float:
        return ctypes.c_float if dtype.bits == 32 else ctypes.c_double
    if dtype == BOOL:
        return ctypes.c_bool
    signed = {8: ctypes.c_int8, 16: ctypes.c_int16, 32: ctypes.c_int32, 64: ctypes.c_int64}
    unsigned = {8: ctypes.c_uint8, 16: ctypes.c_uint16, 32: ctypes.c_uint32, 64: ctypes.c_uint64}
    return (unsigned if dtype.kind is Kind.UNSIGNED else signed)[dtype.bits]


def array_arguments(python: PythonScop) -> list[str]:
    """Names of the arguments that are arrays."""
    return [a.name for a in python.arguments if isinstance(a.type, ArrayType)]
