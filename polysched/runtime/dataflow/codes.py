"""What a node runs, as values that travel: the text of a kernel, the bytes of a model, or a function of Python.

A worker compiles what it gets for its own processor, once; the cache of builds on its disk keeps it.
Code is pure: it changes none of its inputs, so that a node may be run again at any time.  This module imports no room
that makes code: a worker that takes the place of a lost one has it loaded at once.
"""

from __future__ import annotations

import ctypes
import hashlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import numpy as np

from polysched.errors import RunFailedError, UsageError
from polysched.measure.processes.building import DEFAULT_FLAGS, compile_shared
from polysched.records import dataclass
from polysched.target import build_cache, find_compiler

ENTRY, KIND = "polysched_enter", "dataflow"
FLAGS = (*DEFAULT_FLAGS, "-fwrapv", "-ffp-contract=off")


class Code(Protocol):
    """What a node runs."""

    @property
    def key(self) -> str:
        """Equal for equal code; a worker loads each once."""

    @property
    def results(self) -> int:
        """How many values it gives."""

    def load(self) -> Callable[..., tuple[Any, ...]]:
        """The function, on the worker."""


@dataclass(frozen=True, kw_only=True)
class FunctionCode:
    """A function of Python that changes none of its arguments.

    Parameters
    ----------
    function : gives one value, or a tuple of `results` values.
    key : of this value alone: functions are not compared.
    """

    function: Callable[..., Any]
    results: int = 1
    key: str = field(default_factory=lambda: f"function {uuid4().hex}")

    def load(self) -> Callable[..., tuple[Any, ...]]:
        """The function, with a tuple as its value."""
        function, single = self.function, self.results == 1

        def run(*arguments: Any) -> tuple[Any, ...]:
            value = function(*arguments)
            if single:
                return (value,)
            if not isinstance(value, tuple) or len(value) != self.results:
                raise UsageError(f"the function of a node gives a tuple of {self.results} values",
                                 witness=type(value).__name__)
            return value
        return run


@dataclass(frozen=True, kw_only=True)
class Passed:
    """One argument of a kernel's C function."""

    name: str
    is_array: bool
    dtype: str
    written: bool


@dataclass(frozen=True, kw_only=True)
class KernelCode:
    """A kernel as C; arguments are the program's sizes, then its arrays, in order; values are the arrays it writes.

    Parameters
    ----------
    text : the translation unit, with `polysched_enter`.
    passed : its arguments.
    name : of the program.
    """

    text: str
    passed: tuple[Passed, ...]
    name: str

    @cached_property
    def key(self) -> str:
        """A digest of the text."""
        return f"kernel {hashlib.sha256(self.text.encode()).hexdigest()[:24]}"

    @property
    def results(self) -> int:
        """Of the arrays, those that it writes."""
        return sum(p.written for p in self.passed)

    def enter(self) -> Callable[[Mapping[str, Any]], None]:
        """Compile and load it here; what comes back works in place: on sizes, and on addresses or arrays.

        Raises
        ------
        CompileError, NoCompilerError : as for any C.
        """
        compiler = find_compiler(None)
        key = build_cache.entry_key({"text": self.text, "flags": list(FLAGS)}, compiler)
        folder = build_cache.find_or_build(key, self._build, kind=KIND)
        library = ctypes.CDLL(str(folder / "node.so"))
        function = library[ENTRY]

        def run(values: Mapping[str, Any]) -> None:
            kept = [values[p.name] if p.is_array else np.asarray(values[p.name], p.dtype) for p in self.passed]
            places = (ctypes.c_void_p * max(1, len(kept)))(
                *(k if isinstance(k, int) else k.ctypes.data for k in kept))
            if function(places):
                raise RunFailedError("a kernel had no memory for its temporaries", where=self.name)
        return run

    def _build(self, folder: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="polysched-") as scratch:
            compile_shared(self.text, name="node", folder=Path(scratch), compiler=find_compiler(None), flags=FLAGS,
                           openmp=False, what=f"the code of {self.name}")
            (folder / "node.so").write_bytes((Path(scratch) / "node.so").read_bytes())

    def load(self) -> Callable[..., tuple[Any, ...]]:
        """A function of sizes and arrays that copies what it writes."""
        enter = self.enter()

        def run(*arguments: Any) -> tuple[Any, ...]:
            if len(arguments) != len(self.passed):
                raise UsageError(f"the kernel takes {len(self.passed)} arguments", where=self.name,
                                 witness=str(len(arguments)), hint=", ".join(p.name for p in self.passed))
            values = {p.name: _as_argument(p, value, self.name)
                      for p, value in zip(self.passed, arguments, strict=True)}
            enter(values)
            return tuple(values[p.name] for p in self.passed if p.written)
        return run


def _as_argument(passed: Passed, value: Any, kernel: str) -> np.ndarray:
    array = np.asarray(value)
    if passed.is_array and array.dtype != np.dtype(passed.dtype):
        raise UsageError(f"{passed.name} is an array of {passed.dtype}", where=kernel, witness=str(array.dtype))
    return np.array(array, passed.dtype, order="C", copy=True if passed.written else None)


@dataclass(frozen=True, kw_only=True)
class ModelCode:
    """A model from ONNX; arguments are its inputs and values its outputs, both in the order named.

    Parameters
    ----------
    onnx : the file's bytes.
    inputs, outputs : names.
    """

    onnx: bytes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @cached_property
    def key(self) -> str:
        """A digest of the bytes and names."""
        told = self.onnx + repr((self.inputs, self.outputs)).encode()
        return f"model {hashlib.sha256(told).hexdigest()[:24]}"

    @property
    def results(self) -> int:
        """One per output."""
        return len(self.outputs)

    def load(self) -> Callable[..., tuple[Any, ...]]:
        """The compiled model; its kernels come from the cache of builds where they are there."""
        from polysched.graph import load as load_graph
        from polysched.model import compile as compile_model
        with tempfile.TemporaryDirectory(prefix="polysched-") as folder:
            path = Path(folder) / "model.onnx"
            path.write_bytes(self.onnx)
            model = compile_model(load_graph(str(path)))
        model.prepare()

        def run(*arguments: Any) -> tuple[Any, ...]:
            found = model(**dict(zip(self.inputs, map(np.ascontiguousarray, arguments), strict=True)))
            return tuple(found[name] for name in self.outputs)
        return run
