"""The variants that are compiled here: ours, the plain loop nest, and the bare instruction."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import workloads

from polysched.experiment import Entry
from polysched.measure.measurement import Build
from polysched.measure.paired import text_sha256
from polysched.measure.processes.building import DEFAULT_FLAGS, compile_shared
from polysched.target import find_compiler

EXPORT = "#pragma GCC visibility push(default)\n"
STALE = 7   # what results hold before the first call


def built(text: str, flags: Sequence[str], folder: Path, name: str) -> tuple[Path, Build]:
    """Compile; the library, and how it was made.

    Raises
    ------
    CompileError : the compiler refuses it.
    """
    compiler = find_compiler()
    wide = ("-mprefer-vector-width=512",) if compiler.kind == "gcc" else ()
    binary = compile_shared(EXPORT + text, name=name, folder=folder, compiler=compiler,
                            flags=tuple(dict.fromkeys((*DEFAULT_FLAGS, *wide, *flags))))
    return binary.path, Build(compiler=str(compiler), version=compiler.version, flags=binary.flags,
                              source_sha256=text_sha256(text), compile_seconds=round(binary.compile_seconds, 4))


def entry(parameters: Mapping[str, Any]) -> Entry:
    """A function of pointers to arrays; `prepare` packs the constant one before."""
    workload = workloads.make(parameters["workload"])
    arrays = workload.inputs()
    if parameters["plain"]:
        arrays = workload.for_plain(arrays)
    arrays[workload.result][...] = STALE
    library = ctypes.CDLL(parameters["library"])
    if parameters["prepare"]:
        library[parameters["prepare"]](ctypes.c_void_p(arrays[workload.constant].ctypes.data))
    called = library[parameters["function"]]
    called.restype = None
    pointers = [ctypes.c_void_p(arrays[n].ctypes.data) for n in parameters["arrays"]]
    return Entry(call=lambda: called(*pointers), note=parameters["note"],
                 results=lambda: {workload.result: arrays[workload.result]})


def bare_entry(parameters: Mapping[str, Any]) -> Entry:
    """The bare instruction: every input is one, so that every result counts what was added to it."""
    called = ctypes.CDLL(parameters["library"]).bare
    called.restype = None
    dtype = "uint16" if parameters["dtype"] == "bfloat16" else parameters["dtype"]
    held = [workloads.aligned(workloads.stored(np.ones(n), d)) for _, d, n in parameters["inputs"]]
    zeros = workloads.aligned(np.zeros(parameters["shape"][-1], dtype))
    out = workloads.aligned(np.zeros(parameters["shape"], dtype))
    times, arrays = ctypes.c_long(parameters["times"]), (*held, zeros, out)
    return Entry(call=lambda: called(times, *(ctypes.c_void_p(a.ctypes.data) for a in arrays)),
                 results=lambda: {"registers": out})
