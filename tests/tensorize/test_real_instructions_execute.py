"""Matches emitted with the real instruction, register blocks included, where this machine has it."""

import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import splice
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.scop.interpreter import extents_of
from polysched.scop.scop import Scop
from polysched.target import find_compiler
from polysched.tensorize import MatchOptions, find_intrinsic, match, operators
from polysched.tensorize.conformance.conformance import Verdict, conformance
from polysched.tensorize.emission import EmissionOptions, Emitted, emit_match
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.options import TensorizeOptions
from tests.tensorize.compiled import call, compiled

INTEGER = {
    "vpdpbusd": ("uint8", "int8"), "vpdpbusd_vector": ("uint8", "int8"), "vpdpbusd_avx": ("uint8", "int8"),
    "vpdpwssd": ("int16", "int16"), "vpdpwssd_avx": ("int16", "int16"), "tdpbusd": ("uint8", "int8"),
    "tdpbssd": ("int8", "int8"), "tdpbuud": ("uint8", "uint8"), "tdpbsud": ("int8", "uint8"),
    "vpmaddwd": ("int16", "int16"), "vpmaddwd_vector": ("int16", "int16"),
    "vpmaddwd_u8s8_vector": ("uint8", "int8"), "vpmaddwd_s8s8_vector": ("int8", "int8"),
    "vpmaddwd_u8u8_vector": ("uint8", "uint8"),
}
FLOAT = {"fma_f32_avx2": "float32", "fma_f64_avx2": "float64", "fma_f32_avx512": "float32", "fma_f64_avx512": "float64",
         "vdpbf16ps": "bfloat16", "tdpbf16ps": "bfloat16"}
SIZES = [(1, 2, 3), (7, 17, 9), (32, 64, 130)]


@lru_cache
def unavailable(name: str) -> str:
    result = conformance(find_intrinsic(name), trials=10)
    return str(result) if result.verdict is not Verdict.CONFORMS else ""


def require(name: str) -> None:
    if reason := unavailable(name):
        pytest.skip(reason)


def product(left: str, right: str, accumulator: str, m: int, n: int, k: int) -> Scop:
    return operators.gmm(m=m, n=n, k=k, dtype=left, right_dtype=right, accumulator=accumulator)


def of_all_sizes(name: str, dtypes: tuple[str, str, str]) -> Iterator[tuple[Emitted, tuple[int, int, int]]]:
    """The code of every match of a product at every size, for one translation unit: the headers take most of it."""
    for size in SIZES:
        found = match(product(*dtypes, *size), find_intrinsic(name))
        assert found.total >= 1
        for at, m in enumerate(found.with_mirrors):
            yield emit_match(m, f"match_{'_'.join(map(str, size))}_{at}"), size


@pytest.mark.parametrize("name", INTEGER)
def test_integer_products(name: str, tmp_path: Path) -> None:
    require(name)
    left, right = INTEGER[name]
    emitted = list(of_all_sizes(name, (left, right, "int32")))
    library = compiled([function for function, _ in emitted], tmp_path)
    chooser = np.random.default_rng(3)
    for function, (m, n, k) in emitted:
        a = chooser.integers(np.iinfo(left).min, np.iinfo(left).max, (m, k), endpoint=True).astype(left)
        b = chooser.integers(np.iinfo(right).min, np.iinfo(right).max, (k, n), endpoint=True).astype(right)
        c = chooser.integers(-1000, 1000, (m, n)).astype(np.int32)
        wanted = c + a.astype(np.int64) @ b.astype(np.int64)
        call(library, function, {"A": a, "B": b, "C": c})
        np.testing.assert_array_equal(c, wanted.astype(np.int32), err_msg=f"{function.plan.match} {(m, n, k)}")


def stored(values: np.ndarray, dtype: str) -> np.ndarray:
    """Small integers as the bits that an array of this type holds."""
    if dtype == "bfloat16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(dtype)


@pytest.mark.parametrize("name", FLOAT)
def test_float_products_of_small_integers_are_exact(name: str, tmp_path: Path) -> None:
    require(name)
    dtype = FLOAT[name]
    accumulator = "float64" if dtype == "float64" else "float32"
    emitted = list(of_all_sizes(name, (dtype, dtype, accumulator)))
    library = compiled([function for function, _ in emitted], tmp_path)
    chooser = np.random.default_rng(4)
    for function, (m, n, k) in emitted:
        a, b = (chooser.integers(-8, 9, shape) for shape in ((m, k), (k, n)))
        c = chooser.integers(-50, 50, (m, n)).astype(accumulator)
        wanted = c + a @ b
        call(library, function, {"A": stored(a, dtype), "B": stored(b, dtype), "C": c})
        np.testing.assert_array_equal(c, wanted, err_msg=f"{function.plan.match} {(m, n, k)}")


