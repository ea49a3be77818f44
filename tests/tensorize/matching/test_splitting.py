"""One loop over two dimensions of an instruction: its halves, the count, isl's check, and the results bit for bit."""

from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.tensorize import MatchOptions, Rule, find_intrinsic, match
from polysched.tensorize.choice import executes_here
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.matching.match import Matches
from polysched.tensorize.matching.splitting import split_loop, without_last
from tests.tensorize.compiled import call, compiled

DOT = """
#include <stdint.h>
void dot(int32_t sum[1], const uint8_t a[N], const int8_t b[N]) {
#pragma scop
    for (int k = 0; k < N; k++)
        sum[0] += a[k] * b[k];
#pragma endscop
}
"""
SPLIT = MatchOptions(partial_sums=True, split=True)


def dot(n: int, options: MatchOptions, name: str = "vpdpbusd_vector") -> Matches:
    return match(from_c_text(DOT, defines=(f"N={n}",)), find_intrinsic(name), options)


def test_a_dot_product_fills_lanes_and_groups_of_four_only_when_its_loop_is_split() -> None:
    plain, split = dot(320, MatchOptions(partial_sums=True)), dot(320, SPLIT)
    assert all(sum(bool(m) for m in found.loops) == 1 for found in plain.matches)
    both = [m for m in split.matches if all(m.loops)]
    assert {m.loops for m in both} == {(("k_tile",), ("k_lane",)), (("k_lane",), ("k_tile",))}
    assert split.count == plain.count + len(both)
    assert min(m.executions for m in both) < min(m.executions for m in plain.matches)


def test_amos_rule_does_not_split() -> None:
    options = MatchOptions(rule=Rule.AMOS, partial_sums=True, split=True)
    assert all("k_tile" not in str(m) for m in dot(320, options).matches)


@pytest.mark.parametrize("n", [17, 64, 67, 320, 333])
def test_every_split_match_gives_the_same_bits(n: int, tmp_path: Path) -> None:
    chooser = np.random.default_rng(n)
    a, b = chooser.integers(0, 256, n, np.uint8), chooser.integers(-128, 128, n, np.int8)
    found = dot(n, SPLIT)
    emitted = [emit_match(m, f"dot{i}", EmissionOptions(emulated=True)) for i, m in enumerate(found.with_mirrors)]
    library = compiled(emitted, tmp_path)
    for function in emitted:
        total = np.array([11], np.int32)
        call(library, function, {"sum": total, "a": a, "b": b})
        assert total[0] == 11 + int(a.astype(np.int32) @ b.astype(np.int32)), str(function.plan.match)


def assert_same_dependences(found: Dependences, wanted: Dependences) -> None:
    """Every pair of references with the same instances."""
    ours, theirs = ({(d.kind, d.array, d.source, d.sink, d.source_reference, d.sink_reference): d for d in of.pairs}
                    for of in (found, wanted))
    assert found.scop is wanted.scop
    assert ours.keys() == theirs.keys()
    for key, pair in ours.items():
        assert pair.relation.is_equal(theirs[key].relation), key
        assert pair.reduction == theirs[key].reduction, key


def test_a_split_scop_has_the_same_instances_and_dependences() -> None:
    scop = from_c_text(DOT, defines=("N=30",))
    cut, halves = split_loop(scop, "S0", "k", size=4, first=0)
    split = cut.scop
    assert halves == ("k_tile", "k_lane")
    assert split.statements[0].iterators == halves
    assert split.statements[0].domain.count_val().get_num_si() == 30
    assert len(analyse(split).pairs) == len(analyse(scop).pairs)
    assert_same_dependences(cut.renamed(analyse(scop)), analyse(split))


def test_a_loop_whose_stride_fills_a_half_is_not_split_there() -> None:
    text = """
#include <stdint.h>
void f(int32_t s[40], const int16_t a[40][64], const int16_t b[64]) {
#pragma scop
    for (int i = 0; i < 40; i++)
        for (int k = 0; k < 64; k += 2)
            s[i] += a[i][k] * b[k];
#pragma endscop
}
"""
    found = match(from_c_text(text), find_intrinsic("vpdpwssd"), SPLIT)
    assert found.count > 0
    assert all("k_lane" not in loops for m in found.with_mirrors for loops in m.loops)


