"""Small programs on accelerators: mapped, emitted, compiled, run beside the original."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from polysched.dependence.dependences import Dependences
from polysched.emit_c import splice
from polysched.emit_gpu.scratchpad import emit_scratchpad
from polysched.gpu.scratchpad import ScratchpadMapping, ScratchpadOptions, at_sizes, map_to_scratchpad
from polysched.pipeline.stages import analysed
from polysched.scop import from_c_file
from polysched.scop.scop import Scop
from polysched.target import find_compiler
from polysched.target.scratchpads import SCRATCHPADS
from polysched.target.scratchpads.description import ScratchpadTarget

HEAD = "#include <math.h>\n#include <stdint.h>\n"


def program(arguments: str, body: str) -> str:
    """A file with one region."""
    return f"{HEAD}void f({arguments}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def product(rows: int, columns: int, sums: int, *, integers: bool = False) -> str:
    """`C = A * B` in half precision, or in int8."""
    own, c, cast = ("int8_t", "int32_t", "") if integers else ("_Float16", "float", "(float)")
    return program(
        f"{c} C[{rows}][{columns}], const {own} A[{rows}][{sums}], const {own} B[{sums}][{columns}]",
        f"for (int i = 0; i < {rows}; i++) for (int j = 0; j < {columns}; j++) {{ C[i][j] = 0; "
        f"for (int k = 0; k < {sums}; k++) C[i][j] += {cast}A[i][k] * {cast}B[k][j]; }}")


def chain(rows: int, inner: int, columns: int, sums: int) -> str:
    """`D = half(A * B) * C`, the inner product in an array of the region."""
    return program(
        f"float D[{rows}][{columns}], float T[{rows}][{inner}], _Float16 H[{rows}][{inner}], "
        f"const _Float16 A[{rows}][{sums}], const _Float16 B[{sums}][{inner}], const _Float16 C[{inner}][{columns}]",
        f"""for (int i = 0; i < {rows}; i++) for (int j = 0; j < {inner}; j++) {{ T[i][j] = 0.0f;
  for (int k = 0; k < {sums}; k++) T[i][j] += (float)A[i][k] * (float)B[k][j];
  H[i][j] = (_Float16)T[i][j]; }}
for (int i = 0; i < {rows}; i++) for (int j = 0; j < {columns}; j++) {{ D[i][j] = 0.0f;
  for (int k = 0; k < {inner}; k++) D[i][j] += (float)H[i][k] * (float)C[k][j]; }}""")


def norm(rows: int, columns: int) -> str:
    """Layer norm of rows."""
    return program(
        f"float Y[{rows}][{columns}], float m[{rows}], float v[{rows}], const float X[{rows}][{columns}], "
        f"const float g[{columns}]",
        f"""for (int i = 0; i < {rows}; i++) {{ m[i] = 0.0f;
  for (int j = 0; j < {columns}; j++) m[i] += X[i][j];
  m[i] = m[i] / {columns}.0f; v[i] = 0.0f;
  for (int j = 0; j < {columns}; j++) v[i] += (X[i][j] - m[i]) * (X[i][j] - m[i]);
  v[i] = 1.0f / sqrtf(v[i] + 1.0f);
  for (int j = 0; j < {columns}; j++) Y[i][j] = (X[i][j] - m[i]) * v[i] * g[j]; }}""")


@cache
def read(text: str) -> Scop:
    """The region of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.c"
        path.write_text(text)
        return from_c_file(str(path))


def dependences(text: str, sizes: Mapping[str, int] | None = None) -> Dependences:
    """Those of a file's region at its sizes."""
    return analysed(at_sizes(read(text), sizes or {})).dependences


def mapped(text: str, target: str | ScratchpadTarget = "davinci", *, tile: tuple[int, ...] = (),
           sizes: Mapping[str, int] | None = None, double_buffering: bool = True, share: bool = True
           ) -> ScratchpadMapping:
    """A file's region on an accelerator."""
    own = SCRATCHPADS[target] if isinstance(target, str) else target
    options = ScratchpadOptions(tiles=(("", tile),) if tile else (), double_buffering=double_buffering, share=share)
    return map_to_scratchpad(dependences(text, sizes), own, sizes or {}, options=options)


def emitted(text: str, mapping: ScratchpadMapping) -> str:
    """The whole file with the region as C for the accelerator."""
    given = read(text)
    assert given.source is not None
    return splice(given.source.text, [emit_scratchpad(mapping, given).source])


def results(text: str, scop: Scop, sizes: Mapping[str, int] | None = None) -> dict[str, np.ndarray]:
    """The arrays behind a call of `f` in a text, filled with the same random numbers each time."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "f.c", Path(folder) / "f.so"
        source.write_text(text)
        built = find_compiler().run(["-std=gnu11", "-O0", "-ffp-contract=off", "-shared", "-fPIC", "-w", str(source),
                                     "-o", str(library), "-lm"])
        assert built.returncode == 0, built.stderr
        assert scop.source is not None
        assert scop.source.signature is not None
        random = np.random.default_rng(7)
        arguments: list[object] = []
        arrays: dict[str, np.ndarray] = {}
        for parameter in scop.source.signature.parameters:
            if parameter.name not in {a.name for a in scop.arrays}:
                arguments.append(ctypes.c_int((sizes or {})[parameter.name]))
                continue
            arrays[parameter.name] = _filled(scop, parameter.name, sizes or {}, random)
            arguments.append(arrays[parameter.name].ctypes.data_as(ctypes.c_void_p))
        ctypes.CDLL(str(library)).f(*arguments)
        return arrays


def _filled(scop: Scop, name: str, sizes: Mapping[str, int], random: np.random.Generator) -> np.ndarray:
    from polysched.scop.points import value_at
    array = scop.array(name)
    shape = [value_at(extent, sizes) for extent in array.extents if extent is not None]
    kinds = {"float": np.float32, "double": np.float64, "_Float16": np.float16, "signed char": np.int8,
             "int8_t": np.int8, "int": np.int32, "int32_t": np.int32}
    kind = kinds[array.dtype.c_name]
    if np.issubdtype(kind, np.integer):
        return random.integers(-90, 90, shape).astype(kind)
    return random.uniform(-1, 1, shape).astype(kind)


@cache
def _original(text: str, sizes: tuple[tuple[str, int], ...]) -> dict[str, np.ndarray]:
    return results(text, read(text), dict(sizes))


def is_same(text: str, mapping: ScratchpadMapping, change: Callable[[str], str] = str,
            sizes: Mapping[str, int] | None = None) -> bool:
    """Whether the accelerator's C computes the original's arrays, bit for bit.

    Parameters
    ----------
    change : of the C, for mutations.
    """
    scop = read(text)
    ours, theirs = results(change(emitted(text, mapping)), scop, sizes), _original(text, tuple((sizes or {}).items()))
    return all(ours[name].tobytes() == theirs[name].tobytes() for name in theirs)
