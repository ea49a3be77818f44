"""Extracted C computes what the compiled C computes: one small program per construct."""

import pytest

from polysched.scop import from_c_text
from tests.scop.c_frontend import programs_of_control, programs_of_data

PROGRAMS = programs_of_control.PROGRAMS | programs_of_data.PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [7, 8])
def test_same_as_compiled(agree, name, n):
    values = {"n": n, "m": 5, "alpha": 1.5, "floor": n, "mod": 5, "exists": 1, "x": None, "y": None, "A": None}
    if name == "pointers and pointer arithmetic":
        values |= {"x": (n,), "y": (n,), "A": (n, n)}
    if name == "integers that name a place":
        values |= {"wide": 10, "x": (n * 5,), "y": (2 * n * 5,)}
    if name in ("linearised subscripts", "rows through a cast"):
        values |= {"A": (n * 5,), "B": (n * 5,)}
    if name == "rows longer than a parameter":
        values |= {"A": (5 * 7,), "B": (6 * (n + 7),)}
    agree(PROGRAMS[name], **values)


@pytest.mark.parametrize("n", [0, 1, 6, 7])
@pytest.mark.parametrize("step", ["i++", "i += 2", "i += 3"])
def test_counter_after_its_loop(agree, n, step):
    text = f"""
int f(int n, double x[20]) {{
  int i;
#pragma scop
  for (i = 0; i < n; {step}) x[i] = i;
  x[i] += 100;
  for (; i > 2; i--) x[i] *= 2;
#pragma endscop
  return i;
}}"""
    agree(text, returns="i", n=n)


@pytest.mark.parametrize("n", [0, 1, 4, 9])
@pytest.mark.parametrize("test", ["i == m", "x[i] > 2", "i > m && x[0] > 0", "2 * i > m"])
def test_counter_after_break(agree, n, test):
    text = f"""
int f(int n, int m, double x[20]) {{
  int i;
#pragma scop
  for (i = 0; i < n; i++) {{ if ({test}) break; x[i] = i; }}
  x[i] += 100;
#pragma endscop
  return i;
}}"""
    agree(text, returns="i", n=n, m=3)


STRUCTS = """
struct grid {{ int n, m; double data[100]; double *p; }};
struct point {{ double x; float v[3]; }};
static struct grid storage;
static struct point points[20];
void f(int n, double A[n][n]) {{
  struct grid *g = &storage;
  g->n = n; g->m = n - 1;
  {before}
  for (int i = 0; i < g->n; i++) {{
    points[i].x = i;
    points[i].v[i % 3] = 2 * i;
    for (int j = 1; j < g->m; j++) {{ g->data[j] += A[i][j]; A[i][j] = points[i].x + points[j].v[0] + g->data[j - 1]; }}
  }}
  {after}
}}"""


def test_struct_members():
    scop = from_c_text(STRUCTS.format(before="\n#pragma scop\n", after="\n#pragma endscop\n"))
    assert {p.spelling for p in scop.parameters} >= {"g->n", "g->m"}
    assert {(a.name, a.c_element) for a in scop.arrays} == {
        ("points_x", "points[{}].x"), ("points_v", "points[{}].v[{}]"), ("g_data", "g[{}].data[{}]"),
        ("A", "A[{}][{}]")}
    assert all(a.exact for s in scop.statements for a in s.accesses)


def test_counter_is_not_kept_when_nobody_reads_it(agree):
    scop = agree("""
void f(int n, double x[n]) {
  int i;
#pragma scop
  for (i = 0; i < n; i++) x[i] = i;
#pragma endscop
  for (i = 0; i < n; i++) x[i] += 1 - 1;
}""", n=5)
    assert len(scop.statements) == 1
