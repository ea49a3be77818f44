"""A context stays one convex piece, says what it left out, and keeps the usual sizes."""

import islpy as isl

from polysched.scop.construction.size_context import SizeContext
from polysched.scop.points import with_sizes


def context(text: str = "[n, m] -> { : n >= 0 and m >= 0 }", **hint: int) -> SizeContext:
    found = SizeContext(isl.Set(text), hint)
    found.names = ["n", "m"]
    return found


def test_what_is_known_already_is_no_assumption() -> None:
    sizes = context()
    sizes.assume(isl.Set("[n] -> { : n >= -5 }"), kind="parameter-range", text="n is not below -5")
    assert sizes.assumptions == []
    sizes.assume(isl.Set("[n] -> { : n >= 2 }"), kind="parameter-range", text="n is at least 2")
    (assumption,) = sizes.assumptions
    assert (assumption.kind, assumption.text, assumption.condition) == ("parameter-range", "n is at least 2", "n >= 2")
    assert sizes.context.is_equal(isl.Set("[n, m] -> { : n >= 2 and m >= 0 }"))


def test_values_that_are_gone_already_need_nothing() -> None:
    sizes = context()
    assert sizes.exclude(isl.Set("[n] -> { : n < 0 }"), [], kind="in-bounds", text="n")
    assert sizes.assumptions == []


def test_nothing_left_is_said() -> None:
    sizes = context()
    assert not sizes.exclude(isl.Set("[n] -> { : n >= 0 }"), [], kind="in-bounds", text="n")
    assert sizes.context.is_equal(isl.Set("[n, m] -> { : n >= 0 and m >= 0 }")), "the context is as it was"


def test_of_two_pieces_the_one_with_large_equal_sizes_stays() -> None:
    violated = isl.Set("[n, m] -> { : 3 <= n < 10 }")
    sizes = context()
    assert sizes.exclude(violated, [], kind="in-bounds", text="n is not between 3 and 9")
    assert sizes.context.is_equal(isl.Set("[n, m] -> { : n >= 10 and m >= 0 }"))
    assert not with_sizes(sizes.valid, {"n": 1, "m": 1}).is_empty(), "what is defined is not what was chosen"


def test_a_hint_decides_which_piece_stays() -> None:
    sizes = context(n=2)
    assert sizes.exclude(isl.Set("[n, m] -> { : 3 <= n < 10 }"), [], kind="in-bounds", text="n")
    assert sizes.context.is_equal(isl.Set("[n, m] -> { : 0 <= n <= 2 and m >= 0 }"))


def test_a_wider_way_is_taken_where_it_is_simpler_and_keeps_the_usual_sizes() -> None:
    # m > n is out where the loop over n runs: n = 0 would be a second piece
    violated, wider = isl.Set("[n, m] -> { : m > n and n >= 1 }"), isl.Set("[n, m] -> { : m > n }")
    sizes = context()
    assert sizes.exclude(violated, [(wider, isl.Set("[n, m] -> { : n >= 1 }"))], kind="in-bounds", text="m <= n")
    assert sizes.context.n_basic_set() == 1
    assert sizes.context.intersect(violated).is_empty()
    assert not with_sizes(sizes.context, {"n": 1000, "m": 1000}).is_empty()
