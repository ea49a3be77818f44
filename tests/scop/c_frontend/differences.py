"""One function with a region per program, in one library, against what the interpreter makes of each region."""

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path

import islpy as isl
import numpy as np

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.body import performed_calls
from polysched.scop.interpreter import execute
from polysched.scop.points import isl_value
from polysched.scop.scop import Scop, Storage
from tests.scop.c_frontend.compiled_c import CTYPES, compile_library

SCALARS = {"n": "int32", "m": "int32", "u": "uint32", "c": "uint8", "s": "int16", "l": "int64"}
ARRAYS = {"A": "int32", "B": "int64", "C": "uint8", "D": "int16", "X": "float64", "V": "uint32"}
HEAD = ("int n, int m, unsigned u, unsigned char c, short s, long l, "
        "int A[64], long B[64], unsigned char C[64], short D[64], double X[64], unsigned V[64]")
SIZES = ({}, {"n": 1, "m": 2, "u": 3, "c": 4, "s": 5, "l": 6}, {"n": 7, "m": 3, "u": 2, "c": 200, "s": -3, "l": -2},
         {"n": -5, "m": 4, "u": 10, "c": 255, "s": 9, "l": 12}, {"n": 20, "m": 13, "u": 1, "c": 17, "s": 11, "l": 20})
REFUSED = "refused"
OUTSIDE = "outside"
SAME = "same"


def arrays() -> dict[str, np.ndarray]:
    """The same numbers for every run; three times as much memory as a function declares, so that none is lost."""
    generator = np.random.default_rng(1)
    found = {}
    for name, dtype in ARRAYS.items():
        values = generator.uniform(-4, 4, 64) if dtype == "float64" else generator.integers(
            0 if dtype.startswith("u") else -50, 50, 64)
        found[name] = np.concatenate([values.astype(dtype)] * 3)[64:128]
    return found


def outcomes(programs: Sequence[str], folder: Path, *, before: str = "",
             sizes: Sequence[Mapping[str, int]] = SIZES) -> dict[str, list[str]]:
    """What became of each program at each of the sizes: `SAME`, `OUTSIDE` of its assumptions, or what differs.

    Parameters
    ----------
    programs : the inside of a region of a function with `HEAD`; what stands in front of `@@` stands before the region.
    before : what stands in front of the function.
    """
    parts = [program.rpartition("@@")[::2] for program in programs]
    texts = [f"void case_{k}({HEAD}) {{\n{start.replace('@@', '')}\n#pragma scop\n{region}\n#pragma endscop\n}}\n"
             for k, (start, region) in enumerate(parts)]
    library = compile_library(before + "".join(texts), "cases", folder)
    found = {}
    for k, program in enumerate(programs):
        try:
            scop = from_c_text(before + texts[k])
        except UnsupportedScopError:
            found[program] = [REFUSED]
            continue
        if any(True for s in scop.statements for _ in performed_calls(s.body)):   # a call that stays one
            found[program] = [REFUSED]
            continue
        found[program] = [_outcome(scop, getattr(library, f"case_{k}"), {**dict.fromkeys(SCALARS, 0), **size})
                          for size in sizes]
    return found


def _outcome(scop: Scop, function: object, values: Mapping[str, int]) -> str:
    parameters = {p.name: values[p.spelling] for p in scop.parameters}
    context = scop.context
    for name, value in parameters.items():
        at = context.find_dim_by_name(isl.dim_type.param, name)
        context = context if at < 0 else context.fix_val(isl.dim_type.param, at, isl_value(value))
    if context.is_empty():
        return OUTSIDE
    compiled, interpreted = arrays(), arrays()
    function(*(CTYPES[dtype](values[name]) for name, dtype in SCALARS.items()),
             *(compiled[name].ctypes.data_as(ctypes.c_void_p) for name in ARRAYS))
    memory = dict(interpreted) | {name: np.array(values[name], dtype) for name, dtype in SCALARS.items()}
    for array in scop.arrays:
        if array.name not in memory and array.storage is not Storage.LOCAL:
            memory[array.name] = np.zeros([int(e) for e in array.c_extents], array.dtype.name)
    execute(scop, parameters, {a.name: memory[a.name] for a in scop.arrays if a.name in memory}, wrap_signed=True)
    different = [name for name in ARRAYS if not np.array_equal(compiled[name], interpreted[name])]
    return SAME if not different else f"{different} at {dict(values)}"


def check(programs: Sequence[str], folder: Path, *, before: str = "", sizes: Sequence[Mapping[str, int]] = SIZES,
          refused: Sequence[str] = ()) -> None:
    """Every program computes the same at one size or more, and nothing else at the others; those of the last are left.
    """
    found = outcomes([*programs, *refused], folder, before=before, sizes=sizes)
    for program in programs:
        assert set(found[program]) <= {SAME, OUTSIDE}, f"{program}: {found[program]}"
        assert SAME in found[program], f"{program}: {found[program]}"
    for program in refused:
        assert found[program] == [REFUSED], f"{program}: {found[program]}"
