"""Simd loops as explicit vectors with tails compute bitwise what the source computes."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit, splice
from polysched.emit_c.loop_ir.text import loop_text
from polysched.scheduling import original
from polysched.scheduling.marks import LoopMark
from polysched.scop import from_c_text
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.emit_c.marked_trees import marked
from tests.emit_c.nodes import boundaries, conditions, for_loops, left_to_the_compiler, lengths, on_threads, vectors
from tests.schedules import original_of

LOOPS = (("i", LoopMark()), ("j", LoopMark(member=1, simd=True)))
HEAD = "void f(int n, int m, float A[n][m + 2], float B[n][m + 2], double D[n][m + 2], int K[n][m + 2])"
BODIES = {
    "stencil": "A[i][j + 1] = 0.25f * (B[i][j] + B[i][j + 1] + B[i][j + 2]) - (float)D[i][0];",
    "conversions": "D[i][j] += (double)A[i][j] * K[i][j];",
    "iterators": "K[i][j] = (i + 2) * j - (K[i][j] >> 2);",
    "blend": "A[i][j] = B[i][j] < 0.0f || K[i][j] > 3 ? -B[i][j] : A[i][j] * 2.0f;",
    "blend of widened floats": "A[i][j] = A[i][j] > D[i][j] ? A[i][j] : D[i][j];",   # gcc 12 failed on lanes of 4 here
    "integers": "K[i][j] = K[i][j] * 7 ^ (K[i][j] & 15);",
    "negation": "A[i][j] = -B[i][j] / (1.0f + B[i][j] * B[i][j]);",
    "condition on data": "if (K[i][j] > 0 && B[i][j] < 1.0f) A[i][j] += B[i][j]; else A[i][j] = K[i][j];",
    "condition without else": "if (!(D[i][j] + K[i][j] > 0)) D[i][j] = D[i][j] * B[i][j];",
    "one condition for all lanes": "A[i][j] += B[i][m + 1] > 0 ? K[i][j] : B[i][m + 1];",   # gcc wants two equal types
    "constants": "A[i][j] = B[i][j] * (float)1.7 - (float)(2. / 3.);",
    "one constant": "A[i][j] = -0.1;",
    "a constant in a wide sum": "A[i][j] += 0.1;",
    "a constant in a wide comparison": "A[i][j] = B[i][j] < 0.1 ? B[i][j] : (float)0.1;",
    "remainder": "K[i][j] = K[i][j] % 7 + K[i][j] / 3;",
}


def program(body: str) -> str:
    return (f"{HEAD} {{\n#pragma scop\n  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)\n"
            f"      {body}\n#pragma endscop\n}}\n")


@pytest.mark.parametrize("bits", [128, 512])
@pytest.mark.parametrize("name", BODIES)
def test_vectors_and_tails(name: str, bits: int, tmp_path: Path) -> None:
    text = program(BODIES[name])
    source = emit(marked(from_c_text(text), LOOPS), options=EmitOptions(vector_bits=bits))
    assert vectors(source.loops), "no loop became vectors"
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    for n, m in ((1, 1), (2, 3), (3, 15), (2, 16), (2, 17), (3, 31), (17, 32), (17, 33), (1, 47), (2, 65), (2, 0)):
        rng = np.random.default_rng(m)
        shape = (n, m + 2)
        arrays = [rng.standard_normal(shape).astype(np.float32), rng.standard_normal(shape).astype(np.float32),
                  rng.standard_normal(shape), rng.integers(-50, 50, shape).astype(np.int32)]
        results = []
        for function in (original, ours):
            copies = [a.copy() for a in arrays]
            function(n, m, *(ctypes.c_void_p(c.ctypes.data) for c in copies))
            results.append([c.tobytes() for c in copies])
        assert results[0] == results[1], f"{(n, m)}\n{source.text}"


@pytest.mark.parametrize(("body", "lanes"), [
    (BODIES["constants"], 8), (BODIES["one constant"], 8), (BODIES["a constant in a wide sum"], 4),
    (BODIES["a constant in a wide comparison"], 4), ("A[i][j] = B[i][j] * 1.7;", 4),
])
def test_lanes_are_as_many_as_the_widest_computation_allows(body: str, lanes: int) -> None:
    """A constant that is converted before anything is computed with it is no such computation."""
    source = emit(marked(from_c_text(program(body)), LOOPS), options=EmitOptions(vector_bits=256))
    assert max(lengths(source.loops)) == lanes, loop_text(source.loops)


@pytest.mark.parametrize("declared", ["enum colour", "long long", "_Float32", "unsigned short"])
def test_one_value_of_any_type_goes_to_all_lanes(declared: str, tmp_path: Path) -> None:
    """C converts no enumeration to a vector."""
    text = (f"enum colour {{ RED, GREEN }}; void f({declared} A[9][40], {declared} w[9]) {{\n#pragma scop\n"
            "for (int i = 0; i < 9; i++) for (int j = 0; j < 40; j++) A[i][j] = w[i];\n#pragma endscop\n}\n")
    tiled = tile(original_of(text), TilingOptions(sizes="off"))
    source = emit(tiled, options=EmitOptions(vector_bits=256))
    assert vectors(source.loops)
    load(splice(text, [source]), tmp_path, flags=("-O0",))


@pytest.mark.parametrize("bits", [128, 512])
def test_of_a_known_number_of_iterations_only_the_parts_that_there_are(bits: int, tmp_path: Path) -> None:
    rows = (1, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 31, 33, 44)
    loops = "".join(f"  for (int j = 2; j < {length + 2}; j++)\n    A[{row}][j] = A[{row}][j] * B[{row}][j];\n"
                    for row, length in enumerate(rows))
    text = (f"void f(float A[{len(rows)}][50], float B[{len(rows)}][50]) {{\n#pragma scop\n{loops}"
            "#pragma endscop\n}\n")
    scop = from_c_text(text)
    tiled = tile(original(analyse(scop)), TilingOptions(sizes="off", parallel=False))
    source = emit(tiled, options=EmitOptions(vector_bits=bits))
    assert all((loop.upper - loop.lower).constant > 0 for loop in for_loops(source.loops)), loop_text(source.loops)
    assert not conditions(source.loops)
    assert vectors(source.loops)
    results = []
    for function in (load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f):
        arrays = [np.random.default_rng(k).standard_normal((len(rows), 50)).astype(np.float32) for k in range(2)]
        function(*(ctypes.c_void_p(a.ctypes.data) for a in arrays))
        results.append(arrays[0].tobytes())
    assert results[0] == results[1], source.text


@pytest.mark.parametrize(("length", "parts"), [
    (4, {4}), (5, {4, 1}), (6, {6}), (7, {7}), (8, {8}), (12, {4, 8}), (13, {13}), (14, {14}), (16, {16}), (17, {16}),
    (30, {16}), (44, {16}), (47, {16})])
def test_what_is_left_of_known_lengths_is_in_vectors_that_overlap(length: int, parts: set[int], tmp_path: Path) -> None:
    """Of a local array, too, of which no boundary in memory is known."""
    text = f"""void f(float A[3][{length}], float B[3][{length}]) {{
#pragma scop
  for (int i = 0; i < 3; i++) {{
    float t[{length}];
    for (int j = 0; j < {length}; j++)
      t[j] = B[i][j] * B[i][j];
    for (int j = 0; j < {length}; j++)
      A[i][j] = t[{length - 1} - j] - t[j];
  }}
#pragma endscop
}}
"""
    tiled = tile(original(analyse(from_c_text(text))), TilingOptions(sizes="off", parallel=False))
    source = emit(tiled, options=EmitOptions(vector_bits=512))
    assert set(lengths(source.loops)) | ({1} & parts) == parts, loop_text(source.loops)
    results = []
    for function in (load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f):
        arrays = [np.random.default_rng(k).standard_normal((3, length)).astype(np.float32) for k in range(2)]
        function(*(ctypes.c_void_p(a.ctypes.data) for a in arrays))
        results.append(arrays[0].tobytes())
    assert results[0] == results[1], source.text


@pytest.mark.parametrize(("body", "twice"), [
    ("A[i][j] = B[i][j];", True), ("A[i][j] = B[i][j] < 0.0f ? B[i][j + 1] : K[i][j];", True),
    ("A[i][j] += B[i][j];", False), ("A[i][j] = A[i][j + 1] + B[i][j];", False)])
def test_only_loops_that_read_nothing_they_write_repeat_iterations(body: str, twice: bool) -> None:
    source = emit(marked(from_c_text(program(body)), LOOPS), options=EmitOptions(vector_bits=512))
    assert [b.boundary_bytes for b in boundaries(source.loops)] == [64] * twice


@pytest.mark.parametrize("body", [
    "A[i][j] = B[i][m - j];", "A[i][j] = lgammaf(B[i][j]);", "if (K[i][j] > 0) K[i][j] /= K[i][j + 1];"])
def test_what_has_no_good_vector_form_stays_a_simd_loop(body: str) -> None:
    text = "float lgammaf(float);\n" + program(body)
    source = emit(marked(from_c_text(text), LOOPS), options=EmitOptions(vector_bits=512))
    assert left_to_the_compiler(source.loops)
    assert not vectors(source.loops)


def test_a_conditional_load_that_may_lie_outside_stays_scalar() -> None:
    text = program("A[i][j] = K[i][j] > 0 ? B[i][j + 3] : 0.0f;")
    source = emit(marked(from_c_text(text), LOOPS), options=EmitOptions(vector_bits=512))
    assert not vectors(source.loops)


CALLS = "float expf(float), sqrtf(float), fmaxf(float, float); double pow(double, double), erf(double);\n"
CALLING = {
    "of the elements": "A[i][j] = sqrtf(fmaxf(B[i][j], 0.0f)) * expf(-B[i][j]);",
    "in another type": "A[i][j] = erf(B[i][j]) + pow(A[i][j] * A[i][j], D[i][j]);",
    "under a condition": "if (K[i][j] > 0) A[i][j] = expf(B[i][j]); else A[i][j] -= expf(A[i][j] * 0.5f);",
    "of one value for all lanes": "D[i][j] += expf(B[i][0]) * K[i][j];",
    "of elements backwards": "D[i][m - j] = expf(B[i][m - j]) + pow(2.0, A[i][j]);",
    "inside a call": "A[i][j] = expf(-expf(B[i][j] - j));",
}


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("name", CALLING)
def test_calls_in_vectors_and_tails(name: str, bits: int, tmp_path: Path) -> None:
    text = CALLS + program(CALLING[name])
    source = emit(marked(from_c_text(text), LOOPS), options=EmitOptions(vector_bits=bits))
    assert vectors(source.loops), "no loop became vectors"
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    for n, m in ((1, 1), (2, 3), (3, 7), (3, 15), (2, 16), (2, 17), (3, 31), (1, 47), (2, 0)):
        rng = np.random.default_rng(m)
        shape = (n, m + 2)
        arrays = [rng.standard_normal(shape).astype(np.float32), rng.standard_normal(shape).astype(np.float32),
                  rng.standard_normal(shape), rng.integers(-50, 50, shape).astype(np.int32)]
        results = []
        for function in (original, ours):
            copies = [a.copy() for a in arrays]
            function(n, m, *(ctypes.c_void_p(c.ctypes.data) for c in copies))
            results.append(copies)
        for want, got in zip(*results, strict=True):
            np.testing.assert_allclose(got, want, rtol=3e-6, atol=1e-6, err_msg=f"{(n, m)}\n{source.text}")


@pytest.mark.parametrize("bits", [128, 512])
def test_a_value_does_not_depend_on_its_lane(bits: int, tmp_path: Path) -> None:
    text = CALLS + program("A[i][j] = expf(B[i][j]);")
    source = emit(marked(from_c_text(text), LOOPS), options=EmitOptions(vector_bits=bits))
    ours = load(splice(text, [source]), tmp_path).f
    n, m = 60, 45
    b = np.zeros((n, m + 2), np.float32)
    b[:, :m] = np.linspace(-9, 9, n, dtype=np.float32)[:, None]
    a, unused = np.zeros_like(b), np.zeros((n, m + 2))
    ours(n, m, *(ctypes.c_void_p(x.ctypes.data) for x in (a, b, unused, unused)))
    assert (a[:, :m] == a[:, :1]).all()


def test_calls_stay_calls_on_request() -> None:
    text = CALLS + program(CALLING["of the elements"])
    source = emit(marked(from_c_text(text), LOOPS), options=EmitOptions(vector_bits=512, math="libm"))
    assert left_to_the_compiler(source.loops)
    assert not vectors(source.loops)


@pytest.mark.parametrize(("written", "read"), [("A", "B"), ("A", "A")])
def test_calls_in_a_loop_that_threads_share(written: str, read: str, tmp_path: Path) -> None:
    text = f"""double exp(double);
