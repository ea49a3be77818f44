"""One loop over two dimensions of an instruction: its halves, the count, isl's check, and the results bit for bit."""

from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.scop import from_c_text
from polysched.tensorize import MatchOptions, Rule, find_intrinsic, match
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.match import Matches
from polysched.tensorize.splitting import split_loop
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


def test_a_split_scop_has_the_same_instances_and_dependences() -> None:
    scop = from_c_text(DOT, defines=("N=30",))
    split, halves = split_loop(scop, "S0", "k", size=4, first=0)
    assert halves == ("k_tile", "k_lane")
    assert split.statements[0].iterators == halves
    assert split.statements[0].domain.count_val().get_num_si() == 30
    assert len(analyse(split).pairs) == len(analyse(scop).pairs)


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
