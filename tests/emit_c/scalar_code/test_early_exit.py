"""A sequential loop that `break` has left ends."""

from __future__ import annotations

import ctypes
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.pipeline import PipelineOptions, transform_file
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

HEAD = "void f(int n, int m, int A[restrict n][m], int x[restrict m], int y[restrict m])"
LEFT = {
    "one loop": "for (int j = 0; j < m; j++) { y[j] = x[j] + 1; if (x[j] > 5) break; y[j] += y[j > 0 ? j - 1 : 0]; }",
    "two loops, both left": """for (int i = 0; i < n; i++) {
        int last = 0;
        for (int j = 0; j < m; j++) { last += A[i][j]; if (last > 20) break; y[j] = last; }
        if (last > 25) break;
        x[0] += last;
      }""",
    "rows apart": """for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++) { A[i][j] += A[i][j - 1]; if (A[i][j] > 20) break; }""",
}
KEPT = {
    "something behind the loop's end": "for (int j = 0; j < m; j++) { if (x[j] > 5) continue; y[j] = x[j]; }",
    "not all of it": """for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) { if (A[i][j] > 5) break; y[j] += 1; }
        x[0] += y[0];
      }""",
}


def emitted(body: str) -> str:
    text = f"{HEAD}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    return text[:text.index("#pragma scop")] + polysched.optimize(from_c_text(text)).text + "}\n"


@pytest.mark.parametrize("program", LEFT)
def test_the_loop_ends_with_the_values_of_the_source(program: str, tmp_path: Path) -> None:
    text = emitted(LEFT[program])
    assert "break;" in text, text
    versions = [load(source, tmp_path) for source in (f"{HEAD}\n{{\n{LEFT[program]}\n}}\n", text)]
    for seed in range(6):
        results = []
        for version in versions:
            draw = np.random.default_rng(seed)
            arrays = [draw.integers(0, 7, shape).astype(np.int32) for shape in ((9, 40), (40,), (40,))]
            version.f(9, 40, *(a.ctypes.data_as(ctypes.c_void_p) for a in arrays))
            results.append(arrays)
        assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True)), seed


def test_loops_that_do_more_than_the_flag_lets_them_go_on() -> None:
    assert "break;" not in emitted(KEPT["something behind the loop's end"])
    region = emitted(KEPT["not all of it"]).rsplit("} else {", 1)[0]  # without the original for too little memory
    assert region.count("break;") == 1
    assert region.index("break;") < region.index("x[0] +=")


SELDOM = {
    "rows of a mask": "for (int i = 0; i < n; i++) if (x[i] > 5) for (int j = 0; j < m; j++) A[i][j] += y[j];",
    "a loop in its order": """for (int i = 0; i < n; i++)
        if (x[i] > 5) for (int j = 1; j < m; j++) A[i][j] += A[i][j - 1];
        else for (int j = 2; j < m; j++) A[i][j] *= 2;""",
    "one condition": "if (x[n + 3] > 3) for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] += y[j];",
}


def entered(text: str) -> int:
    """How many loops, or questions whether they are worth a team, stand behind a test of a condition on data."""
    lines = [line.strip() for line in text.splitlines()]
    return sum(test.startswith("if (") and "taken" in test and loop.startswith(("for (", "#pragma", "if ("))
               for test, loop in pairwise(lines))


@pytest.mark.parametrize("program", SELDOM)
def test_a_loop_is_not_entered_where_a_condition_on_data_leaves_nothing_to_do(program: str, tmp_path: Path) -> None:
    text = emitted(SELDOM[program])
    assert entered(text), text
    versions = [load(source, tmp_path) for source in (f"{HEAD}\n{{\n{SELDOM[program]}\n}}\n", text)]
    for n, m in ((9, 40), (1, 1), (0, 7), (13, 0), (8, 33)):
        results = []
        for version in versions:
            draw = np.random.default_rng(n)
            arrays = [draw.integers(0, 7, shape).astype(np.int32) for shape in ((n, m), (40,), (40,))]
            version.f(n, m, *(a.ctypes.data_as(ctypes.c_void_p) for a in arrays))
            results.append(arrays)
        assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True)), (n, m)


def test_only_the_outermost_of_loops_is_tested() -> None:
    text = emitted("if (x[n + 3] > 3) for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) A[i][j] += A[i][j - 1];")
    assert entered(text) == 1, text


BELOW = {"one": "if (x[j] > 0) { if (y[i]) A[i][j] += 1; }",
         "two": "if (x[j] > 0) { if (y[i]) A[i][j] += 1; } if (x[j] < 0) { if (y[i]) A[i][j] -= 1; }"}


@pytest.mark.parametrize("body", BELOW.values(), ids=BELOW)
def test_an_element_that_another_condition_guards_is_not_read_in_front_of_the_loop(body: str, tmp_path: Path) -> None:
    text = emitted(f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ {body} }}")
    assert not any("if (y[i])" in test and loop.strip().startswith(("for (", "#pragma"))
                   for test, loop in pairwise(text.splitlines())), text
    A, x = np.ones((3, 5), np.int32), np.zeros(5, np.int32)
    load(text, tmp_path).f(3, 5, *(a.ctypes.data_as(ctypes.c_void_p) for a in (A, x)), None)
    assert A.tolist() == np.ones((3, 5)).tolist()


def test_an_element_that_only_an_inner_loop_reads_is_not_read_behind_it(tmp_path: Path) -> None:
    source = tmp_path / "in.c"
    source.write_text(f"{HEAD.replace('int A', 'double A').replace('int x', 'double x')}\n{{\n#pragma scop\n"
                      "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++)\n"
                      "  if (x[3]) A[i][j] = 0.5 * A[i - 1][j] + A[i - 1][j - 1];\n#pragma endscop\n}\n")
    text = transform_file(source, PipelineOptions(scheduler="original", tile="off", vector_bits=0)).text
    assert "if (m > 1 && !x[3])\n      break;" in text
    A = np.ones((3, 1))
    load(text, tmp_path).f(3, 1, A.ctypes.data_as(ctypes.c_void_p), None, None)
    assert A.tolist() == [[1], [1], [1]]
