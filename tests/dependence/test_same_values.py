"""Whether a changed program computes the same: every read has its source, and every array its last writer."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.same_values import check_same_values
from polysched.errors import IllegalScheduleError
from polysched.scop import from_c_text

TEXT = """void f(int n, double x[n], double y[n]) {
#pragma scop
  double t[n];
  for (int i = 0; i < n; i++)
    t[i] = x[i];
  for (int i = 0; i < n; i++)
    y[i] = t[i] + t[0];
#pragma endscop
}
"""
BEFORE = analyse(from_c_text(TEXT))


def ordered(text: str) -> Dependences:
    """The program in another order, given as one band."""
    scop = BEFORE.scop
    tree = isl.Schedule.from_domain(scop.domain)
    made = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, text).intersect_domain(scop.domain)
    tree = tree.insert_partial_schedule(isl.MultiUnionPwAff.from_union_map(made))
    return analyse(replace(scop, schedule=tree))


def test_the_program_itself() -> None:
    check_same_values(BEFORE, BEFORE)
    check_same_values(BEFORE, ordered("{ S0[i] -> [0, -i]; S1[i] -> [1, i] }"))
    check_same_values(BEFORE, ordered("{ S0[i] -> [i, 0]; S1[i] -> [i, 1] }"))


def test_a_value_that_comes_too_late() -> None:
    with pytest.raises(IllegalScheduleError, match=r"S1_r\d would read another value of 't'|carries a value"):
        check_same_values(BEFORE, ordered("{ S0[i] -> [i, 1]; S1[i] -> [i, 0] }"))


def test_another_last_writer() -> None:
    twice = TEXT.replace("y[i] = t[i] + t[0];", "y[0] = t[i];")
    before = analyse(from_c_text(twice))
    tree = isl.Schedule.from_domain(before.scop.domain).insert_partial_schedule(isl.MultiUnionPwAff.from_union_map(
        isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ S0[i] -> [0, i]; S1[i] -> [1, -i] }").intersect_domain(
            before.scop.domain)))
    with pytest.raises(IllegalScheduleError, match="'y' would have another value after the region") as refused:
        check_same_values(before, analyse(replace(before.scop, schedule=tree)))
    assert "last writer" in refused.value.witness


def test_a_new_statement_that_does_more_than_copy() -> None:
    longer = TEXT.replace("\n#pragma endscop", "\n  for (int i = 0; i < n; i++)\n    y[i] = y[i] * 2;\n#pragma endscop")
    with pytest.raises(IllegalScheduleError, match="the new statement S2 is no copy"):
        check_same_values(BEFORE, analyse(from_c_text(longer)))


def test_memory_based_dependences_prove_nothing() -> None:
    before = analyse(BEFORE.scop, value_based=False)
    check_same_values(before, before)
    with pytest.raises(IllegalScheduleError, match="do not tell which value of 't' S1_r0 reads"):
        check_same_values(before, ordered("{ S0[i] -> [0, -i]; S1[i] -> [1, i] }"))
