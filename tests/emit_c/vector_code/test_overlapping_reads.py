"""Rows of vectors that keep what they read for the vectors before and behind."""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import EmitOptions, emit, splice
from polysched.scheduling.marks import LoopMark
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.marked_trees import marked

LOOPS = (("i", LoopMark()), ("j", LoopMark(member=1, simd=True)))
BODIES = {
    "one step": "A[i][j + 3] = B[i][j + 2] + B[i][j + 3] * B[i][j + 4];",
    "several steps of two rows": "A[i][j + 3] = B[i][j] - B[i][j + 2] * B[i][j + 3] + C[i][j + 1] / C[i][j + 3];",
    "what is written is read too": "A[i][j + 3] = A[i][j + 3] * B[i][j + 3] - B[i][j + 2];",
    "ahead only": "A[i][j] = B[i][j] + B[i][j + 1] * B[i][j + 3];",
    "one row ahead, one behind": "A[i][j + 3] = B[i][j + 1] - B[i][j + 3] * C[i][j + 4] + C[i][j + 3];",
    "ahead of what is written": "A[i][j + 2] = A[i][j + 2] - (B[i][j + 4] - B[i][j + 2]);",
}
SHUFFLE = "polysched_across_"


def program(body: str, element: str) -> str:
    heads = ", ".join(f"{element} {name}[n][m + 5]" for name in "ABC")
    return (f"void f(int n, int m, {heads}) {{\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
            f"    for (int j = 0; j < m; j++)\n      {body}\n#pragma endscop\n}}\n")


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize(("element", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_the_same_numbers_around_the_edges_of_vectors(name: str, element: str, dtype: type, tmp_path: Path) -> None:
    text = program(BODIES[name], element)
    source = emit(marked(from_c_text(text), LOOPS), options=EmitOptions(vector_bits=512))
    assert SHUFFLE in source.text, source.text
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    lanes = 64 // np.dtype(dtype).itemsize
    for m in (0, 1, *range(lanes - 1, 4 * lanes + 2)):
        arrays = [np.random.default_rng(k).standard_normal((3, m + 5)).astype(dtype) for k in range(3)]
        results = []
        for function in (original, ours):
            copies = [a.copy() for a in arrays]
            function(3, m, *(ctypes.c_void_p(c.ctypes.data) for c in copies))
            results.append([c.tobytes() for c in copies])
        assert results[0] == results[1], f"{m}\n{source.text}"


@pytest.mark.parametrize(("bits", "body"), [
    (256, BODIES["one step"]),                                   # two of their vectors lie on a line
    (512, "A[i][j + 3] = B[i][j + 2] + B[i][j + 4];"),           # no vector where the loop writes
    (512, "A[i][j + 3] = B[i][j + 3] + C[i][j + 2];"),           # two rows
    (512, "A[i][j + 3] = (B[i][j + 3] + B[i][j + 2]) / (2 - B[i][j + 3]) * B[i][j + 2] * 3 * i;"),   # more operations
])
def test_rows_without_overlap_keep_their_loads(bits: int, body: str) -> None:
    text = emit(marked(from_c_text(program(body, "double")), LOOPS), options=EmitOptions(vector_bits=bits)).text
    assert "vector_size" in text
    assert SHUFFLE not in text


@pytest.mark.parametrize(("registers", "carries"), [(32, True), (2, False)])
def test_half_of_the_registers_may_go_from_vector_to_vector(registers: int, carries: bool) -> None:
    source = emit(marked(from_c_text(program(BODIES["one step"], "double")), LOOPS),
                  options=EmitOptions(vector_bits=512, vector_registers=registers))
    assert (SHUFFLE in source.text) is carries


@pytest.mark.parametrize("name", ["one step", "ahead only", "ahead of what is written"])
def test_nothing_is_read_that_the_program_does_not_read(name: str, tmp_path: Path) -> None:
    """What stands behind the last element that is read may not be there."""
    steps = max(k for k in range(5) if f"B[i][j + {k}]" in BODIES[name])
    text = program(BODIES[name], "double").replace("[m + 5]", f"[m + {steps}]")
    source = emit(marked(from_c_text(text), LOOPS), options=EmitOptions(vector_bits=512))
    assert "_next" in source.text, source.text
    ours, libc = load(splice(text, [source]), tmp_path).f, ctypes.CDLL(None)
    page = mmap.PAGESIZE
    pages = mmap.mmap(-1, 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    assert libc.mprotect(ctypes.c_void_p(start + page), ctypes.c_size_t(page), mmap.PROT_READ & 0) == 0
    for m in range(1, 50):
        others = [np.zeros((1, m + 5)) for _ in "AC"]
        ours(1, m, ctypes.c_void_p(others[0].ctypes.data), ctypes.c_void_p(start + page - 8 * (m + steps)),
             ctypes.c_void_p(others[1].ctypes.data))
    assert libc.mprotect(ctypes.c_void_p(start + page), ctypes.c_size_t(page), mmap.PROT_READ) == 0
