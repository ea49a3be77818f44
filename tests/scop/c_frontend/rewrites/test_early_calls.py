"""Calls of the file's functions inside expressions: ahead of their statement where no order is decided by that."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.c_frontend.rewrites import inline
from tests.scop.c_frontend.same_output import same_output

HELPERS = """
static double dot(int n, const double *a, const double *b) {
  double s = 0; int k;
  for (k = 0; k < n; k++) s += a[k] * b[k];
  return s;
}
static int count(int n, const double *a) { int c = 0; while (n-- > 0) if (a[n] > 0) c++; return c; }
static double around(int n, const double *a) { double t[3]; t[n % 3] = a[n]; t[1] = 2; t[0] = 1;
  for (int i = 0; i < 2; i++) t[i] += t[i + 1 - i]; return t[0] + dot(n, a, a); }
static int total;
static double counted(double v) { total++; for (int i = 0; i < 3; i++) v *= 2; return v; }
static double pushed(double *p) { for (int i = 0; i < 2; i++) p[i] += 1; return p[0]; }
static double kept(double v) { static double last; double old = last; for (int i = 0; i < 2; i++) v += i; last = v;
  return old; }
static double square(double v) { double s = 0; for (int i = 0; i < 3; i++) s += v * i; return s * v; }
static double squares(int n, const double *a) { double s = 0;
  for (int i = 0; i < n; i++) s += square(a[i]) / 2 + square(2); return 1 - square(s); }
static double first(int n, const double *a) { for (int i = 0; i < n; i++) if (a[i] > 3) return a[i]; return 0; }
"""
HEAD = "void f(int n, int m, const double *restrict x, double *restrict y)"
MAIN = """  static const int sizes[] = {0, 1, 2, 7, 9, 31};
  for (int t = 0; t < 6; t++) for (int u = 0; u < 4; u++) {
    double x[2000], y[2000]; filled(x, 2000); filled(y, 2000);
    f(sizes[t], sizes[u], x, y); shown("y", y, 100); }"""

CALLS = {
    "in expressions": """
      for (int i = 0; i < n; i++) y[i] += 1 + dot(m, x, x + i) / (2 + dot(i, x, x));
      for (int i = 0; i < n; i++) { double t = 3 * dot(m, x + i, x); y[i] -= t; }
      for (int i = 0; i < n; i++) y[i] = fabs(-dot(m, x, x + i)) + (dot(1, x, x) > 0 ? x[i] : -x[i]);""",
    "in conditions": """
      for (int i = 0; i < n; i++) if (dot(m, x + i, x) > 40) y[i] = 1; else if (count(m, x) > i) y[i] = 2;
      for (int i = 0; i < n; i++) if (dot(m, x + i, x) > 40 && x[i] > 0)
        y[i] = -dot(i, x, x);""",
    "in functions whose calls stand in expressions": """
      for (int i = 0; i < n; i++) y[i] = 1 + squares(m, x + i);""",
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_compute_the_same(name: str, tmp_path: Path) -> None:
    same_output(tmp_path, f"#include <math.h>\n{HELPERS}{HEAD} {{\n#pragma scop\n{CALLS[name]}\n#pragma endscop\n}}\n",
                MAIN)


@pytest.mark.parametrize(("body", "function"), [
    ("y[i] = counted(x[i]) + 1;", "counted"),                        # changes a variable of the file
    ("y[i] = y[i + 1] + pushed(y + i);", "pushed"),                   # changes what the caller reads
    ("y[i] = kept(x[i]) - 1;", "kept"),                              # has a value from call to call
    ("y[i] = x[i] > 0 ? dot(m, x, x) : 1;", "dot"),                   # C may not evaluate it
    ("if (x[i] > 0 && dot(m, x, x) > 1) y[i] = 1;", "dot"),
    ("if (x[i] > 0 || dot(m, x, x) > 1) y[i] = 1;", "dot")])
def test_what_order_or_chance_decides_stays(body: str, function: str) -> None:
    text = f"{HELPERS}{HEAD} {{\n#pragma scop\nfor (int i = 0; i < n; i++) {body}\n#pragma endscop\n}}\n"
    with pytest.raises(UnsupportedScopError, match=f"`{function}` may have side effects"):
        from_c_text(text)


def test_arguments_with_calls_and_declared_names(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) { int value_in1 = i; y[value_in1] = 1 + dot(count(m, x) % 5, x + i, x); }"
    same_output(tmp_path, f"{HELPERS}{HEAD} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n", MAIN)


def test_heads_of_loops_keep_their_calls() -> None:
    text = f"{HELPERS}{HEAD} {{\n#pragma scop\nfor (int i = 0; i < count(m, x); i++) y[i] = 0;\n#pragma endscop\n}}\n"
    with pytest.raises(UnsupportedScopError):
        from_c_text(text)


def chain(levels: int, body: str) -> str:
    """Functions that each call the one before twice."""
    made = "static double h0(double v) { double s = 0; for (int i = 0; i < 3; i++) s += v * i; return s; }\n"
    for level in range(1, levels + 1):
        made += f"static double h{level}(double v) {{ double s = 0; {body.replace('CALL', f'h{level - 1}')} }}\n"
    loop = f"for (int i = 0; i < n; i++) y[i] = 1 + h{levels}(x[i]);"
    return f"{made}{HEAD} {{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("body", [
    "for (int i = 0; i < 2; i++) s += CALL(v + i) + 1; return s + CALL(v);",
    "double a = CALL(v + s); double b = CALL(v); return a + b;",
    "return CALL(v) + CALL(v + 1);"])
def test_what_grows_without_end_stays_a_call(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inline, "MOST_NODES_IN_ALL", 300)   # so that a refusal takes no seconds
    with pytest.raises(UnsupportedScopError, match=r"`h\d+` may have side effects"):
        from_c_text(chain(40, body))
