"""Distribution of an innermost loop: by the dependences, clusters first, and none on a circle."""

from __future__ import annotations

import islpy as isl

from polysched.dependence import analyse
from polysched.scheduling.marks import LoopMark
from polysched.scheduling.tree.loop_tree import Sequence
from polysched.scop import from_c_text
from polysched.tiling.tree.distribute import distribute, maps_of, sets_of, statement_groups, statement_names
from polysched.tiling.tree.loops import Loop
from polysched.tiling.tree.position import Position, top

TEXT = """void f(int n, double p[n], double q[n], double r[n], double x[n]) {{
#pragma scop
  for (int j = 1; j < n; j++) {{
    p[j] = x[j];
    q[j] = {second};
    r[j] = {third};
  }}
#pragma endscop
}}
"""


def position(second: str, third: str) -> Position:
    scop = from_c_text(TEXT.format(second=second, third=third))
    return top(analyse(scop), scop.domain)


def loop() -> Loop:
    function = isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, "{ S0[j] -> [j]; S1[j] -> [j]; S2[j] -> [j] }")
    return Loop(function=function, mark=LoopMark())


def made(second: str, third: str) -> list[list[list[str]]]:
    found = distribute(position(second, third), loop())
    return [[statement_names(keep.intersect(position(second, third).domain)) for keep, _ in node.branches]
            for node in found if isinstance(node, Sequence)]


def test_what_shares_an_iteration_stays_together_first() -> None:
    assert made("p[j] * 2", "q[j - 1]") == [[["S0", "S1"], ["S2"]], [["S0"], ["S1"], ["S2"]]]


def test_statements_that_share_nothing_across_iterations_are_one_cluster_or_all_apart() -> None:
    (apart,) = made("p[j - 1]", "q[j - 1]")
    assert apart == [["S0"], ["S1"], ["S2"]]


def test_the_order_is_that_of_the_dependences() -> None:
    groups = statement_groups(position("r[j - 1]", "p[j]"))
    assert groups is not None
    names = [name for name, _ in groups]
    assert names.index("S2") < names.index("S1")


def test_a_circle_cannot_be_distributed() -> None:
    assert statement_groups(position("r[j - 1]", "q[j]")) is None
    assert made("r[j - 1]", "q[j]") == []


def test_empty_parts_of_unions_are_dropped() -> None:
    domain = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ S1[i] : 0 <= i < 3; S0[i] : i > 3 and i < 2 }")
    assert statement_names(domain) == ["S1"]
    assert len(sets_of(domain)) == 1
    relation = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ S0[i] -> S1[i]; S1[i] -> S0[j] : 1 = 0 }")
    assert [m.get_tuple_name(isl.dim_type.in_) for m in maps_of(relation)] == ["S0"]
