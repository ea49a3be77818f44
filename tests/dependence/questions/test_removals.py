"""What removes a dependence is said where it was tried, and not where it would not help."""

import pytest

from polysched.dependence import analyse
from polysched.dependence.questions import Wish, blocking
from polysched.scop import from_c_text


def removals(declarations: str, loops: str, loop: str, wish: Wish) -> list[set[str]]:
    """Per dependence that prevents the wish, the means that remove it."""
    scop = from_c_text(f"void f({declarations}) {{\n#pragma scop\n{loops}\n#pragma endscop\n}}")
    (found,) = blocking(analyse(scop), loop)
    return [{r.means for r in block.removals} for block in found.of(wish)]


@pytest.mark.parametrize(("loops", "wish", "expected"), [
    ("for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * t; }", Wish.PARALLEL, {"expansion"}),
    ("for (int i = 0; i < n; i++) s += a[i];", Wish.PARALLEL, {"reduction"}),
    ("for (int i = 0; i < n; i++) s += a[i];", Wish.LANES, {"reduction"}),
    ("for (int i = 0; i < n; i++) s = a[i] - s;", Wish.PARALLEL, set()),
    ("for (int i = 1; i < n; i++) a[i] = a[i-1] + b[i];", Wish.PARALLEL, set()),
])
def test_of_one_loop(loops: str, wish: Wish, expected: set[str]) -> None:
    found = removals("int n, double a[n], double b[n], double t, double s", loops, "i", wish)
    assert found
    assert all(means == expected for means in found)


@pytest.mark.parametrize(("body", "expected"), [
    ("A[i][j] = A[i-1][j+1];", {"reversal", "skewing"}),
    ("A[i][j] = A[i-1][j+1] + A[i][j-1];", {"skewing"}),          # j carries, so it cannot be reversed
    ("A[i][j] = A[i-1][j+3];", {"reversal", "skewing"}),
    ("A[i][j] = A[i-1][j+4] + A[i][j-1];", set()),                # beyond the skews that are tried
])
def test_of_an_interchange(body: str, expected: set[str]) -> None:
    loops = f"for (int i = 1; i < n; i++) for (int j = 1; j < n - 4; j++) {body}"
    found = removals("int n, double A[n][n]", loops, "i", Wish.INTERCHANGE)
    assert found == [expected]


def test_loops_of_one_name_on_one_line_are_changed_each() -> None:
    nests = " ".join(f"for (int i = 1; i < n; i++) for (int j = 1; j < n - 4; j++) {a}[i][j] = {a}[i-1][j+1];"
                     for a in "AB")
    scop = from_c_text(f"void f(int n, double A[n][n], double B[n][n]) {{\n#pragma scop\n{nests}\n#pragma endscop\n}}")
    means = [[{r.means for r in block.removals} for block in found.of(Wish.INTERCHANGE)]
             for found in blocking(analyse(scop), "j")]
    assert means == [[{"reversal", "skewing"}]] * 2


def test_integer_sums_need_no_leave() -> None:
    scop = from_c_text("""void f(int n, int a[n], int s) {
#pragma scop
  for (int i = 0; i < n; i++) s += a[i];
#pragma endscop
}""")
    (found,) = blocking(analyse(scop), "i")
    texts = {r.text for block in found.of(Wish.PARALLEL) for r in block.removals}
    assert texts == {"the updates give the same result in any order, with a partial result per thread or lane"}


def test_last_values_of_the_callers_array_are_copied_out() -> None:
    scop = from_c_text("""void f(int n, double A[n][n], double B[n][n], double w[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) w[j] = A[i][j];
    for (int k = 0; k < n; k++) B[i][k] = w[n - 1 - k];
  }
#pragma endscop
}""")
    (found,) = blocking(analyse(scop), "i")
    blocks = found.of(Wish.PARALLEL)
    assert blocks
    assert all(any("the last values are copied out" in r.text for r in block.removals) for block in blocks)
