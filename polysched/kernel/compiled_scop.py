"""A Scop as a compiled function of its sizes and arrays: optimised and compiled once, then found in the cache."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from polysched.emit_c.alternatives.instructions import UNFIT
from polysched.emit_c.function import CFunction, emit_function, function_around
from polysched.emit_gpu.interface import INTERFACES
from polysched.emit_gpu.interface import compiler_flags as device_flags
from polysched.errors import CompileError
from polysched.kernel.device_calls import device_function, with_errors
from polysched.kernel.passed_values import by_address, c_type, passed_by_value
from polysched.measure.processes.building import DEFAULT_FLAGS, compile_shared
from polysched.pipeline import Optimized
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.way import Started, started_region
from polysched.scop.scop import Scop, Storage
from polysched.search.lookup import optimize, state_of
from polysched.target import Compiler, build_cache, find_compiler

FLAGS = (*DEFAULT_FLAGS, "-fwrapv")
LIBRARY = "kernel"
RECORD = "entry.json"
FUNCTION = "polysched_kernel"
EXPORTED = "#pragma GCC visibility push(default)\n"


class CompiledScop:
    """One Scop; it is optimised and compiled when it first runs, or found in the cache.

    Parameters
    ----------
    scop : the Scop; numbers that `ctypes` cannot pass exactly are passed by address (`by_address`).
    options : of the pipeline.
    key_parts : what names the code beyond the compiler: source, types, options.
    """

    def __init__(self, scop: Scop, options: PipelineOptions, key_parts: Mapping[str, object]) -> None:
        self.scop = by_address(scop)
        self.options = options
        self.key_parts = key_parts

    @cached_property
    def _started(self) -> Started | None:
        """The region up to its instruction, where one may compute it alone."""
        return started_region(self.scop, self.options)

    @cached_property
    def optimized(self) -> Optimized:
        """All stages of the pipeline."""
        return self._started.finished() if self._started is not None else optimize(self.scop, self.options)

    @cached_property
    def c_function(self) -> CFunction:
        """The C function around the optimised region."""
        source = self.optimized.source
        if self.options.device in INTERFACES:
            return with_errors(function_around(source, name=FUNCTION))
        if source.preamble:
            return function_around(source, name=FUNCTION)
        return emit_function(self.optimized.tiled, name=FUNCTION, options=self.optimized.options.emit_options())

    @cached_property
    def compiler(self) -> Compiler:
        """What compiles the C."""
        return find_compiler(self.options.cc)

    @cached_property
    def function(self) -> Callable[..., int | None]:
        """The compiled function, loaded; from the cache when it is there.

        Where an instruction computes the region, the code around it is compiled alone.  The ordinary code is made by
        the first call that needs it: of sizes that the instruction does not fit.

        Raises
        ------
        CompileError, OutputError : the C does not compile, the cache cannot be written.
        """
        alone = self._by_instruction_alone()
        if alone is None:
            return self._whole

        def called(*passed: Any) -> int | None:
            found = alone(*passed)
            return self._whole(*passed) if found == UNFIT else found

        return called

    @cached_property
    def _whole(self) -> Callable[..., int | None]:
        """The function for all sizes."""
        return self._callable(*loaded_entry(self._key(), self._build))

    def run(self, passed: Sequence[Any]) -> None:
        """Run the function on sizes, numbers and addresses.

        Raises
        ------
        MemoryError : there is no memory for its temporaries; nothing was computed.
        """
        if self.function(*passed):
            raise MemoryError(f"{self.scop.name}: no memory for the temporaries")

    def _by_instruction_alone(self) -> Callable[..., int | None] | None:
        """The function that an instruction computes, which returns `UNFIT` where it does not; None without one."""
        key = self._key(part="instruction")
        if build_cache.found(key) is None and not self._can_be_alone():
            return None
        try:
            return self._callable(*loaded_entry(key, self._build_alone))
        except _NotAloneError:
            return None

    def _can_be_alone(self) -> bool:
        """Whether an instruction may compute the region; not asked where its whole code is there."""
        if build_cache.found(self._key()) is not None:
            return False
        return self._started is not None and self._started.alone is not None

    def _key(self, **parts: str) -> str:
        linked = {"device": " ".join(device_flags(self.options.device))} if self.options.device else {}
        return build_cache.entry_key({**self.key_parts, "database": state_of(self.options), **linked, **parts},
                                     self.compiler)

    def _callable(self, library: ctypes.CDLL, entry: Path) -> Callable[..., int | None]:
        if self.options.device in INTERFACES:
            return device_function(library, self._argument_types(), self.scop.name)
        function = getattr(library, FUNCTION)
        record = json.loads((entry / RECORD).read_text())
        function.restype = ctypes.c_int if record["return_type"] == "int" else None
        function.argtypes = self._argument_types()
        return cast(Callable[..., int | None], function)

    def _build(self, folder: Path) -> None:
        flags = (*self.optimized.options.flags, *device_flags(self.options.device))
        self._compile(folder, self.c_function, flags, self.optimized.steps())

    def _build_alone(self, folder: Path) -> None:
        """Compile while the check of the instruction runs; what the check finds wrong is not kept."""
        started = self._started
        if started is None or started.alone is None:
            raise _NotAloneError
        function = function_around(started.alone, name=FUNCTION, return_type="int")
        self._compile(folder, function, self.options.flags, ())
        if not started.is_right():
            raise _NotAloneError

    def _compile(self, folder: Path, function: CFunction, flags: Sequence[str], steps: Sequence[str]) -> None:
        binary = compile_shared(EXPORTED + function.text, name=LIBRARY, folder=folder, compiler=self.compiler,
                                flags=(*FLAGS, *flags), what=f"the kernel {self.scop.name}")
        record = {**self.key_parts, "compiler": str(self.compiler), "flags": list(binary.flags),
                  "steps": list(steps), "return_type": function.signature.return_type}
        (folder / RECORD).write_text(json.dumps(record, indent=1, sort_keys=True))

    def _argument_types(self) -> list[Any]:
        """The C types of the arguments; the same without emitting anything, so a cached kernel needs no schedule."""
        arrays = [a for a in self.scop.arrays if a.storage is not Storage.LOCAL]
        return [c_type(p.dtype) for p in self.scop.parameters] + [
            c_type(a.dtype) if passed_by_value(a) else ctypes.c_void_p for a in arrays]


class _NotAloneError(Exception):
    """The region needs its ordinary code: no instruction computes it, or its code was found wrong."""


def loaded_entry(key: str, build: Callable[[Path], None]) -> tuple[ctypes.CDLL, Path]:
    """The loaded library of an entry of the cache, and its folder; one that cannot be loaded is built again.

    Raises
    ------
    CompileError : it cannot be loaded: it calls functions that are defined nowhere.
    """
    entry = build_cache.find_or_build(key, build)
    try:
        return ctypes.CDLL(str(entry / f"{LIBRARY}.so")), entry
    except OSError:
        build_cache.forget(key)
        entry = build_cache.find_or_build(key, build)
    try:
        return ctypes.CDLL(str(entry / f"{LIBRARY}.so")), entry
    except OSError as error:
        build_cache.forget(key)
        raise CompileError("the compiled code cannot be loaded", witness=str(error).partition(": ")[2] or str(error),
                           hint="define the functions that the file calls in the file itself") from None
