"""What is known at a place of a tree: exact answers about single loops and whole subtrees."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import Band, Leaf, Mark, Sequence, from_isl
from polysched.scop.budget import with_budget
from polysched.tiling.tree import position
from polysched.tiling.tree.position import (
    Position,
    branch,
    has_one_value,
    have_equal_values,
    inside,
    is_independent,
    is_legal,
    meets_in_pivot,
    number_of_values,
    runs_backwards,
    top,
)
from tests.scheduling.primitives.programs import product, split_two_loops, stencil, two_loops


def function(text: str) -> isl.UnionPwAff:
    return isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, text)


def above(schedule: Schedule) -> Position:
    return top(schedule.dependences, schedule.scop.domain)


def product_loop(value: str) -> isl.UnionPwAff:
    return function(f"{{ S0[i, j, k] -> [{value}] }}")


def stencil_loop(value: str) -> isl.UnionPwAff:
    return function(f"{{ S0[t, i] -> [{value}] }}")


@pytest.mark.parametrize(("value", "independent", "backwards"), [
    ("i", True, False), ("j", True, False), ("k", False, False), ("-k", False, True), ("floor(k/8)", False, False),
    ("i + k", False, False)])
def test_loops_of_a_product(value: str, independent: bool, backwards: bool) -> None:
    assert is_independent(above(product()), product_loop(value)) is independent
    assert runs_backwards(above(product()), product_loop(value)) is backwards


def test_a_loop_outside_orders_what_it_carries() -> None:
    at_top = above(stencil())
    assert not is_independent(at_top, stencil_loop("t"))
    below = inside(at_top, stencil_loop("t"))
    assert len(below.path) == 1
    assert not is_independent(below, stencil_loop("i")), "A[i] = A[i - 1]"
    assert is_legal(inside(below, stencil_loop("i")), Leaf())
    assert inside(at_top, stencil_loop("t"), on_path=False).path == ()


def test_what_a_loop_leaves_is_computed_once_and_never_kept_when_the_budget_is_spent(
        monkeypatch: pytest.MonkeyPatch) -> None:
    at_top, loop = above(stencil()), stencil_loop("t")
    assert with_budget(1, lambda: inside(at_top, loop)) is None
    below, asked = inside(at_top, loop), []
    again = at_top.dependences.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(loop))
    assert below.dependences.is_equal(again)
    monkeypatch.setattr(position, "_everywhere", asked.append)
    assert not is_independent(at_top, loop)
    assert inside(at_top, loop).dependences.is_equal(again)
    assert asked == []
    with pytest.raises(TypeError):
        inside(below, loop)   # another position asks anew
    assert len(asked) == 1


@pytest.mark.parametrize(("outer", "inner", "legal"), [
    ("t", "i", True), ("t", "t + i", True), ("t + i", "t", True), ("i", "t", False), ("t", "-i", False)])
def test_whole_subtrees(outer: str, inner: str, legal: bool) -> None:
    tree = Band(members=(stencil_loop(outer), stencil_loop(inner)), coincident=(False, False), permutable=False,
                child=Mark(name="m", child=Leaf()))
    assert is_legal(above(stencil()), tree) is legal


def test_sequences_run_in_their_order_and_sets_in_any() -> None:
    position = above(two_loops())
    root = from_isl(split_two_loops().tree).root
    assert isinstance(root, Sequence)
    assert is_legal(position, root)
    assert not is_legal(position, Sequence(branches=root.branches[::-1]))
    assert not is_legal(position, Sequence(branches=root.branches, ordered=False))


def test_a_branch_has_the_dependences_among_its_own() -> None:
    keep = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ S0[i] }")
    made = branch(above(two_loops()), keep)
    assert made.dependences.is_empty()
    assert made.domain.is_subset(keep)


def test_pairs_in_one_iteration() -> None:
    pairs = above(product()).dependences
    assert have_equal_values(pairs, product_loop("i"))
    assert not have_equal_values(pairs, product_loop("k"))


def test_a_pivot() -> None:
    pairs = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ S0[k, i] -> S0[k, i'] : i = k and i' > k }")
    domain = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ S0[k, i] : 0 <= k, i < 9 }")
    outer, inner = function("{ S0[k, i] -> [k] }"), function("{ S0[k, i] -> [i] }")
    assert meets_in_pivot(Position(domain=domain, dependences=pairs), (outer, inner))
    further = pairs.union(isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ S0[k, i] -> S0[k, i + 1] : i > k }"))
    assert not meets_in_pivot(Position(domain=domain, dependences=further), (outer, inner))
    nothing = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
    assert not meets_in_pivot(Position(domain=domain, dependences=nothing), (outer, inner))


@pytest.mark.parametrize(("value", "one"), [("0", True), ("i", False), ("i - i", True), ("floor(k/8)", False)])
def test_a_loop_of_one_iteration(value: str, one: bool) -> None:
    assert has_one_value(above(product()), product_loop(value)) is one


@pytest.mark.parametrize(("domain", "value", "number"), [
    ("{ S[i, j] : 2 <= i < 7 and 0 <= j < i }", "i", 5), ("{ S[i, j] : 2 <= i < 7 and 0 <= j < i }", "floor(j/2)", 3),
    ("[N] -> { S[i, j] : 0 <= i < N and 0 <= j < 4 }", "i", None), ("{ S[i, j] : false }", "i", 0),
    ("[N] -> { S[i, j] : 0 <= i < N and 0 <= j < 4 }", "j", 4)])
def test_the_number_of_iterations_of_a_loop(domain: str, value: str, number: int | None) -> None:
    position = Position(domain=isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, domain),
                        dependences=isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ }"))
    assert number_of_values(position, function(f"{{ S[i, j] -> [{value}] }}")) == number
