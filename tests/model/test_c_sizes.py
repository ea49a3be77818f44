"""Sizes as C."""

from polysched.graph.values.sizes import Size
from polysched.model.c_sizes import c_is_size, c_product, c_size, is_never_negative

N, NAMES = Size.symbol("batch size"), {"batch size": "s0"}


def test_sums_and_quotients() -> None:
    assert c_size(Size(7), NAMES) == "7"
    assert c_size(2 * N + 1, NAMES) == "2 * s0 + 1"
    assert c_size((N + 1) // 2, NAMES) == "polysched_floor(s0 + 1, 2)"


def test_products_gather_what_is_known() -> None:
    assert c_product((Size(3), N, Size(2)), NAMES) == "6 * s0"
    assert c_product((N + 1, N), NAMES) == "(long)((unsigned long)(s0 + 1) * s0)"   # N * N may be too long beside 0
    assert c_product((N, Size(0)), NAMES) == "0"
    assert c_product((), NAMES) == "1"


def test_products_have_no_sign_between() -> None:
    size = 3 * N * (N + 1) - 4
    assert c_size(size, NAMES) == "3 * (long)((unsigned long)(s0) * (unsigned long)(s0 + 1)) + -4"
    wide = "(unsigned __int128)((__int128)s0) * (unsigned __int128)((__int128)s0 + 1)"
    assert c_size(size, NAMES, wide=True) == f"3 * (__int128)({wide}) + -4"
    text = "(double)((__int128)s0) * (double)((__int128)s0 + 1)"
    assert c_is_size(size.products[0], 9, NAMES) == f"{text} >= 0 && {text} <= 9.0"


def test_extents_that_are_negative_at_no_size() -> None:
    assert all(is_never_negative(s) for s in (Size(0), N, N - 1, 2 * N - 2, N * 3 + 1, (N - 1) // 2))
    assert not any(is_never_negative(s) for s in (N - 2, 5 - N, (N - 3) // 2))
