"""Sizes compare by value and stay affine."""

import fractions
import math

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.values.sizes import Size, product

N, M = Size.symbol("N"), Size.symbol("M")


def test_equal_functions_are_equal_values() -> None:
    assert (2 * N + 4) // 2 == N + 2
    assert N + M - N == M
    assert (4 * N + 2) // 4 == N
    assert (6 * N + 3) // 4 == ((6 * N + 3) // 4)
    assert (4 * N + 2 * M) // 4 == N + M // 2
    assert hash(N - N + 3) == hash(3)
    assert N - N + 3 == 3
    assert N % 1 == 0
    assert (3 * N) % 3 == 0


@pytest.mark.parametrize("value", [0, 1, 5, 6])
def test_a_bound_size_is_the_number(value: int) -> None:
    size = (3 * N + 5) // 4 - N % 3 + 2 * M
    assert size.bound({"N": value, "M": 7}) == (3 * value + 5) // 4 - value % 3 + 14
    assert N.divided_up(4).bound({"N": value}) == -(-value // 4)


@pytest.mark.parametrize("size", [N, N - 1, 3 * N + M, 6 - 2 * N, -N, 4 * N - 8, (N - 1) // 2 + 1, Size(-5), N - N - 7])
@pytest.mark.parametrize("divisor", [-3, -2, -1, 1, 2, 3])
def test_a_truncated_quotient_is_that_of_c(size: Size, divisor: int) -> None:
    quotient = size.truncated(divisor)
    for n in range(1, 12):
        values = {"N": n, "M": 2}
        wanted = math.trunc(fractions.Fraction(int(size.bound(values)), divisor))
        if quotient is not None:
            assert quotient.bound(values) == wanted
    assert quotient is not None or (size in (6 - 2 * N, 4 * N - 8) and abs(divisor) == 3)


def test_no_size_is_a_quotient_whose_sign_is_open() -> None:
    assert (N - 5).truncated(2) is (5 - N).truncated(-2) is N.truncated(M) is N.truncated(0) is None
    assert ((N - 5) // 2).truncated(2) is (N - M).truncated(3) is None


def test_the_least_of_a_size() -> None:
    assert [s.least() for s in (Size(3), 2 * N + M, (N - 4) // 2 + N, 3 - N, M - N // 2)] == [3, 3, -1, None, None]


def test_products_of_symbols_are_refused() -> None:
    assert product((N, Size(3), Size(2))) == 6 * N
    with pytest.raises(UnsupportedGraphError, match="not affine"):
        product((N, M))
    with pytest.raises(UnsupportedGraphError, match="the size N is not known"):
        int(N)
    with pytest.raises(UnsupportedGraphError, match="divided by 0"):
        N // 0
