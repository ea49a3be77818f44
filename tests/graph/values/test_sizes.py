"""Sizes compare by value and stay affine."""

import fractions
import math

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.values.sizes import Size, product

N, M, K = Size.symbol("N"), Size.symbol("M"), Size.symbol("K")


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


def test_products_of_open_sizes_compare_by_value() -> None:
    assert product((N, Size(3), Size(2))) == 6 * N
    assert product((2 * N, M, 3 * K)) == (K * N) * (6 * M)
    assert (2 * N + 2) * M == 2 * (M * (N + 1))
    assert (N - 5) * (5 - M) == (5 - N) * (M - 5)
    assert N * M - M * N + 2 == 2
    assert (4 * N * M + 2) // 4 == N * M
    assert N * M != N * K
    assert str(3 * N * (M + 1) * (K // 2) - M * N) == "3*((K)//2)*(M + 1)*N - M*N"
    assert ((N + 1) * (M * K)).products == (((N + 1) * M * K).terms[0][0],)
    assert (((N * M + 1) * K) // 4 + N).parameters == {(N * M + 1) * K, N}
    assert [str(p) for p in ((N * M + 1) * K).products] == ["M*N", "K*(M*N + 1)"]
    assert ((N * M + 1) * K - N).symbols == {"N", "M", "K"}


@pytest.mark.parametrize("values", [{"N": 1, "M": 2, "K": 3}, {"N": 7, "M": 4, "K": 1}])
def test_a_product_that_is_bound_is_the_number(values: dict[str, int]) -> None:
    n, m, k = values.values()
    size = 3 * (N * M + 1) * (K - 4) - (N * M * 5) // 3 + N * N * N
    assert size.bound(values) == 3 * (n * m + 1) * (k - 4) - n * m * 5 // 3 + n ** 3
    assert size.bound({"N": n}).bound(values) == size.bound(values)
    own = {p: Size.symbol(f"n{k}") for k, p in enumerate(sorted(size.parameters, key=str))}
    told = {f"n{k}": int(p.bound(values)) for k, p in enumerate(own)}
    assert size.in_parameters(own).bound(told) == size.bound(values)


def test_a_quotient_of_open_sizes_is_found_by_their_factors() -> None:
    assert (6 * N * M).over(2 * M) == 3 * N
    assert (N * M * M + 4 * M).over(M) == N * M + 4
    assert ((N + 1) * M).over(N + 1) == M
    assert [(N * M).over(s) for s in (K, 2 * M, N + M)] == [None] * 3
    assert (N * M + 1).over(M) is None
    assert (6 * N * M).truncated(3 * N) == 2 * M
    assert ((N - 5) * M).truncated(N - 5) is None   # 0 at 5


def test_the_least_and_the_largest_of_a_product() -> None:
    assert [s.least() for s in (2 * N * (M + 2), N * (M - 1), N * (M - 2), -N * M)] == [6, 0, None, None]
    assert (3 * N * M + 1).magnitude(100) == 301


def test_what_is_no_number_and_what_has_too_many_factors_is_refused() -> None:
    eight = product((N, M, K, N, M, K, N, M))
    assert eight.times(K) is None
    with pytest.raises(UnsupportedGraphError, match="too many open factors"):
        eight * K
    with pytest.raises(UnsupportedGraphError, match="the size N is not known"):
        int(N)
    with pytest.raises(UnsupportedGraphError, match="divided by 0"):
        N // 0
