"""Sums in parts are compared with the sum: lost, doubled and mixed updates are found, whoever made them."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.questions.same_sums import Parts, check_same_sums
from polysched.errors import IllegalScheduleError
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

BEFORE = """
void f(int n, int y[n], int a[n][8]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 1;
    for (int k = 0; k < 8; k++)
      y[i] += a[i][k];
  }
#pragma endscop
}
"""
AFTER = """
void f(int n, int y[n], int a[n][8]) {
#pragma scop
  unsigned p[2];
  for (int i = 0; i < n; i++) {
    y[i] = 1;
    for (int l = 0; l < 2; l++)
      p[l] = 0;
    for (int t = 0; t < 4; t++)
      for (int l = 0; l < 2; l++)
        p[l] += a[i][2 * t + l];
    for (int l = 0; l < 2; l++)
      y[i] += p[l];
  }
#pragma endscop
}
"""
NAMES = {"S1": "start", "S2": "S1", "S3": "total"}


def renamed(scop: Scop) -> Scop:
    """The statements and references under the names that a step would give them."""
    back = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
    statements = []
    for s in scop.statements:
        name = NAMES.get(s.name, s.name)
        back = back.union(isl.UnionMap.from_map(isl.Map.identity(s.domain.get_space().map_from_set()).set_tuple_name(
            isl.dim_type.in_, name)))
        reference = {a.reference: a.reference.replace(s.name, name) for a in s.accesses}
        statements.append(replace(
            s, name=name, domain=s.domain.set_tuple_name(name), body=(replace(
                s.body[0], target=reference[s.body[0].target], read=reference.get(s.body[0].read),
                value=_renamed(s.body[0].value, reference)),),
            accesses=tuple(replace(a, reference=reference[a.reference], relation=a.relation.set_tuple_name(
                isl.dim_type.in_, name)) for a in s.accesses)))
    return replace(scop, statements=tuple(statements), schedule=scop.schedule.pullback_union_pw_multi_aff(
        isl.UnionPwMultiAff.from_union_map(back)))


def _renamed(value, reference):
    return replace(value, reference=reference[value.reference]) if hasattr(value, "reference") else value


def programs(change: tuple[str, str] = ("", "")) -> tuple[Dependences, Dependences]:
    assert change[0] in AFTER
    return analyse(from_c_text(BEFORE)), analyse(renamed(from_c_text(AFTER.replace(*change))))


def how(back: str = "{ S1[i, t, l] -> S1[i, 2t + l] : 0 <= l < 2 and 0 <= t < 4 }") -> Parts:
    return Parts(statement="S1", start="start", total="total", array="y", parts="p", group=(0,), part=2,
                 back=isl.Map.read_from_str(isl.DEFAULT_CONTEXT, back))


def test_a_sum_in_parts_is_the_sum() -> None:
    check_same_sums(*programs(), how())


@pytest.mark.parametrize(("change", "match"), [
    (("t < 4", "t < 3"), "do not have each instance"),
    (("l < 2; l++)\n      y[i]", "l < 1; l++)\n      y[i]"), "are no chain"),
    (("y[i] += p[l]", "y[i] += p[0]"), "are no chain"),
    (("l < 2; l++)\n      p[l] = 0", "l < 1; l++)\n      p[l] = 0"), "are no chain"),
    (("p[l] += a", "p[0] += a"), "are no chain"),
    (("a[i][2 * t + l]", "a[i][2 * t]"), None),
    (("y[i] = 1;\n", "y[0] = 1;\n"), "would add to another value"),
    (("y[i] += p[l]", "y[0] += p[l]"), "a value between two updates|add to another|another value after")])
def test_planted_faults_are_found(change: tuple[str, str], match: str | None) -> None:
    before, after = programs(change)
    if match is None:   # what is read of arrays that nothing writes is not a question of flow: bodies stay as they are
        check_same_sums(before, after, how())
        return
    with pytest.raises(IllegalScheduleError, match=match):
        check_same_sums(before, after, how())


def test_an_instance_in_two_parts_is_found() -> None:
    with pytest.raises(IllegalScheduleError, match="do not have each instance"):
        check_same_sums(*programs(), how("{ S1[i, t, l] -> S1[i, t + l] : 0 <= l < 2 and 0 <= t < 4 }"))


def test_memory_based_dependences_say_too_little() -> None:
    before, after = programs()
    with pytest.raises(IllegalScheduleError, match="memory-based"):
        check_same_sums(analyse(before.scop, value_based=False), after, how())
