"""Loops that stand as one statement are noted, whatever holds them."""

import pytest

from polysched.scop import from_c_text


@pytest.mark.parametrize(("body", "note"), [
    ("while (a[0] < n) a[0] = 2 * a[0] + 1;", "in.c:3: the loop `while (a[0] < n)` is kept whole: it does not count"),
    ("do a[0] = 2 * a[0] + 1; while (a[0] < n);", "in.c:3: the loop `do ... while (a[0] < n)` is kept whole: "),
    ("for (int i = 0; i < n; i++)\nif (a[i]) while (a[i] > 1) a[i] /= 2;",
     "in.c:4: the loop `while (a[i] > 1)` is kept whole: it stands under a condition on data"),
])
def test_a_loop_on_data_is_noted(body: str, note: str) -> None:
    scop = from_c_text(f"void f(int n, int *a) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n", path="in.c")
    assert len(scop.notes) == 1
    assert scop.notes[0].startswith(note)


def test_a_condition_on_data_without_a_loop_is_not_noted() -> None:
    scop = from_c_text("void f(int n, int *a) {\n#pragma scop\nfor (int i = 0; i < n; i++) if (a[i]) a[i] = 1;\n"
                       "#pragma endscop\n}\n")
    assert scop.notes == ()
