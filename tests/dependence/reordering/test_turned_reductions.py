"""Reductions over rows that lie apart: which get another order of their loops, and that results are the same."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.dependence import find_reductions
from polysched.dependence.reordering.turned_reductions import in_any_order
from polysched.measure.programs.instance_trace import verify_order
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

HEAD = "void f(int m, int n, int S[restrict n][m], double D[restrict n][m], int k[restrict 3], long w[restrict 2])\n"
# Body, and the operators of the program that any order suits.
TURNED = {
    "sum": ("for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) k[0] += S[j][i];", ["sum"]),
    "last row": ("for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) if (S[j][i] == 8) k[1] = i;", ["max"]),
    "last row, a long": (
        "for (long i = 0; i < m; i++) for (int j = 0; j < n; j++) w[0] = D[j][i] > 7 ? i : w[0];", ["max"]),
    "last row from below zero": (
        "for (int i = -3; i < m - 3; i++) for (int j = 0; j < n; j++) if (S[j][i + 3] == 8) k[1] = i;", ["max"]),
    "last row of doubles, and any": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++)"
        " { if (D[j][i] > 7) k[0] = i; if (D[j][i] < -7) w[0] = 1; }", ["max", "any"]),
    "largest and any": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++)"
        " { k[2] = S[j][i] > k[2] ? S[j][i] : k[2]; w[1] = S[j][i] < -7 ? 3 : w[1]; }", ["max", "any"]),
}
KEPT = {
    "a sum of doubles": "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) D[0][0] += S[j][i];",
    "along memory": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (S[i][j] == 8) k[1] = i;",
    "the last column, not the last of all": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) if (S[j][i] == 8) k[1] = j;"),
    "a row counted down": (
        "for (int i = m - 1; i >= 0; i--) for (int j = 0; j < n; j++) if (S[j][i] == 8) k[1] = i;"),
    "another statement that is no reduction": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { if (S[j][i] == 8) k[1] = i; D[j][i] = 0; }"),
    "somebody reads the index": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { if (S[j][i] == 8) k[1] = i; k[0] += k[1]; }"),
    "both jump": "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) k[0] += S[j][i] & S[i][j];",
    "an unknown first row": (
        "for (int i = m - n; i < m; i++) for (int j = 0; j < n; j++) if (S[j][i - m + n] == 8) k[1] = i;"),
    "the first row": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) if (S[j][i] == 8 && k[1] < 0) k[1] = i;"),
    "the place of the largest": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) if (S[j][i] > k[1]) { k[1] = S[j][i]; w[0] = i; }"),
}


def source(body: str) -> str:
    return f"{HEAD}{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("program", TURNED)
def test_another_order_gives_the_same(program: str, tmp_path: Path) -> None:
    body, operators = TURNED[program]
    text = source(body)
    scop = from_c_text(text)
    free = in_any_order(scop)
    assert free is not None
    found = find_reductions(free)
    assert [r.operator for r in found] == operators
    assert all(r.any_order and r.exact for r in found)
    made = polysched.optimize(scop, polysched.PipelineOptions(vector_bits=256))
    assert set(made.dependences.relaxed) == {r.statement for r in found}
    assert "in lanes */" in made.text
    new = load(f"{text[:text.index('#pragma scop')]}{made.text}}}\n", tmp_path, flags=("-O1", "-fopenmp"))
    old = load(text, tmp_path)
    for m, n in ((0, 0), (1, 1), (7, 3), (64, 9), (131, 17), (33, 700), (330, 100)):
        for seed in range(5):
            results = []
            for library in (new, old):
                random = np.random.default_rng(m + seed)
                numbers = random.integers(-8, 9 if seed % 2 else 8, (n, m)).astype(np.int32)
                doubles = numbers * np.where(random.random((n, m)) < (0.5 if seed == 3 else 1), 1.0, np.nan)
                arrays = [numbers, doubles, np.array([(-9, -1, 0, m, 7)[seed]] * 3, np.int32), np.array([-5, seed])]
                library.f(m, n, *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
                results.append([a.tobytes() for a in arrays])
            assert results[0] == results[1], (m, n, seed)


@pytest.mark.parametrize("program", KEPT)
def test_kept_in_order(program: str) -> None:
    scop = from_c_text(source(KEPT[program]))
    assert in_any_order(scop) is None
    assert not polysched.optimize(scop).dependences.relaxed


def test_a_schedule_by_hand_keeps_the_statements_that_it_names() -> None:
    options = polysched.PipelineOptions(scheduler="original")
    made = polysched.optimize(from_c_text(source(TURNED["last row"][0])), options)
    assert not made.dependences.relaxed
    assert len(made.dependences.scop.statements) == 1


def test_the_order_is_checked() -> None:
    assert verify_order(polysched.optimize(from_c_text(source(TURNED["last row of doubles, and any"][0]))).tiled)


def test_an_index_that_a_name_stands_in_the_way_of_is_kept() -> None:
    body = TURNED["last row"][0]
    text = source(body.replace("S[j][i] == 8", "S[j][i] == k_index[0]")).replace(
        "k[restrict 3]", "k[restrict 3], int k_index[restrict 1]")
    assert in_any_order(from_c_text(text)) is None


def test_an_element_behind_no_pointer_is_not_touched_where_nothing_hits(tmp_path: Path) -> None:
    text = source(TURNED["last row"][0]).replace("k[restrict 3]", "*k")
    made = polysched.optimize(from_c_text(text))
    new = load(f"{text[:text.index('#pragma scop')]}{made.text}}}\n", tmp_path, flags=("-O1", "-fopenmp"))
    zeros = np.zeros((90, 80), np.int32)
    new.f(80, 90, ctypes.c_void_p(zeros.ctypes.data), None, None, None)
