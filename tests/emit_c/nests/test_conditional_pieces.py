"""Loops of independent iterations with conditions: a loop for each condition, turned round where it runs backwards."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.emit_c import EmitOptions, emit
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.text import loop_text
from polysched.emit_c.nests.conditional_pieces import separate_pieces
from polysched.scheduling import SchedulerOptions, pluto
from polysched.scop import from_c_text
from polysched.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.emit_c.nodes import conditions, innermost

HEAD = "void f(int n, int m, double x[restrict n + 1], double y[restrict n + 1], double z[m])\n{\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"
MARK = ", mark='role=loop simd=1'"


def of(body: str) -> Dependences:
    return analyse(from_c_text(HEAD + body + TAIL))


LAST = "\nfor (int i = 0; i < m; i++) z[i] = 3;"
TWO = of("for (int i = 0; i < n; i++) x[i] = 1;\nfor (int i = 0; i < n; i++) y[i] = 2;" + LAST)
CHAIN = of("for (int i = 0; i < n; i++) x[i + 1] = x[i];\nfor (int i = 0; i < n; i++) y[i] = 2;" + LAST)
ACROSS = of("for (int i = 0; i < n; i++) x[i] = 1;\nfor (int i = 0; i < n; i++) y[i] = x[i + 1];" + LAST)


def behind(text: str, dependences: Dependences = TWO) -> str:
    return loop_text(separate_pieces(parse_loops(text), Facts(context=dependences.scop.context), dependences))


def test_conditions_on_the_variable_become_bounds() -> None:
    text = f"for v in range(0, n{MARK}):\n    if v < m:\n        S0(v)\n    if 2*v >= m:\n        S1(v)\n"
    expected = (f"for v in range(0, min(n, m){MARK}):\n    S0(v)\n"
                f"for v in range(floord(m + 1, 2), n{MARK}):\n    S1(v)\n")
    assert behind(text) == loop_text(parse_loops(expected))


def test_conditions_on_others_stand_around() -> None:
    text = f"for v in range(0, n{MARK}):\n    if all(m >= 3, v == 2):\n        S0(v)\n    S1(v)\n"
    expected = f"if m >= 3:\n    for v in range(max(0, 2), min(n, 3){MARK}):\n        S0(v)\n" \
               f"for v in range(0, n{MARK}):\n    S1(v)\n"
    assert behind(text) == loop_text(parse_loops(expected.replace("max(0, 2)", "2")))


def test_what_stands_under_the_same_conditions_stays_together() -> None:
    text = f"for v in range(0, n{MARK}):\n    if v < m:\n        S0(v)\n        S1(v)\n"
    assert behind(text) == loop_text(parse_loops(f"for v in range(0, min(n, m){MARK}):\n    S0(v)\n    S1(v)\n"))


def test_pieces_that_run_backwards_are_turned_round() -> None:
    text = f"for v in range(m, n{MARK}):\n    S0(n - v)\n"
    assert behind(text) == loop_text(parse_loops(f"for v in range(-n + 1, -m + 1{MARK}):\n    S0(n + v)\n"))


@pytest.mark.parametrize(("text", "dependences"), [
    (f"for v in range(0, n{MARK}):\n    if v < m:\n        S0(v)\n    S1(v)\n", CHAIN),
    (f"for v in range(0, n{MARK}):\n    if v < m:\n        S0(v)\n    S1(v)\n", ACROSS),
    (f"for v in range(0, n{MARK}):\n    S0(n - v)\n", CHAIN),
    ("for v in range(0, n):\n    if v < m:\n        S0(v)\n    S1(v)\n", TWO),
    (f"for v in range(0, n{MARK}):\n    if v < m:\n        S0(v)\n    else:\n        S1(v)\n", TWO),
    (f"for v in range(0, n{MARK}):\n    S0(v)\n    S1(v)\n", TWO),
    (f"for v in range(0, n, 2{MARK}):\n    if v < m:\n        S0(v)\n", TWO),
])
def test_others_stay(text: str, dependences: Dependences) -> None:
    assert behind(text, dependences) == loop_text(parse_loops(text))


RING = """for (int t = 0; t < m; t++) {
  for (int i = 0; i < n; i++) y[i] = 0.5 * x[i] + 0.25 * x[(i + 1) % n] - x[(i + n - 1) % n];
  for (int i = 0; i < n; i++) x[i] = y[i];
}"""


@pytest.mark.parametrize("sizes", ["off", (2, 8), (4, 3)])
def test_the_halves_of_a_ring_have_loops_without_conditions(sizes: str | tuple[int, ...], tmp_path: Path) -> None:
    schedule = pluto(of(RING), options=SchedulerOptions(fusion="max", split_index_sets=True))
    tiled = tile(schedule, TilingOptions(sizes=sizes, target=Target(vector_bits=256, cores=2)))
    source = emit(tiled, options=EmitOptions(vector_bits=256, verify_passes=True))
    assert not any(map(conditions, innermost(source.loops)))
    new = load(HEAD.replace("#pragma scop\n", "") + source.text + "}\n", tmp_path)
    old = load(HEAD + RING + TAIL, tmp_path)
    for n in (1, 2, 3, 4, 5, 8, 9, 17, 40):
        for steps in (0, 1, 2, 5, 9):
            results = []
            for library in (new, old):
                random = np.random.default_rng(n)
                arrays = [random.standard_normal(n + 1), random.standard_normal(n + 1), np.zeros(9)]
                library.f(ctypes.c_int(n), ctypes.c_int(steps), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
                results.append([a.tobytes() for a in arrays])
            assert results[0] == results[1], (n, steps)
