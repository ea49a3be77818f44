"""Sets and functions over named symbols, against the numbers that Python computes."""

import itertools

import islpy as isl
import pytest

from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.dtypes import INT32, INT64
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Parameter

AT, N = polyhedra.symbol("i"), polyhedra.symbol("n")
BOX = polyhedra.between(AT, -2, 4).intersect(polyhedra.between(N, -1, 3))


def points(domain: isl.Set) -> set[tuple[int, int]]:
    """The values of i and n in a box for which a set holds."""
    found = set()
    for i, n in itertools.product(range(-4, 7), range(-3, 6)):
        at = polyhedra.between(AT, i, i).intersect(polyhedra.between(N, n, n))
        if not domain.intersect(at).is_empty():
            found.add((i, n))
    return found


def value(function: isl.PwAff, **at: int) -> int | None:
    for name, number in at.items():
        function = function.intersect_domain(polyhedra.between(polyhedra.symbol(name), number, number))
    if function.domain().is_empty():
        return None
    highest = int(function.max_val().to_python())
    assert highest == int(function.min_val().to_python())
    return highest


def test_constants_and_symbols() -> None:
    assert polyhedra.constant_value(polyhedra.constant(-7)) == -7
    assert polyhedra.constant_value(polyhedra.constant(1 << 70)) == 1 << 70
    assert polyhedra.constant_value(AT.sub(AT)) == 0
    assert polyhedra.constant_value(AT) is None
    assert polyhedra.constant_value(polyhedra.select(AT.ge_set(N), N, AT)) is None
    half = polyhedra.constant(1).scale_down_val(isl.Val(2))
    assert polyhedra.constant_value(half) is None


def test_both_ends_of_a_range_belong_to_it() -> None:
    assert {i for i, _ in points(BOX)} == {-2, -1, 0, 1, 2, 3, 4}
    assert {n for _, n in points(BOX)} == {-1, 0, 1, 2, 3}
    assert polyhedra.between(AT, 3, 2).is_empty()


def test_choices_are_those_of_c() -> None:
    condition = AT.lt_set(N)
    chosen, flag = polyhedra.select(condition, AT.add(N), N.neg()), polyhedra.indicator(condition)
    for i, n in itertools.product(range(-2, 3), repeat=2):
        assert value(chosen, i=i, n=n) == (i + n if i < n else -n)
        assert value(flag, i=i, n=n) == int(i < n)


def test_the_shadow_of_a_set_is_where_some_value_is_in_it() -> None:
    domain = BOX.intersect(AT.ge_set(N)).intersect(AT.le_set(N.add(polyhedra.constant(1))))
    shadow = polyhedra.project_out(domain, ["i", "nothing"])
    assert points(shadow) == {(i, n) for i in range(-4, 7) for n in {n for _, n in points(domain)}}
    assert polyhedra.position(shadow, "i") == -1


@pytest.mark.parametrize("forward", [True, False])
def test_what_comes_later(forward: bool) -> None:
    domain = BOX.intersect(AT.add(N).mod_val(isl.Val(3)).eq_set(polyhedra.constant(0)))
    inside = points(domain)
    expected = {(i, n) for i in range(-4, 7) for n in range(-3, 6)
                if any((i > other if forward else i < other) for other, m in inside if m == n)}
    assert points(polyhedra.later_than(domain, "i", forward=forward)) == expected
    assert points(polyhedra.later_than(polyhedra.between(N, 0, 2), "i", forward=forward)) == {
        (i, n) for i in range(-4, 7) for n in range(3)}, "of every value there is an earlier one"


@pytest.mark.parametrize("forward", [True, False])
def test_the_last_value_of_a_counter(forward: bool) -> None:
    domain = BOX.intersect(AT.ge_set(N)).intersect(AT.sub(N).mod_val(isl.Val(2)).eq_set(polyhedra.constant(0)))
    last, inside = polyhedra.last_value(domain, "i", forward=forward), points(domain)
    for n in range(-3, 6):
        values = [i for i, m in inside if m == n]
        assert value(last, n=n) == ((max if forward else min)(values) if values else None)


def test_counters_move_into_the_tuple_in_their_order() -> None:
    domain = BOX.intersect(AT.le_set(N))
    made = polyhedra.to_set(domain, [("j", "outer"), ("i", "row")], "S")
    assert made.is_equal(isl.Set("[n] -> { S[outer, row] : -2 <= row <= 4 and -1 <= n <= 3 and row <= n }"))
    assert [made.get_dim_name(isl.dim_type.set, k) for k in range(2)] == ["outer", "row"]
    access = polyhedra.relation(domain, [AT.add(N), None], [None, N])
    found = polyhedra.to_map(access, [("i", "i")], "S", "A")
    assert found.is_equal(isl.Map(
        "[n] -> { S[i] -> A[i + n, x] : -2 <= i <= 4 and -1 <= n <= 3 and i <= n and 0 <= x < n }"))


def test_a_subscript_that_is_not_known_reaches_all_of_its_extent() -> None:
    unbounded = polyhedra.to_map(polyhedra.relation(BOX, [None], [None]), [("i", "i")], "S", "A")
    assert fix_parameters(unbounded, {"n": 0}).range().is_equal(isl.Set("{ A[x] }"))
    fixed = polyhedra.to_map(polyhedra.relation(BOX, [None], [polyhedra.constant(3)]), [("i", "i")], "S", "A")
    assert fix_parameters(fixed, {"n": 0}).range().is_equal(isl.Set("{ A[x] : 0 <= x < 3 }"))


def test_parameters_are_written_in_types_that_hold_their_sums() -> None:
    assert polyhedra.widened(Parameter("n", INT32)) == "(long)n"
    assert polyhedra.widened(Parameter("n", INT64)) == "(__int128)n"
    text = polyhedra.c_condition(AT.lt_set(N), {"i": "(long)i", "n": "(long)n"})
    for i, n in itertools.product(range(-2, 3), repeat=2):
        assert bool(eval(text.replace("(long)", ""), {"i": i, "n": n})) == (i < n)
