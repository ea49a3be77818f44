"""A C function with statements replaced by calls of a described one, run beside the original on the same data."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import splice
from polysched.pipeline import PipelineOptions, analysed
from polysched.pipeline.way import optimized_region
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.target import find_compiler
from polysched.tensorize.called import CallDecision, call_function
from polysched.tensorize.description.library_function import LibraryFunction
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.options import TensorizeOptions
from tests.tensorize.compiled import AS_WRITTEN

OPTIONS = TensorizeOptions()
EXACT = ["-O1", "-ffp-contract=off", "-fwrapv", "-w", "-Werror=incompatible-pointer-types", "-shared", "-fPIC"]


def region(parameters: str, body: str, head: str = "") -> str:
    """The text of a function `f` whose body is a region."""
    return f"{head}void f({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def decided(text: str, function: LibraryFunction, numerics: Numerics | None = None,
            sizes: Mapping[str, int] | None = None) -> CallDecision:
    """What the pipeline decides for a text."""
    dependences = analysed(from_c_text(text), for_instructions=True).dependences
    return call_function(dependences, function, TensorizeOptions(numerics=numerics or Numerics(), sizes=sizes or {}))


def replaced(text: str, function: LibraryFunction, monkeypatch: pytest.MonkeyPatch,
             sizes: Mapping[str, int] | None = None) -> tuple[str, tuple[str, ...]]:
    """The text with the function's calls, as `c2c` emits it, and the reasons."""
    monkeypatch.setattr(TensorizeOptions, "function", lambda _: function)
    scop = from_c_text(text)
    made = optimized_region(scop, PipelineOptions(
        tensorize=TensorizeOptions(sizes=sizes or {}), **AS_WRITTEN), {})
    return splice(text, [made.source]), made.instructions


def same_results(text: str, other: str, arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int], folder: Path,
                 linked: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Run both texts on copies of the arrays and compare every byte; the results.

    The function's parameters are the sizes and arrays by name; a number is an array without dimensions.
    """
    results = []
    for at, source in enumerate((text, other)):
        file, library = folder / f"part{at}.c", folder / f"part{at}.so"
        file.write_text(f"#include <math.h>\n#include <stdint.h>\n{source}")
        done = find_compiler().run([*EXACT, str(file), "-o", str(library), "-lm", *(linked if at else ())])
        assert not done.returncode, done.stderr
        own = {n: a.copy() for n, a in arrays.items()}
        ctypes.CDLL(str(library)).f(*_arguments(source, own, sizes))
        results.append(own)
    for name, value in results[0].items():
        assert value.tobytes() == results[1][name].tobytes(), name
    assert any(results[0][n].tobytes() != a.tobytes() for n, a in arrays.items()), "the program changes nothing"
    return results[1]


def _arguments(source: str, arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> list[object]:
    head = re.search(r"void f\(([^)]*)\)", source)
    assert head is not None
    names = [re.sub(r"\[.*", "", p).strip().split()[-1].lstrip("*") for p in head.group(1).split(",")]
    found: list[object] = []
    for name in names:
        if name in sizes:
            found.append(ctypes.c_int(sizes[name]))
        elif arrays[name].ndim == 0:
            found.append((ctypes.c_double if arrays[name].dtype == np.float64 else ctypes.c_float)(arrays[name].item()))
        else:
            found.append(ctypes.c_void_p(arrays[name].ctypes.data))
    return found


def whole_numbers(scop: Scop, sizes: Mapping[str, int], seed: int = 3) -> dict[str, np.ndarray]:
    """Small whole numbers in every array of the caller, so that sums are exact in any order."""
    from polysched.scop.interpreter import extents_of
    from polysched.scop.scop import Storage
    chooser = np.random.default_rng(seed)
    found = {}
    for array in scop.arrays:
        if array.storage is not Storage.LOCAL:
            dtype = np.dtype(array.dtype.name)
            found[array.name] = chooser.integers(-4, 5, tuple(extents_of(array, sizes))).astype(dtype)
    return found


def openblas(*functions: str) -> tuple[str, ...]:
    """Compiler options for the OpenBLAS of the wheel `scipy-openblas32`."""
    wheel = pytest.importorskip("scipy_openblas32", reason="no library to link with: scipy-openblas32 has one")
    folder = wheel.get_lib_dir()
    return (f"-I{wheel.get_include_dir()}", *(f"-D{f}=scipy_{f}" for f in functions), f"-L{folder}",
            f"-l{wheel.get_library()}", f"-Wl,-rpath,{folder}")


