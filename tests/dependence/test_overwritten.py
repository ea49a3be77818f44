"""Which arrays a program overwrites whole before it reads them."""

import pytest

from polysched.dependence.overwritten import overwritten_arrays
from polysched.scop import from_c_text


def overwritten(body: str, arguments: str = "int n, double a[restrict n], double b[restrict n]") -> tuple[str, ...]:
    return overwritten_arrays(from_c_text(
        f"void f({arguments}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}"))


@pytest.mark.parametrize(("body", "arrays"), [
    ("for (int i = 0; i < n; i++) a[i] = b[i];", ("a",)),
    ("for (int i = 0; i < n; i++) a[i] += b[i];", ()),
    ("for (int i = 1; i < n; i++) a[i] = b[i];", ()),
    ("for (int i = n - 1; i >= 0; i--) a[i] = b[n - 1 - i];", ("a",)),
    ("for (int i = 0; i < n; i++) { b[i] = 1; a[i] = b[i]; }", ("b", "a")),
    ("for (int i = 0; i < n; i++) { a[i] = b[i]; b[i] = 1; }", ("a",)),
    ("for (int i = 0; i < n; i++) if (b[i] > 0) a[i] = 1;", ()),
    ("for (int i = 0; i < n; i += 2) a[i] = 1; for (int i = 1; i < n; i += 2) a[i] = 2;", ("a",)),
    ("for (int i = 0; i < n; i += 2) a[i] = 1; for (int i = 3; i < n; i += 2) a[i] = 2;", ())])
def test_every_element_for_certain_and_before_it_is_read(body: str, arrays: tuple[str, ...]) -> None:
    assert overwritten(body) == arrays


def test_an_array_of_unknown_extent_is_not_among_them() -> None:
    pointers = "int n, double *restrict a, double *restrict b"
    assert overwritten("for (int i = 0; i < n; i++) a[i] = b[i];", pointers) == ()


def test_arrays_of_the_region_alone_do_not_count() -> None:
    body = "double t[8]; for (int i = 0; i < 8; i++) t[i] = b[i]; for (int i = 0; i < n; i++) a[i] = t[i % 8];"
    assert "t" not in overwritten(body)
