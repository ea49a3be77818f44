"""Subscripts with a few cases: loops are cut between these, ask nothing in either, and results stay."""

from __future__ import annotations

import ctypes
from pathlib import Path

import islpy as isl
import numpy as np
import pytest

import polysched
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.loops import Node, RegisterTile
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.subscript_cases import subscript_cases
from polysched.emit_c.loop_ir.text import linear_text
from polysched.emit_c.loop_ir.traversal import instances, walk_nodes
from polysched.emit_c.nests.subscripts_by_case import settle_subscripts
from polysched.scop import from_c_text
from polysched.scop.body import Binary
from polysched.scop.scop import Scop
from tests.emit_c.compiled import load
from tests.emit_c.nodes import innermost, left_to_the_compiler, vectors

HEAD = ("void f(int n, int h, double x[restrict n], double y[restrict n], double A[restrict n][n],\n"
        "       double B[restrict n][n])\n{\n#pragma scop\n")
TAIL = "\n#pragma endscop\n}\n"
ROW = "for (int i = 0; i < n; i++) "


def program(body: str, head: str = HEAD) -> Scop:
    return from_c_text(head + body + TAIL)


def cut(body: str, loops: str = "for i in range(0, n):\n    S0(i)", head: str = HEAD) -> list[tuple[str, str, int]]:
    """Bounds of the innermost loops behind the pass, and how many cases are left in each."""
    scop = program(body, head)
    found = settle_subscripts(parse_loops(loops), Facts(context=scop.context), scop)
    return [(linear_text(loop.lower), linear_text(loop.upper), count(scop, loop)) for loop in innermost(found)]


def count(scop: Scop, node: Node) -> int:
    """Cases that are told apart as the innermost loop runs: choices that it moves, and divisions."""
    moved = {loop.variable for loop in innermost(node)} | {
        edge.variable for n in walk_nodes(node) if isinstance(n, RegisterTile) for edge in n.edges}
    return sum(isinstance(cases.part, Binary) or bool(cases.moved_by & moved)
               for instance in instances(node) for cases in subscript_cases(scop, instance))


@pytest.mark.parametrize(("subscript", "expected"), [
    ("(i + 1) % n", [("0", "n - 1", 0), ("max(0, n - 1)", "n", 1)]),
    ("(i + 2) % n", [("0", "n - 2", 0), ("max(0, n - 2)", "n", 1)]),
    ("(i + n - 1) % n", [("0", "min(n, 1)", 1), ("1", "n", 0)]),
    ("(n - i) % n", [("0", "min(n, 1)", 1), ("1", "n", 0)]),
    ("i == 0 ? n - 1 : i - 1", [("0", "min(n, 1)", 1), ("1", "n", 0)]),
    ("i == n - 1 ? 0 : i + 1", [("0", "n - 1", 0), ("max(0, n - 1)", "n", 1)]),
    ("i + 2 < n ? i + 2 : i + 2 - n", [("0", "n - 2", 0), ("max(0, n - 2)", "n", 1)]),
    ("i >= n ? n - 1 : i", [("0", "n", 0)]),
    ("i % n", [("0", "n", 0)]),
    ("(i + n) % n", [("0", "n", 0)]),
])
def test_a_short_part_stays_as_it_is(subscript: str, expected: list[tuple[str, str, int]]) -> None:
    assert cut(f"{ROW}x[i] = y[{subscript}];") == expected


def test_both_long_parts_are_settled() -> None:
    scop = program("if (h >= 0 && h < n) " + ROW + "x[i] = y[(i + h) % n];")
    loops = settle_subscripts(parse_loops("if all(h >= 0, h < n):\n    for i in range(0, n):\n        S0(i)"),
                              Facts(context=scop.context), scop)
    assert [count(scop, loop) for loop in innermost(loops)] == [0, 0]


def test_what_stands_still_is_compared() -> None:
    assert cut(f"{ROW}for (int j = 0; j < n; j++) A[i][j] = B[(i + 1) % n][j];",
               "for i in range(0, n):\n    for j in range(0, n):\n        S0(i, j)") == [("0", "n", 0)]


