"""Compiling emitted matches into one shared object and calling them on NumPy arrays."""

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polysched.target import find_compiler
from polysched.tensorize.emission import Emitted
from polysched.tensorize.emission.any_size import GeneralCode

AS_WRITTEN: dict[str, Any] = {"scheduler": "original", "tile": "off", "parallel": False}
"""Options of a pipeline whose ordinary loops are not the matter: they are found and compiled in a third of the time."""
FLAGS = ("-std=gnu11", "-ffp-contract=off", "-w", "-shared", "-fPIC")


def compiled(functions: Sequence[Emitted], folder: Path, name: str = "matches") -> ctypes.CDLL:
    """One translation unit with all functions; they share one instruction.

    Without optimisation, which what the text means does not need, and which takes four times as long for a hundred
    functions.
    """
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(functions[0].prelude + "".join(f.text for f in functions))
    compiler = find_compiler()
    done = compiler.run(["-O0", *FLAGS, *functions[0].flags, *compiler.openmp_compile, str(source),
                         "-o", str(library), *compiler.openmp_link, "-lm"])
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def compiled_for_all_sizes(codes: Sequence[GeneralCode], folder: Path) -> ctypes.CDLL:
    """One translation unit with all functions, each with its test of sizes."""
    source, library = folder / "a.c", folder / "a.so"
    source.write_text(codes[0].emitted.prelude + "".join(
        c.emitted.text + c.fits.replace("static ", "") for c in codes))
    compiler = find_compiler()
    done = compiler.run(["-O0", "-w", "-fwrapv", "-shared", "-fPIC", *compiler.openmp_compile, str(source), "-o",
                         str(library), *compiler.openmp_link])
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def call(library: ctypes.CDLL, function: Emitted, arrays: dict[str, np.ndarray]) -> None:
    """Run one function in place."""
    for a in function.arrays:
        assert arrays[a].flags.c_contiguous
    getattr(library, function.name)(*(ctypes.c_void_p(arrays[a].ctypes.data) for a in function.arrays))