void f(int n, double A[n], double B[n]) {{
#pragma scop
  for (int j = 0; j < n; j++)
    {written}[j] = exp({read}[j]);
#pragma endscop
}}
"""
    source = emit(marked(from_c_text(text), (("j", LoopMark(parallel=True, simd=True, least_work=8)),)),
                  options=EmitOptions(vector_bits=256))
    (shared,) = on_threads(source.loops)
    assert shared.body in vectors(source.loops), "threads share the loop over vectors only"
    assert not left_to_the_compiler(source.loops)
    ours = load(splice(text, [source]), tmp_path).f
    for n in (0, 1, 3, 4, 5, 7, 8, 11, 16, 33):
        a, b = np.random.default_rng(n).standard_normal((2, n))
        want = np.exp(a if read == "A" else b)
        ours(n, *(ctypes.c_void_p(x.ctypes.data) for x in (a, b)))
        np.testing.assert_allclose(a, want, rtol=1e-15)


@pytest.mark.parametrize("bits", [128, 512])
def test_calls_of_elements_that_lie_apart(bits: int, tmp_path: Path) -> None:
    text = """float expf(float);
void f(int n, float A[3 * n + 1], float B[2 * n]) {
#pragma scop
  for (int j = 0; j < n; j++)
    A[3 * j + 1] = expf(B[2 * j + 1]);
#pragma endscop
}
"""
    source = emit(marked(from_c_text(text), (("j", LoopMark(simd=True)),)), options=EmitOptions(vector_bits=bits))
    assert vectors(source.loops), "no loop became vectors"
    ours = load(splice(text, [source]), tmp_path).f
    for n in (0, 1, 3, 4, 7, 15, 16, 17, 33):
        b = np.random.default_rng(n).standard_normal(2 * n).astype(np.float32)
        a = np.zeros(3 * n + 1, np.float32)
        want = a.copy()
        want[1:3 * n + 1:3] = np.exp(b[1::2])
        ours(n, *(ctypes.c_void_p(x.ctypes.data) for x in (a, b)))
        np.testing.assert_allclose(a, want, rtol=1e-6)


TURNS = {
    "a[(t + 1) % 2][i] = 0.5 * (a[t % 2][i - 1] + a[t % 2][i + 1]);": True,
    "a[1 - (t & 1)][i] = a[t & 1][i] - a[t & 1][i - 1];": True,
    "a[t % 3][i] += 2 * a[(t + 2) % 3][i + 1] - a[(t + 1) % 3][i];": False,
    "a[(t - 3) % 2 + 1][i] = a[1][i] + a[t / 2 % 3][i];": False,     # the remainder is negative at first
}


@pytest.mark.parametrize("body", TURNS)
def test_buffers_that_take_turns_are_told_apart(body: str, tmp_path: Path) -> None:
    """Subscripts with a remainder that the lanes do not move; two that differ let iterations run twice."""
    text = ("void f(int n, double a[3][n]) {\n#pragma scop\n  for (int t = 0; t < 5; t++)\n"
            f"    for (int i = 1; i < n - 1; i++)\n      {body}\n#pragma endscop\n}}\n")
    scop = from_c_text(text)
    source = emit(marked(scop, (("t", LoopMark()), ("i", LoopMark(member=1, simd=body != list(TURNS)[3])))),
                  options=EmitOptions(vector_bits=256))
    assert bool(vectors(source.loops)) is (body != list(TURNS)[3])
    assert [b.boundary_bytes for b in boundaries(source.loops)] == [32] * TURNS[body]
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    for n in (2, 3, 5, 6, 7, 9, 10, 11, 19, 34):
        given = np.random.default_rng(n).standard_normal((3, n))
        results = []
        for function in (original, ours):
            copy = given.copy()
            function(n, ctypes.c_void_p(copy.ctypes.data))
            results.append(copy.tobytes())
        assert results[0] == results[1], f"{n}\n{source.text}"


@pytest.mark.parametrize(("body", "vector_bits", "explicit"), [
    ("A[i][j] = B[i][j];", 256, False), ("A[i][j] = B[i][j];", 512, True),      # whole lines, one by one
    ("A[i][j] = B[i][m + 1];", 256, True), ("A[i][j] = -B[i][j];", 256, True), ("D[i][j] = A[i][j];", 256, True),
    ("A[i][j] += B[i][j];", 256, True)])
def test_copies_in_vectors_narrower_than_a_line_are_left_to_the_compiler(
        body: str, vector_bits: int, explicit: bool) -> None:
    loops = emit(marked(from_c_text(program(body)), LOOPS), options=EmitOptions(vector_bits=vector_bits)).loops
    assert bool(vectors(loops)) == explicit
    assert bool(left_to_the_compiler(loops)) != explicit