@pytest.mark.parametrize("subscript", ["i % 4", "(3 * i) % n", "(i + h + n) % n"])
def test_what_goes_round_often_or_may_stays(subscript: str) -> None:
    head = HEAD.replace("double y[restrict n]", "double y[restrict 4 * n + 4]")
    scop = program("if (h >= 0 && h < n) " + ROW + f"x[i] = y[{subscript}];", head)
    before = parse_loops("for i in range(0, n):\n    S0(i)")
    assert settle_subscripts(before, Facts(context=scop.context), scop) == before


RINGS = {
    "neighbours": ROW + "x[i] = y[(i + 1) % n] - 3 * y[(i + n - 1) % n] + y[i];",
    "a wide one": ROW + "x[i] = y[(i + 2) % n] - 3 * y[(i + n - 1) % n] + y[(i + 2 * n - 3) % n];",
    "a shift of unknown length": "if (h >= 0 && h < n) " + ROW + "x[i] = y[(i + h) % n];",
    "choices": ROW + "x[i] = y[i == 0 ? n - 1 : i - 1] + y[i + 1 < n ? i + 1 : 0] - y[2 * i < n ? 2 * i : n - 1];",
    "a choice in the middle": "if (h >= 0 && h < n) " + ROW + "x[i] = y[i == h ? 0 : i];",
    "two choices": ROW + "for (int j = 0; j < n; j++) A[i][j] = B[i == 0 ? n - 1 : i - 1][j > n - 2 ? 0 : j + 1];",
    "backwards": ROW + "x[n - 1 - i] = y[(n - i) % n];",
    "in a condition": ROW + "if (i != h) x[(i + 1) % n] = y[i];",
    "two dimensions": ROW + "for (int j = 0; j < n; j++) A[i][j] = B[(i + 1) % n][j] + B[i][(j + n - 1) % n] "
                            "+ B[(i + n - 1) % n][(j + 1) % n];",
    "rows that turn": ROW + "for (int j = 0; j < n; j++) A[i][j] = B[i][(i + j) % n];",
    "a sum": ROW + "for (int j = 0; j < n; j++) x[i] += A[(i + 1) % n][(j + 1) % n] * y[j];",
    "over time": "for (int t = 0; t < h; t++) {\n" + ROW + "y[i] = x[i] + 0.5 * x[(i + 1) % n] - x[(i + n - 1) % n];\n"
                 + ROW + "x[i] = y[i];\n}",
    "in place": ROW + "x[(i + 1) % n] = 0.5 * x[i];",
    "a remainder of a remainder": ROW + "x[i] = y[((i + 1) % n + 1) % n];",
}


@pytest.mark.parametrize("name", RINGS)
def test_results_are_those_of_the_program(name: str, tmp_path: Path) -> None:
    optimized = polysched.optimize(program(RINGS[name]), polysched.PipelineOptions(vector_bits=256))
    new = load(HEAD.replace("#pragma scop\n", "") + optimized.text + "}\n", tmp_path)
    old = load(HEAD + RINGS[name] + TAIL, tmp_path)
    for n in (1, 2, 3, 4, 7, 8, 9, 33):
        for h in (0, 1, n // 2, n - 1):
            results = []
            for library in (new, old):
                random = np.random.default_rng(n)
                arrays = [random.standard_normal(shape) for shape in (n, n, (n, n), (n, n))]
                library.f(ctypes.c_int(n), ctypes.c_int(h), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
                results.append([a.tobytes() for a in arrays])
            assert results[0] == results[1], (n, h)


@pytest.mark.parametrize("name", ["neighbours", "choices", "two dimensions", "backwards", "two choices"])
def test_vectors_divide_nowhere(name: str) -> None:
    optimized = polysched.optimize(program(RINGS[name]), polysched.PipelineOptions(vector_bits=256, parallel=False))
    found = [*vectors(optimized.source.loops), *left_to_the_compiler(optimized.source.loops)]
    assert found
    assert all(count(optimized.scop, tile) == 0 for tile in found)


def test_a_ring_of_known_size() -> None:
    head = "void f(double x[restrict 64], double y[restrict 64])\n{\n#pragma scop\n"
    scop = from_c_text(head + "for (int i = 0; i < 64; i++) x[i] = y[(i + 1) % 64];" + TAIL)
    before = parse_loops("for i in range(0, 64):\n    S0(i)")
    loops = settle_subscripts(before, Facts(context=isl.Set("{ : }").params()), scop)
    assert [count(scop, loop) for loop in innermost(loops)] == [0, 1]
