"""`PreemptibleKernel`: a Scop as machine code that stops behind a tile where a flag says so, and goes on there."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polysched.dependence import analyse
from polysched.dependence.questions.restarting import Restart, restartable
from polysched.emit_c import EmitOptions, emit_function
from polysched.emit_c.function import CFunction
from polysched.errors import UsageError
from polysched.kernel.call_checks import check_apart, check_array, check_number
from polysched.kernel.passed_values import memory_of, number_memory
from polysched.kernel.sizes_from_shapes import sizes_of_shapes
from polysched.measure.processes.building import DEFAULT_FLAGS, compile_shared
from polysched.records import dataclass
from polysched.runtime.scheduler_rows import RUN
from polysched.scheduling import pluto
from polysched.scop.scop import Array, Scop, Storage
from polysched.scop.shown import Shown
from polysched.scop.signature import ParameterKind
from polysched.target import find_compiler
from polysched.tiling import TilingOptions, tile
from polysched.tiling.options import Edges
from polysched.tiling.tiled_schedule import TiledSchedule

FUNCTION, ENTRY = "polysched_kernel", "polysched_run"
FLAGS = (*DEFAULT_FLAGS, "-fwrapv")


@dataclass(frozen=True, eq=False, kw_only=True)
class PreemptibleKernel(Shown):
    """A compiled kernel that can be stopped behind every tile.

    Parameters
    ----------
    function : the C, whose region was emitted with `EmitOptions(preemptible=True)`.
    library : the shared object.
    restart : whether a run overwrites what it reads from before, with a witness.
    tiled : the schedule that it runs, for predictions.
    machine_code : the bytes of the shared object, for other processes.
    """

    function: CFunction
    library: ctypes.CDLL
    restart: Restart
    tiled: TiledSchedule
    machine_code: bytes

    @property
    def failure(self) -> str:
        """What it means that it failed."""
        return "a kernel had no memory for its temporaries"

    @property
    def resettable(self) -> bool:
        """Whether a run may be left at any place and begun anew: nothing that it reads from before is overwritten, and
        it has no memory of its own that would be lost.
        """
        return bool(self.restart) and self.function.signature.return_type == "void"

    @property
    def scop(self) -> Scop:
        """What it computes."""
        return self.function.source.scop

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """Why it is stopped nowhere, where that is so."""
        return self.function.source.fallbacks

    @cached_property
    def entry(self) -> Callable[..., int]:
        """`run(arguments, stop, done)`: 1 where the flag stopped it, 0 at its end, 2 where there was no memory."""
        return RUN((ENTRY, self.library))

    def headline(self) -> str:
        """The name of its program."""
        return f"of {self.scop.name}"

    def packed(self, arguments: Mapping[str, Any]) -> PackedArguments:
        """Arrays and numbers by name as the kernel takes them; sizes follow from the shapes, or are given, too.

        Raises
        ------
        UsageError : one is missing or unknown, or does not fit; an array has gaps, or shares elements with another.
        """
        sizes = self.sizes(arguments)
        return PackedArguments([
            *(number_memory(sizes[p.name], p.dtype) for p in self.scop.parameters),
            *(memory_of(arguments[n], a) for n, a in self._arrays.items())],
            [*(False for _ in self.scop.parameters), *(n in self._written for n in self._arrays)])

    def sizes(self, arguments: Mapping[str, Any]) -> dict[str, int]:
        """The value of every parameter, with all arguments checked.

        Raises
        ------
        UsageError : as for `packed`.
        """
        _check_names(self.scop, self._arrays, arguments)
        return _sizes(self.scop, self._arrays, arguments, self._written)

    @property
    def _arrays(self) -> dict[str, Array]:
        return {a.name: a for a in self.scop.arrays if a.storage is not Storage.LOCAL}

    @property
    def _written(self) -> frozenset[str]:
        return frozenset(a.array for s in self.scop.statements for a in s.writes)


def _check_names(scop: Scop, arrays: Mapping[str, Array], arguments: Mapping[str, Any]) -> None:
    if unknown := sorted(set(arguments) - {*arrays, *(p.name for p in scop.parameters)}):
        raise UsageError("the kernel has no such argument", where=f"kernel {scop.name}", witness=unknown[0])
    if missing := sorted(set(arrays) - set(arguments)):
        raise UsageError("the kernel needs another argument", where=f"kernel {scop.name}", witness=missing[0])


def _sizes(scop: Scop, arrays: Mapping[str, Array], arguments: Mapping[str, Any],
           written: frozenset[str]) -> dict[str, int]:
    """The value of every parameter, with all arguments checked."""
    given = {}
    for parameter in scop.parameters:
        if parameter.name in arguments:
            check_number(scop.name, parameter.name, parameter.dtype, arguments[parameter.name])
            given[parameter.name] = int(arguments[parameter.name])
    for name, array in arrays.items():
        _check(scop.name, array, arguments[name], written=name in written)
    whole = {n: arguments[n] for n, a in arrays.items() if not a.is_scalar}
    check_apart(scop.name, whole, written)
    return sizes_of_shapes(scop, {n: v.shape for n, v in whole.items()}, given)


def _check(kernel: str, array: Array, value: Any, *, written: bool) -> None:
    if array.is_scalar and not written:
        return check_number(kernel, array.name, array.dtype, value)
    check_array(kernel, array.name, array.dtype, len(array.extents), value, written=written)
    if not (value.flags.c_contiguous and value.flags.aligned):
        raise UsageError("an array without gaps is needed, since no copy is made", where=f"kernel {kernel}",
                         witness=array.name, hint="numpy.ascontiguousarray makes one")
    return None


class PackedArguments:
    """Values and arrays as a list of addresses; holds what they point to.

    Parameters
    ----------
    kept : in the order of the C function.
    written : whether the kernel writes each.
    """

    def __init__(self, kept: list[np.ndarray], written: list[bool]) -> None:
        self.kept = kept
        self.written = written
        self.addresses = (ctypes.c_void_p * max(1, len(kept)))(*(a.ctypes.data for a in kept))


def preemptible(scop: Scop, *, tiles: Edges = "auto",
                cc: str | None = None) -> PreemptibleKernel:
    """Schedule, tile and compile a program so that it can be stopped behind every tile.

    Parameters
    ----------
    scop : from a tensor expression or a Python function.
    tiles : edges of the tiles, as for `TilingOptions(sizes=)`; smaller ones are left sooner.
    cc : the compiler.

    Raises
    ------
    CompileError, NoCompilerError : as for any C.
    UsageError : a subscript is read from memory, so that nothing says where the program writes.
    """
    for statement in scop.statements:
        for access in statement.accesses:
            if not access.exact:
                raise UsageError("a kernel that is stopped has affine subscripts", where=f"kernel {scop.name}",
                                 witness=f"{statement.name} at {access.array}")
    dependences = analyse(scop)
    tiled = tile(pluto(dependences), TilingOptions(sizes=tiles))
    function = emit_function(tiled, name=FUNCTION, options=EmitOptions(preemptible=True, comments=False))
    with tempfile.TemporaryDirectory(prefix="polysched-") as folder:
        compile_shared(function.text + _entry(function), name="kernel", folder=Path(folder),
                       compiler=find_compiler(cc), flags=FLAGS, openmp=False, what=f"the code of {scop.name}")
        path = Path(folder) / "kernel.so"
        library, machine_code = ctypes.CDLL(str(path)), path.read_bytes()
    return PreemptibleKernel(function=function, library=library, machine_code=machine_code,
                             restart=restartable(dependences, scop.domain), tiled=tiled)


def call_of_addresses(function: CFunction) -> str:
    """The call, in C, that takes arrays and numbers from the addresses `arguments[0]`, `arguments[1]`, ..."""
    passed = [f"arguments[{n}]" if p.kind is ParameterKind.ARRAY or p.dtype is None
              else f"*(const {p.dtype.c_name} *)arguments[{n}]"
              for n, p in enumerate(function.signature.parameters)]
    return f"{function.signature.name}({', '.join(passed)})"


def _entry(function: CFunction) -> str:
    """The C function that unpacks addresses, sets the flag, and keeps how many tiles are done."""
    call = call_of_addresses(function)
    fails = function.signature.return_type == "int"
    status = f"const int status = {call};" if fails else f"{call}; const int status = 0;"
    return f"""\
__attribute__((visibility("default"))) int {ENTRY}(void *const *arguments, const int *stop, long *done) {{
  (void)arguments;
  polysched_preemption.stop = stop;
  polysched_preemption.done = *done;
  polysched_preemption.stopped = 0;
  {status}
  polysched_preemption.stop = &polysched_never;
  if (status)
    return 2;
  *done = polysched_preemption.done;
  return polysched_preemption.stopped;
}}
"""
