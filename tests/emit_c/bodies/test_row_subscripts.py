"""Arrays that a program writes in one dimension: register tiles and copies as with one subscript per dimension."""

from __future__ import annotations

import ctypes
import itertools
import mmap
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import CSource, EmitOptions, emit, splice
from polysched.target.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.emit_c.nodes import blocks
from tests.schedules import pluto_of

TARGET = Target(vector_bits=256, vector_registers=16, cores=2)
LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++) "
# The statements, and the elements of C, A and B by the sizes; rows of `s` elements may be longer than what is used.
PROGRAMS = {
    "product": (LOOPS + "C[i * m + j] += A[i * l + k] * B[k * m + j];", "n*m", "n*l", "l*m"),
    "rows that are longer": (LOOPS + "C[i * s + j] -= A[i * s + k] * B[k * s + j];",
                             "(n-1)*s+m", "(n-1)*s+l", "(l-1)*s+m"),
    "transposed": (LOOPS + "C[i * s + j] += A[k * s + i] * B[j * s + k];", "(n-1)*s+m", "(l-1)*s+n", "(m-1)*s+l"),
    "triangle": (LOOPS.replace("j < m", "j <= i") + "C[i * n + j] += A[i * s + k] * A[j * s + k];",
                 "n*n", "(n-1)*s+l", "0"),
    "rows of a batch": ("for (int b = 0; b < 2; b++) " + LOOPS
                        + "C[b * n * m + i * m + j] += A[b * n * l + i * l + k] * B[k * m + j];",
                        "2*n*m", "2*n*l", "l*m"),
    "through pointers": ("for (int i = 0; i < n; i++) { float *c = C + i * m; for (int k = 0; k < l; k++) { "
                         "const float *b = B + k * m; for (int j = 0; j < m; j++) c[j] += b[j] * A[i * l + k]; } }",
                         "n*m", "n*l", "l*m"),
}


def emitted(name: str) -> tuple[str, CSource]:
    body = PROGRAMS[name][0]
    text = ("void f(int n, int m, int l, int s, float *C, const float *A, const float *B) {\n#pragma scop\n"
            f"{body}\n#pragma endscop\n}}\n")
    tiled = tile(pluto_of(text), TilingOptions(target=TARGET, sizes=(16, 48, 8)))
    return text, emit(tiled, options=EmitOptions(vector_bits=256))


def before_a_page(values: np.ndarray) -> tuple[mmap.mmap, int]:
    """A copy whose last element ends where memory does, and its address."""
    size = -(-max(values.nbytes, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + size), mmap.PAGESIZE, 0) == 0
    address = start + size - values.nbytes
    ctypes.memmove(address, values.ctypes.data, values.nbytes)
    return memory, address


def result(function: ctypes._NamedFuncPointer, sizes: dict[str, int], name: str) -> bytes:
    generator = np.random.default_rng(sorted(sizes.values()))
    kept = []
    for count in PROGRAMS[name][1:]:
        elements = max(0, eval(count, dict(sizes)))
        kept.append((elements, *before_a_page((generator.integers(-60, 60, elements) / 8).astype(np.float32))))
    function(*sizes.values(), *(ctypes.c_void_p(address) for _, _, address in kept))
    return ctypes.string_at(kept[0][2], 4 * kept[0][0])


@pytest.mark.parametrize("name", PROGRAMS)
def test_register_tiles_and_copies_give_the_same_numbers_within_the_memory(name: str, tmp_path: Path) -> None:
    text, source = emitted(name)
    assert blocks(source.loops), source.text
    assert source.packed or name == "triangle", source.text   # what its tiles read may go beyond the memory
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    for n, m, depth in itertools.product((1, 5, 16, 17, 33), (1, 7, 47, 48, 50, 97), (1, 8, 9, 17)):
        sizes = {"n": n, "m": m, "l": depth, "s": max(n, m, depth) + 3}
        assert result(ours, sizes, name) == result(original, sizes, name), f"{sizes}\n{source.text}"