ROWS = """
#include <stdint.h>
void rows(int32_t s[M], const uint8_t a[M][K], const int8_t b[K]) {
#pragma scop
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            s[i] += a[i][k] * b[k];
#pragma endscop
}
"""


@pytest.mark.parametrize(("m", "k", "emulated"), [(67, 129, False), (7, 191, True), (1, 131, True)])
def test_every_match_without_the_last_iterations_gives_the_same_bits(m: int, k: int, emulated: bool,
                                                                     tmp_path: Path) -> None:
    """67 rows in blocks of eight: the last three are a smaller block where rows are read in place."""
    unit = find_intrinsic("vpdpbusd_vector")
    if not emulated and not executes_here(unit):
        pytest.skip("vpdpbusd_vector needs AVX-512 VNNI, which this machine does not execute")
    scop = from_c_text(ROWS, defines=(f"M={m}", f"K={k}"))
    found = match(scop, unit, MatchOptions(partial_sums=True, split=True, remainder=True))
    plain = match(scop, unit, SPLIT)
    whole = [f for f in found.with_mirrors if len(f.fragment.scop.statements) == 2]
    assert found.total == plain.total + len(whole)
    assert all(f.fragment.is_box for f in whole)
    emitted = [emit_match(f, f"rows{i}", EmissionOptions(emulated=emulated)) for i, f in enumerate(whole)]
    assert emulated or any("} else {\n" in e.text for e in emitted)
    library = compiled(emitted, tmp_path)
    chooser = np.random.default_rng(k)
    a, b = chooser.integers(0, 256, (m, k), np.uint8), chooser.integers(-128, 128, k, np.int8)
    for function, f in zip(emitted, whole, strict=True):
        end = f.fragment.work // m
        assert 0 < k - end < 64
        sums = np.arange(m, dtype=np.int32)
        call(library, function, {"s": sums, "a": a, "b": b})
        expected = np.arange(m) + a[:, :end].astype(np.int32) @ b[:end].astype(np.int32)
        assert np.array_equal(sums, expected), str(function.plan)


def test_the_last_iterations_of_a_loop_as_a_statement_of_their_own_change_no_order() -> None:
    """Float sums in the order of the program, where the loop is neither the innermost nor alone in its nest."""
    scop = from_c_text("""
void conv(float y[6], float x[7][8], float w[7][3]) {
#pragma scop
    for (int p = 0; p < 6; p++) {
        y[p] = 0.1f;
        for (int c = 0; c < 7; c++)
            for (int r = 0; r < 3; r++)
                y[p] += x[c][p + r] * w[c][r];
    }
#pragma endscop
}
""")
    made, rest = without_last(scop, "S1", "c", end=4)
    cut = made.scop
    assert [s.name for s in cut.statements] == ["S0", "S1", rest]
    assert_same_dependences(made.renamed(analyse(scop)), analyse(cut))
    chooser = np.random.default_rng(0)
    arrays = {"y": np.zeros(6, np.float32), "x": chooser.random((7, 8), np.float32),
              "w": chooser.random((7, 3), np.float32)}
    again = {n: a.copy() for n, a in arrays.items()}
    execute(scop, {}, arrays)
    execute(cut, {}, again)
    assert np.array_equal(arrays["y"], again["y"])
    assert np.ptp(arrays["y"]) > 0


def test_dependences_of_a_program_in_pieces_are_those_of_an_analysis() -> None:
    """Around a sum that others write and read, with symbolic sizes, cut once and then split."""
    scop = from_c_text("""
void f(int n, int P[8], int Q[n][8][n], int R[n], int O[8]) {
#pragma scop
    for (int i = 0; i < 8; i++)
        P[i] = 0;
    for (int l = 0; l < n; l++)
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < n; k++)
                P[i] = P[i] + Q[l][i][k] * R[k];
    for (int i = 0; i < 8; i++) {
        O[i] = P[i] > 127 ? 127 : P[i];
        R[i] = O[i];
    }
#pragma endscop
}
""")
    cut, _ = without_last(scop, "S1", "k", end=8)
    pieces = cut.renamed(analyse(scop))
    assert_same_dependences(pieces, analyse(cut.scop))
    again, _ = split_loop(cut.scop, "S1", "k", size=4, first=0)
    assert_same_dependences(again.renamed(pieces), analyse(again.scop))
