"""A restated program is believed only where every value comes from where it came."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.scheduling.tree.loop_tree import Band, Leaf, from_isl, to_isl
from polysched.scop.body import Assign, Binary, Cast, Load
from polysched.scop.dtypes import FLOAT32, INT8, INT32, INT64, UINT32, UINT64, DType
from polysched.scop.scop import Scop
from polysched.tensorize.preparing.restating import (
    Restated,
    checked,
    identity,
    narrowed,
    one_behind_the_other,
    sources,
    with_body,
    wrapping_sum,
)
from tests.tensorize.preparing.kept import program

PAIR = "for (int i = 0; i < 4; i++) { B[i] = A[i] + 1; C[i] = B[i] * 2; }"
ARRAYS = "int A[4], int B[4], int C[4]"


def in_order(scop: Scop, order: str) -> Restated:
    """The program with another order of the same instances."""
    schedule = isl.Schedule.from_domain(scop.domain)
    for part in reversed(order.split("|")):
        schedule = schedule.insert_partial_schedule(isl.MultiUnionPwAff(part))
    return Restated(scop=replace(scop, schedule=schedule), back=identity(scop))


@pytest.mark.parametrize(("order", "same"), [
    ("[{ S0[i] -> [i]; S1[i] -> [i] }]|[{ S0[i] -> [0]; S1[i] -> [1] }]", True),
    ("[{ S0[i] -> [0]; S1[i] -> [1] }]|[{ S0[i] -> [i]; S1[i] -> [i] }]", True),
    ("[{ S0[i] -> [-i]; S1[i] -> [-i] }]|[{ S0[i] -> [0]; S1[i] -> [1] }]", True),
    ("[{ S0[i] -> [i]; S1[i] -> [i + 2] }]|[{ S0[i] -> [0]; S1[i] -> [1] }]", True),
    ("[{ S0[i] -> [1]; S1[i] -> [0] }]|[{ S0[i] -> [i]; S1[i] -> [i] }]", False),
    ("[{ S0[i] -> [i]; S1[i] -> [2] }]|[{ S0[i] -> [1]; S1[i] -> [0] }]", False)])
def test_an_order_is_believed_where_every_read_comes_behind_its_write(order: str, same: bool) -> None:
    scop = program(ARRAYS, PAIR)
    assert (checked(analyse(scop), in_order(scop, order)) is not None) is same


def test_the_last_writer_of_what_lives_on_stays_the_last() -> None:
    scop = program(ARRAYS, "for (int i = 0; i < 4; i++) A[0] = B[i];")
    assert checked(analyse(scop), in_order(scop, "[{ S0[i] -> [-i] }]")) is None
    dead = program(ARRAYS, "for (int i = 0; i < 4; i++) { int s = B[i]; C[i] = s; }")
    backwards = in_order(dead, "[{ S0[i] -> [-i]; S1[i] -> [-i] }]|[{ S0[i] -> [0]; S1[i] -> [1] }]")
    assert checked(analyse(dead), backwards) is not None, "a temporary may hold anything at the end"


def test_sources_are_the_writers_of_each_read() -> None:
    found = sources(analyse(program(ARRAYS, "for (int i = 1; i < 4; i++) A[i] = A[i - 1] + B[i];")))
    assert len(found) == 1
    (relation,) = found.values()
    assert relation.is_equal(isl.UnionMap("{ S0[i] -> S0[i + 1] : 1 <= i <= 2 }"))


@pytest.mark.parametrize(("old", "added", "wraps"), [
    (INT32, INT8, UINT32), (INT64, INT32, UINT64), (UINT32, INT64, UINT32), (FLOAT32, FLOAT32, FLOAT32)])
def test_sums_wrap_in_the_unsigned_type_of_their_width(old: DType, added: DType, wraps: DType) -> None:
    total = wrapping_sum(Load("s", old), Load("x", added))
    assert total.dtype == old
    inner = total.operand if isinstance(total, Cast) else total
    assert isinstance(inner, Binary)
    assert inner.dtype == inner.left.dtype == inner.right.dtype == wraps


def test_a_statement_keeps_the_accesses_of_its_body_and_of_their_subscripts() -> None:
    (statement,) = program(ARRAYS, "for (int i = 0; i < 4; i++) A[i] = C[B[i] & 3] + C[i];").statements
    by_array = {a.array: a.reference for a in statement.accesses}
    item = statement.body[0]
    assert isinstance(item, Assign)
    assert isinstance(item.value, Binary)
    gathered = with_body(statement, Assign(item.target, item.value.left, INT32))
    assert {a.array for a in gathered.accesses} == {"A", "B", "C"}
    assert len(gathered.accesses) == 3
    plain = with_body(statement, Assign(item.target, Load(by_array["A"], INT32), INT32))
    assert [a.array for a in plain.accesses] == ["A"]
    some = narrowed(statement, isl.Set("{ S0[i] : 1 <= i <= 2 }"))
    assert all(a.relation.domain().is_subset(some.domain) for a in some.accesses)


def test_instances_at_one_place_run_one_behind_the_other() -> None:
    scop = program(ARRAYS, PAIR)
    first, second = (s.domain for s in scop.statements)
    together = Band(members=(isl.UnionPwAff("{ S0[i] -> [(i)]; S1[i] -> [(i)] }"),), permutable=False,
                    coincident=(False,), child=Leaf())
    tree = replace(from_isl(scop.schedule), root=together)
    for parts, earlier in (([first, second], "{ S0[i] -> S1[i] }"), ([second, first], "{ S1[i] -> S0[i] }")):
        order = to_isl(replace(tree, root=one_behind_the_other(together, parts))).get_map()
        same = isl.UnionMap(earlier).intersect_domain(scop.domain).intersect_range(scop.domain)
        assert same.is_subset(order.lex_lt_union_map(order))
        assert isl.UnionMap("{ S0[0] -> S1[1]; S1[0] -> S0[1] }").is_subset(order.lex_lt_union_map(order))


def test_branches_without_the_last_part_stay() -> None:
    scop = program(ARRAYS, PAIR)
    tree = from_isl(scop.schedule)
    other = isl.Set("{ S9[i] : 0 <= i < 4 }")
    assert one_behind_the_other(tree.root, [other, other], active=scop.domain) is tree.root
