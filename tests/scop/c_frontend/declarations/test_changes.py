"""Which names stand at a region for something else than at the entry of its function."""

import pytest

from polysched.scop import from_c_text

TEXT = """
int size;
struct box { int n; } box;
void use(int *);
void f(int n, int m, double *A) {
  %s
#pragma scop
  for (int i = 0; i < n; i++) A[i] = m;
#pragma endscop
  %s
}
"""


@pytest.mark.parametrize(("before", "after", "changed"), [
    ("", "", set()), ("", "n = 0; use(&m);", set()), ("n /= 2;", "", {"n"}), ("n++; { A++;", "}", {"n", "A"}),
    ("use(&m); use((int *)&A[1]);", "", {"m"}), ("box.n = 1; use(&box.n);", "", {"box"}), ("size = 1;", "", {"size"}),
    ("if (m) { n = 2; } else {", "n++; }", {"n"}), ("for (int t = 0; t < 2; t++) {", "n /= 2; }", {"n", "t"}),
    ("top: ;", "n--; if (n) goto top;", {"n"}), ("{ int n = 3;", "}", {"n"}), ("{ int n = 3; }", "", set())])
def test_names_that_change(before: str, after: str, changed: set[str]) -> None:
    source = from_c_text(TEXT % (before, after)).source
    assert source is not None
    assert source.changed - {"i"} == changed
