"""Instances at given values of functions."""

import islpy as isl

from polysched.gpu.instances import fixed, image_of, within

DOMAIN = isl.UnionSet("[n] -> { S[i, j] : 0 <= i < n and 0 <= j < i; T[i] : 0 <= i < n }")
MEMBER = isl.UnionPwAff("{ S[i, j] -> [(i + 2j)]; T[i] -> [(-i)] }")


def test_a_function_equals_a_parameter() -> None:
    expected = isl.UnionSet("[n, x] -> { S[i, j] : 0 <= i < n and 0 <= j < i and i + 2j = x; "
                            "T[i] : 0 <= i < n and -i = x }")
    assert fixed(DOMAIN, {"x": MEMBER}).is_equal(expected)


def test_a_function_has_one_of_some_values() -> None:
    expected = isl.UnionSet("[n, x] -> { S[i, j] : 0 <= i < n and 0 <= j < i and x <= i + 2j < x + 4; "
                            "T[i] : 0 <= i < n and x <= -i < x + 4 }")
    assert within(DOMAIN, MEMBER, "x", 4).is_equal(expected)


def test_what_the_function_does_not_have_is_left_out() -> None:
    assert within(DOMAIN, isl.UnionPwAff("{ T[i] -> [(i)] }"), "x", 2).is_equal(
        isl.UnionSet("[n, x] -> { T[i] : 0 <= i < n and x <= i < x + 2 }"))


def test_values_of_a_function() -> None:
    values = image_of(isl.UnionSet("[n] -> { T[i] : 0 <= i < n }"), MEMBER)
    assert values.is_equal(isl.Set("[n] -> { [x] : -n < x <= 0 }"))
