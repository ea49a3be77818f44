"""What is live, from the dependences."""

import islpy as isl
import pytest

from polysched.gpu.transfers import row_range
from tests.gpu.mapped import PRODUCT, SCALE, mapped


def live(text: str, name: str) -> tuple[isl.Set, isl.Set]:
    own = next(a for a in mapped(text).arrays if a.array.name == name)
    return own.copied_in, own.copied_out


def test_what_is_overwritten_whole_is_not_copied_in() -> None:
    copied_in, copied_out = live(SCALE, "A")
    assert copied_in.is_empty()
    assert not copied_out.is_empty()


def test_what_is_only_read_does_not_come_back() -> None:
    copied_in, copied_out = live(PRODUCT, "A")
    assert not copied_in.is_empty()
    assert copied_out.is_empty()


@pytest.mark.parametrize(("lower", "expected"), [("0", False), ("1", True)])
def test_what_is_left_alone_of_rows_that_come_back_is_copied_in(lower: str, expected: bool) -> None:
    text = (f"void f(int n, double A[n][n]) {{\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
            f"    for (int j = {lower}; j < n; j++)\n      A[i][j] = i;\n#pragma endscop\n}}\n")
    copied_in, _ = live(text, "A")
    assert (not copied_in.is_empty()) is expected
    assert next(a for a in mapped(text).arrays if a.array.name == "A").partly_written is expected
    if expected:
        assert copied_in.is_equal(isl.Set("[n] -> { A[i, 0] : 0 <= i < n and 2 <= n <= 2147483647 }"))


def test_a_temporary_is_on_the_device_only() -> None:
    text = ("void f(int n, double A[n]) {\n#pragma scop\n  double t[100];\n"
            "  for (int i = 0; i < 100; i++) t[i] = A[i];\n  for (int i = 0; i < 100; i++) A[i] = t[99 - i];\n"
            "#pragma endscop\n}\n")
    copied_in, copied_out = live(text, "t")
    assert copied_in.is_empty()
    assert copied_out.is_empty()


def test_what_is_written_on_a_condition_is_copied_in() -> None:
    text = ("void f(int n, double A[n], double B[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
            "    if (B[i] > 0) A[i] = 1;\n#pragma endscop\n}\n")
    copied_in, copied_out = live(text, "A")
    assert copied_in.is_equal(copied_out)


def test_gaps_between_rows_that_come_back_are_copied_in() -> None:
    text = ("void f(int n, double A[2 * n], double B[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
            "    A[2 * i] = B[i];\n#pragma endscop\n}\n")
    copied_in, copied_out = live(text, "A")
    assert row_range(copied_out).is_equal(row_range(copied_in.union(copied_out)))
    at = copied_in.intersect_params(isl.Set("[n] -> { : n = 3 }"))
    assert at.is_equal(isl.Set("[n] -> { A[1]; A[3] : n = 3 }").intersect_params(isl.Set("[n] -> { : n = 3 }")))


def test_the_range_of_rows() -> None:
    rows = isl.Set("[n] -> { A[i, j] : i mod 2 = 0 and 0 <= i <= 2n and j = n }")
    assert row_range(rows).is_equal(isl.Set("[n] -> { [x] : 0 <= x <= 2n }"))