@pytest.mark.parametrize("unroll", [(1, 1), (2, 3), (5, 2), (8, 2)])
def test_register_blocks_that_do_not_divide(unroll: tuple[int, int], tmp_path: Path) -> None:
    require("vpdpbusd")
    m, n, k = 13, 83, 21
    found = match(product("uint8", "int8", "int32", m, n, k), find_intrinsic("vpdpbusd"))
    function = emit_match(found.matches[0], "f", EmissionOptions(unroll=unroll))
    chooser = np.random.default_rng(5)
    a = chooser.integers(0, 255, (m, k), endpoint=True).astype(np.uint8)
    b = chooser.integers(-128, 127, (k, n), endpoint=True).astype(np.int8)
    c = np.zeros((m, n), np.int32)
    call(compiled([function], tmp_path), function, {"A": a, "B": b, "C": c})
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("name", ["vpdpbusd", "tdpbusd"])
def test_convolutions(name: str, tmp_path: Path) -> None:
    require(name)
    scop = operators.c2d(k=20, c=5, size=5, window=3, dtype="uint8", right_dtype="int8", accumulator="int32")
    found = match(scop, find_intrinsic(name), sizes={"batch": 2})
    assert found.total >= 7
    emitted = [emit_match(m, f"match_{i}") for i, m in enumerate(found.with_mirrors)]
    library = compiled(emitted, tmp_path)
    chooser = np.random.default_rng(6)
    for function in emitted:
        shapes = {a.name: tuple(extents_of(a, {"batch": 2})) for a in scop.arrays}
        x = chooser.integers(0, 255, shapes["X"], endpoint=True).astype(np.uint8)
        w = chooser.integers(-128, 127, shapes["W"], endpoint=True).astype(np.int8)
        y = np.zeros(shapes["Y"], np.int32)
        windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int32), (3, 3), axis=(2, 3))
        call(library, function, {"X": x, "W": w, "Y": y})
        np.testing.assert_array_equal(y, np.einsum("ncpqrs,kcrs->nkpq", windows, w.astype(np.int32)),
                                      err_msg=str(function.plan.match))


def test_fma_needs_leave_to_contract() -> None:
    scop = product("float32", "float32", "float32", 4, 4, 4)
    strict = match(scop, find_intrinsic("fma_f32_avx512"), MatchOptions(numerics=Numerics(contract=False)))
    assert strict.count == 0
    assert "fused" in str(strict.explanations[-1])


RECURRENT = """#include <stdint.h>
void {name}(int32_t C[4][16], int16_t A[2], const int16_t X[4][2], const int16_t B[2][16])
{{
#pragma scop
    for (int t = 0; t < 4; t++) {{
        for (int k = 0; k < 2; k++)
            A[k] = A[k] / 2 + X[t][k];
        for (int j = 0; j < 16; j++)
            for (int k = 0; k < 2; k++)
                C[t][j] += A[k] * B[k][j];
    }}
#pragma endscop
}}
"""
BOTH = """
int main(void)
{
    int16_t X[4][2] = {10, 20, 30, 40, 50, 60, 70}, A[8] = {0}, B[2][16];
    int32_t C[2][4][16] = {0};
    for (int j = 0; j < 16; j++) B[0][j] = j, B[1][j] = 100 - j;
    written(C[0], A + 1, X, B);
    changed(C[1], A + 4 + 1, X, B);
    for (int t = 0; t < 4; t++)
        for (int j = 0; j < 16; j++)
            if (C[0][t][j] != C[1][t][j]) return 1;
    return 0;
}
"""


@pytest.mark.parametrize("flags", ["-O2", "-O3", "-O1 -fsanitize=alignment -fno-sanitize-recover=all"])
@pytest.mark.parametrize("name", ["vpdpwssd", "vpmaddwd"])
def test_pairs_that_are_read_as_a_word_are_objects_of_their_own_type(name: str, flags: str, tmp_path: Path) -> None:
    """Compilers took a word that a loop stores as two elements out of the loop; it need not be aligned as a word."""
    require(name)
    made = optimize(from_c_text(RECURRENT.format(name="changed")), PipelineOptions(
        scheduler="original", parallel=False, verify_instructions="never",
        tensorize=TensorizeOptions(intrinsic=name)))
    assert f"by {name}" in made.text, made.instructions
    text = splice(RECURRENT.format(name="changed"), [made.source]) + RECURRENT.format(name="written") + BOTH
    source, binary = tmp_path / "both.c", tmp_path / "both"
    source.write_text(text)
    done = find_compiler().run([*flags.split(), "-march=native", "-w", "-std=gnu11", str(source), "-o", str(binary),
                                "-lm"])
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, f"{ran.stderr}\n{made.text}"
