"""Loops of which one iteration is in the way: split around it, and right."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c.loop_ir.index import variable
from polysched.emit_c.loop_ir.loops import Let, Node
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.measure.programs.instance_trace import verify_order
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.nodes import on_threads

HEAD = "void f(int n, int A[restrict n][n], int x[restrict n])\n{\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"
PATHS = """for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        A[i][j] = A[i][j] < A[i][k] + A[k][j] ? A[i][j] : A[i][k] + A[k][j];"""
PROGRAMS = {
    "shortest paths": PATHS,
    "a pivot that the loop may not reach": PATHS.replace("int i = 0; i < n", "int i = 2; i < n - 1"),
    "elimination in place": """for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) A[i][j] += 3 * x[i] * A[k][j];""",
}
REFUSED = {
    "two iterations are in the way": PATHS.replace("A[k][j]", "(A[k][j] + A[n - 1][j])"),
    "a chain": "for (int k = 0; k < n; k++)\n  for (int i = 1; i < n; i++) x[i] = x[i - 1] - A[k][i];",
}


def pivots(loops: Node) -> list[Let]:
    """The iterations that stand alone."""
    return [n for n in walk_nodes(loops) if isinstance(n, Let) and n.variable == "i"]


def emitted(body: str) -> polysched.pipeline.Optimized:
    return polysched.optimize(from_c_text(HEAD + body + TAIL), polysched.PipelineOptions(vector_bits=256))


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_parts_before_and_behind_are_independent(program: str, tmp_path: Path) -> None:
    optimized = emitted(PROGRAMS[program])
    assert [loop.variable for loop in on_threads(optimized.source.loops)] == ["i", "i"]
    assert [let.value for let in pivots(optimized.source.loops)] == [variable("k")]
    assert verify_order(optimized.tiled)
    new = load(HEAD.replace("#pragma scop\n", "") + optimized.text + "}\n", tmp_path)
    old = load(HEAD + PROGRAMS[program] + TAIL, tmp_path)
    for n in (1, 2, 9, 33):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [random.integers(0, 100, (n, n)).astype(np.int32), random.integers(-1, 2, n).astype(np.int32)]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays[0])
        np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("program", REFUSED)
def test_refused(program: str) -> None:
    assert not pivots(emitted(REFUSED[program]).source.loops)
