"""The larger and the smaller of two values in vectors: one instruction, and the source's value for NaN and zeros."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import EmitOptions, emit, splice
from polysched.target import find_compiler, host
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.schedules import original_of

SPELLINGS = ("A[i][j] > B[i][j] ? A[i][j] : B[i][j]", "A[i][j] < B[i][j] ? B[i][j] : A[i][j]",
             "A[i][j] < B[i][j] ? A[i][j] : B[i][j]", "A[i][j] > B[i][j] ? B[i][j] : A[i][j]",
             "A[i][j] < b ? b : A[i][j]", "b < A[i][j] ? b : A[i][j]")
OTHERS = ("A[i][j] >= B[i][j] ? A[i][j] : B[i][j]", "A[i][j] > B[i][j] ? B[i][j] : b")
WORDS = (np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 5e-324)


def source(kind: str) -> str:
    body = "\n".join(f"      Y{n}[i][j] = {value};" for n, value in enumerate((*SPELLINGS, *OTHERS)))
    results = ", ".join(f"{kind} Y{n}[restrict n][m]" for n in range(len(SPELLINGS + OTHERS)))
    return (f"void f(int n, int m, {kind} b, {kind} A[n][m], {kind} B[n][m], {results}) {{\n#pragma scop\n"
            f"  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++) {{\n{body}\n    }}\n#pragma endscop\n}}\n")


def emitted(kind: str, vector_bits: int = 512) -> str:
    text = source(kind)
    tiled = tile(original_of(text), TilingOptions(sizes="off", register=False, parallel=False))
    return splice(text, [emit(tiled, options=EmitOptions(vector_bits=vector_bits))])


@pytest.mark.parametrize("vector_bits", [512, 256])
@pytest.mark.parametrize("kind", ["float", "double"])
def test_every_spelling_has_the_value_of_the_source(kind: str, vector_bits: int, tmp_path: Path) -> None:
    ours = emitted(kind, vector_bits)
    lanes = vector_bits // {"float": 32, "double": 64}[kind]
    whole_vectors = [line for line in ours.splitlines() if f"x{lanes} *)&Y" in line]
    assert sum("polysched_at_" in line for line in whole_vectors) >= len(SPELLINGS)
    original = load(source(kind), tmp_path).f
    dtype = {"float": np.float32, "double": np.float64}[kind]
    values = np.array([(a, b) for a in WORDS for b in WORDS], dtype=dtype)
    for flags in (("-O1",), ("-O2", "-march=native")):
        function = load(ours, tmp_path, flags=flags).f
        for chosen in (0.0, -0.0, np.nan):
            results = []
            for compiled in (original, function):
                made = [np.zeros((1, len(values)), dtype) for _ in (*SPELLINGS, *OTHERS)]
                arrays = [np.ascontiguousarray(values[:, 0]), np.ascontiguousarray(values[:, 1]), *made]
                scalar = ctypes.c_float(chosen) if kind == "float" else ctypes.c_double(chosen)
                compiled(1, len(values), scalar, *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
                results.append([m.tobytes() for m in made])
            assert results[0] == results[1], f"{flags} {chosen}\n{ours}"


@pytest.mark.parametrize(("feature", "flags", "vector_bits"), [
    ("avx512vl", ("-march=native",), 512), ("avx", ("-mavx",), 256), ("avx", ("-mavx",), 128)])
def test_it_is_one_instruction_where_the_processor_has_it(
        feature: str, flags: tuple[str, ...], vector_bits: int, tmp_path: Path) -> None:
    if feature not in host().features:
        pytest.skip(f"the emitted instruction needs {feature}, which this processor lacks")
    (tmp_path / "f.c").write_text(emitted("float", vector_bits))
    done = find_compiler().run(["-O2", *flags, "-S", "f.c", "-o", "f.s"], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "f.s").read_text()
    assert text.count("vmaxps") >= 3, text
    assert text.count("vminps") >= 3, text


def test_registers_of_512_bits_are_not_told_of_narrower_ones() -> None:
    assert "__AVX__" not in emitted("float", 512)
    assert "__AVX__" in emitted("float", 256)
