"""Extracted C computes what the compiled C computes: one small program per construct."""

import pytest

from polysched.scop import from_c_text

PROGRAMS = {
    "loops that are kept whole": """
void f(int n, double x[n], int z[n]) {
  int i, j;
#pragma scop
  for (i = 0; i * i < n; i++) x[i] += 1;
  for (i = 0, j = n - 1; i < j; i++, j--) { double t = x[i]; x[i] = x[j]; x[j] = t; }
  for (i = 1; i < n; i *= 2) x[i] *= 3;
  for (;;) { x[0] += 1; if (x[0] > 9) break; }
  for (i = 0; ; i += 2) { if (i >= n) break; if (z[i] == 2) continue; z[i] += i; }
  for (i = 0; i < n; i++) { z[i] += 1; if (z[i] > 3) i++; }
  for (float y = 0; y < 2; y += .5f) x[0] += y;
  for (i = n - 1; i < n; ) { x[i] -= 1; i = n; }
  j = 3;
  for (; j < n; j++) { x[j] += j; n = n > 5 ? n - 1 : n; }
#pragma endscop
}""",
    "counters that wrap around on purpose": """
void f(int n, int z[256], unsigned u) {
  unsigned char a, b, k; unsigned w;
#pragma scop
  for (k = 252; k % 9 <= 5; ++k) z[k] += 1;
  for (a = 0; a < 3; a++) for (b = 254; b != 2; b++) z[b] += a;
  for (k = 0; k != 16; k += 80) z[k] += 2;
  for (w = 5; w < 9; w--) z[w] += w;
#pragma endscop
}""",
    "counting down in the condition": """
void f(int n, double x[n], unsigned u) {
#pragma scop
  for (unsigned long i = n; i-- > 0;) x[i] = 2 * x[i] + i;
  for (unsigned i = n; i--;) { int j = i; if (i % 2) x[i] += x[j / 2]; }
  for (int i = n; i-- > 0;) if (x[i] > 1) break;
  for (unsigned long i = n - 1; i-- != 0;) x[i] -= x[i + 1];
#pragma endscop
}""",
    "scalars changed through their addresses": """
struct both { int a; int b[2]; };
static void set(int *a, int v) { *a = v; }
static void inc(int a[1]) { a[0]++; }
static void both(struct both *p, int v) { p->a += v; p->b[1] = p->a; }
void f(int n, int x[n]) {
#pragma scop
  int s = 2, q = 1, r = 0; struct both st;
  st.a = 1; set(&s, n - 1); inc(&q);
  for (int i = 0; i < n; i++) { if (i < s) x[i] += r; inc(&r); both(&st, q); x[i] += st.b[1]; }
#pragma endscop
}""",
    "no loop": """
void f(int n, double x[n]) {
  int i;
#pragma scop
  x[0] = n; i = n - 1; x[i] += x[0];
#pragma endscop
}""",
    "triangular, two counters declared outside": """
void f(int n, double A[n][n], double x[n]) {
  int i, j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; ++j)
      A[i][j] += x[j] * 2 - i;
#pragma endscop
}""",
    "every comparison and direction": """
void f(int n, double x[n]) {
#pragma scop
  for (int i = n - 1; i >= 0; i--) x[i] *= 2;
  for (int i = n - 1; i > 0; i -= 2) x[i] = x[i - 1] + x[i];
  for (int i = 0; i != n; i++) x[i] += 1;
  for (int i = 1; n > i; i = i + 3) x[i] += i;
  for (int i = n; i != 0; i = i - 1) x[i - 1] += i;
  for (int i = 0; 2 * i < n && i <= 5; i++) x[i] -= 1;
  for (int i = 0; !(i >= n || i >= 7); i++) x[i] -= 1;
#pragma endscop
}""",
    "division and modulo truncate": """
void f(int n, int x[n]) {
#pragma scop
  for (int i = 0; i < n; i++) x[i / 2] += i % 3;
  for (int i = -n + 1; i < n; i++) if (i / 2 == 0) x[i / 3 + n / 2] += i;
  for (int i = -n; i < n; i++) if (i % 2 == -1) x[(i - i / 2) * 0 + (i + n) / 2] -= 7;
  for (int i = 0; i < n; i++) if ((i & 3) == 1) x[i >> 1] += i << 2;
#pragma endscop
}""",
    "if, else, and, or, not": """
void f(int n, double A[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (i < j && j < n - 1) A[i][j] += 1; else A[i][j] -= 1;
      if (i == j || i + j == n - 1) A[i][j] = 5;
      if (!(i < 3)) A[i][j] *= 2; else if (j > 2) A[i][j] *= 3;
    }
#pragma endscop
}""",
    "minimum and maximum as macros and ternaries": """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void f(int n, int m, double x[n]) {
#pragma scop
  for (int i = MAX(0, m - 3); i < MIN(n, m + 2); i++) x[i] += 1;
  for (int i = 0; i < (m < n ? m : n); i++) x[i] += 2;
  for (int i = 0; i < n; i++) x[MIN(i, n - 1 - i)] += i;
#pragma endscop
}""",
    "chained and compound assignment, increments": """
void f(int n, double x[n], float y[n], int z[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = y[i] = z[i] = x[i] * 3;
    z[i]++;
    --z[i];
    ++x[i];
    y[i] -= 1, z[i] *= 3;
    z[i] %= 4;
    z[i] <<= 2;
    x[i] /= 3.0f;
  }
#pragma endscop
}""",
    "types: float constants stay float, integers promote": """
void f(int n, float x[n], unsigned char c[n], short s[n], unsigned u[n], long l[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = x[i] * 0.1f + 1 / 3;
    c[i] = c[i] * 200 + 100;
    s[i] = c[i] - u[i];
    l[i] = u[i] - 5 + s[i] * 1000000l;
    x[i] += (double)c[i] / 7 + (int)x[i] + 'a' - 0x10 + 010;
    u[i] = ~u[i] ^ (s[i] | 3) & 0xffu;
    x[i] = x[i] > 0 ? c[i] : l[i];
  }
#pragma endscop
}""",
    "scalars: written, read, kept in sequence": """
double f(int n, double x[n], double alpha) {
  double sum = 0;
#pragma scop
  sum = 1;
  for (int i = 0; i < n; i++) { double t = x[i] * alpha; sum += t; x[i] = t - sum; }
#pragma endscop
  return sum;
}""",
    "integer scalars with known values": """
void f(int n, double x[n]) {
  int k;
#pragma scop
  for (int i = 0; i < n; i++) {
    int m = n - 1 - i;
    k = m;
    if (i < 4) k = k - 1;
    x[m] += 1;
    k = i / 2;
    k += 1;
    if (k < n) x[k] *= 2;
  }
#pragma endscop
}""",
    "data-dependent condition and subscript": """
void f(int n, double x[n], int idx[n], double y[5]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] > 0 && i > 1) y[idx[i]] += x[i]; else if (x[i] < -2) x[i] = 0;
    x[i] = y[idx[n - 1 - i]];
  }
#pragma endscop
}""",
    "pointers and pointer arithmetic": """
void f(int n, double *restrict x, double *y, double (*A)[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    *(x + i) = y[i] + *y;
    *(y + n - 1 - i) += A[i][0];
    (*(A + i))[1] = 3;
    ((double *)x)[i] += 1;
    *(*(A + i) + 2) = i;
  }
#pragma endscop
}""",
    "unsigned and narrow counters": """
void f(unsigned n, unsigned char m, double x[n]) {
#pragma scop
  for (unsigned i = 0; i + 1 < n; i++) x[i] += x[i + 1];
  for (unsigned i = n; i > 0; i--) x[i - 1] *= 2;
  for (unsigned char c = 0; c < m; c++) x[c] += c;
  for (unsigned long i = 2; i < n; i += 2u) x[i] -= 1;
#pragma endscop
}""",
    "calls of math functions": """
#include <math.h>
void f(int n, double x[n], float y[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = sqrt(fabs(x[i])) + fmax(x[i], y[i]) + floor(i / 2.0);
    y[i] = sqrtf(x[i] > 0 ? x[i] : -x[i]);
  }
#pragma endscop
}""",
    "names that isl and Python know": """
void f(int floor, int mod, int exists, double min[floor], double S0[floor]) {
#pragma scop
  for (int and = 0; and < floor; and++)
    for (int or = 0; or < mod; or++)
      if (or < floor && exists > 0) min[and] += S0[or];
#pragma endscop
}""",
    "affine break and continue": """
void f(int n, int m, double x[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (i % 3 == 1) continue;
    x[i] += 1;
    if (i == m) break;
    for (int j = 0; j < n; j++) { if (j > i) break; else if (j == 2) continue; x[j] += 2; }
    if (i > 4) { x[i] *= 3; continue; }
    x[i] -= 2;
  }
#pragma endscop
}""",
    "break and continue on data": """
void f(int n, double x[n], double y[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] < -3) break;
    if (x[i] > 2) continue;
    x[i] += 1;
    for (int j = 0; j < n; j++) { if (i < 3) { if (y[j] > i) continue; } x[j] += y[j]; if (x[j] > 5) break; y[j] -= 1; }
    x[i] -= 2;
  }
#pragma endscop
}""",
    "affine break behind continue on data": """
void f(int n, int m, double x[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] > 0) continue;
    x[n - 1 - i] += 1;
    if (i > 1) break;
  }
#pragma endscop
}""",
    "loops under a condition on data": """
void f(int n, double x[n], double y[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i]) { for (int j = 0; j < i; j++) if (y[j] > 0) y[j] += x[i]; else { y[j] = 1; } x[i] = 1; }
    else if (y[i] > 1) for (int j = 0; j < n; j++) x[j] += 1;
    else x[i] = 3;
    if (!(x[i] > 2)) { x[i] = -1; for (int j = 2; j < n; j++) x[j] += x[j - 1]; }
  }
#pragma endscop
}""",
    "while and do": """
void f(int n, double x[n], int z[n]) {
  int k;
#pragma scop
  for (int i = 0; i < n; i++) {
    k = 0;
    while (x[i] > 0 && k < 10) { x[i] -= 1.5; k++; if (k == 3) z[i] += k; }
    do { double t = x[i]; x[i] = t + 1; k = k - 1; } while (k > 0);
    z[i] = k + i;
  }
#pragma endscop
}""",
    "small functions of the same file": """
static inline int imax(int a, int b) { return a > b ? a : b; }
static float clamp(float v, const float lo, float hi) {
  float w = v * 2;
  if (w < lo) return lo;
  if (w > hi) { return hi; }
  return w;
}
static int third(int v) { int w = v / 3; return imax(w, 0); }
static void axpy(int n, double a, const double *x, double y[n]) {
  for (int i = 0; i < n; i++) { double t = a * x[i]; y[i] += t; }
  a = 0;
}
static void rows(int n, int m, double A[n][m]) { for (int i = 0; i < n; i++) axpy(m, 2, A[i], A[0]); return; }
void f(int n, double A[n][n], float x[n], double y[n]) {
#pragma scop
  for (int i = imax(0, n - 5); i < n; i++) {
    x[third(i)] = clamp(x[i], 0, 1.1);
    axpy(i, y[0], y, A[i]);
    axpy(i, y[0], y, y);
  }
  rows(n, n, A);
#pragma endscop
}""",
    "local arrays, initial values, pointers set once": """
void f(int n, double A[n][n], double x[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    const double w[3] = {1, 2.5f}, u[] = {3, i};
    double z[6][8] = {0}, last[2][2] = {{1, 2}, {3}};
    double *row = A[i], *tail = &A[i][1], *y = x;
    for (int j = 1; j < n; j++) {
      row[j] += tail[j - 1] * w[j % 3] + z[i % 6][j % 8] + u[j & 1] + last[i % 2][j % 2];
      z[i % 6][j % 8] = j;
      *(y + 1) += *(tail + j - 1);
    }
  }
#pragma endscop
}""",
    "loops with bounds from memory": """
void f(int n, double x[n], double y[n], int row[9], int col[5]) {
  int j, k;
#pragma scop
  for (int i = 0; i + 1 < n; i++) {
    for (j = row[i] % 3; j < row[i + 1]; j++)
      for (k = 0; k < 2; k++) y[i] += x[col[j]] * k;
    int last = row[i];
    for (int k = last; k > 0; k -= 2) { if (y[k] > 0) x[k] -= 1; }
  }
  x[j] += k;
#pragma endscop
}""",
    "rows through a cast": """
void f(int n, int m, double *A, double B[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      ((double (*)[m])A)[i][j] += ((double (*)[m])B)[i][j];
      B[i][j] -= (*((double (*)[m])A + n - 1 - i))[j];
    }
#pragma endscop
}""",
    "conditions protect their reads": """
void f(int n, double x[n], int z[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    z[i] = i > 0 && x[i - 1] > 0 || i < n - 1 && x[i + 1] > 0;
    if (x[i] > 0 && i > 1) x[i - 2] = 1; else if (i < n - 2) x[i + 2] -= 1;
    x[i] += i == 0 ? 1 : x[i - 1];
  }
#pragma endscop
}""",
    "linearised subscripts": """
void f(int n, int m, double *A, double *B) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      A[i * m + j] += B[j * n + i];
      B[(m - 1 - j) * n + i] += A[(n - 1) * m + j] + i;
    }
#pragma endscop
}""",
    "break and continue inside one statement": """
void f(int n, double x[n], double y[n], int z[n], int row[9]) {
  int j, k;
#pragma scop
  for (int i = 0; i + 1 < n; i++) {
    k = 0;
    while (k < n) {
      k++;
      if (x[k - 1] > 2) break; else y[k - 1] += 1;
      if (y[k - 1] < 1) continue;
      x[k - 1] += 0.5;
    }
    z[i] = k;
    do {
      k -= 2;
      if (k < 0) break;
      x[k] += 1;
      while (x[k] > 0) { x[k] -= 1; if (x[k] < 1) { y[k] += 1; break; } }
      if (k % 3 == 0) continue;
      y[k] -= 1;
    } while (k > 0 && y[k] > -3);
    for (j = row[i] % 3; j < row[i + 1]; j++) {
      if (j == 2) continue;
      y[i] += j;
      if (y[i] > 3) { z[i] += 1; break; }
      z[i] += 2;
    }
    x[i] += j;
  }
#pragma endscop
}""",
    "labels and statements about the program": """
#ifndef __POLYSCHED_FRONTEND__
#define __builtin_assume(condition)
#define __pencil_assume(condition)
#define __pencil_kill(name)
#endif
void f(int n, int m, double x[n]) {
#pragma scop
  __builtin_assume(m >= 0 && m < 6);
first: for (int i = 0; i < n; i++) {
    __pencil_assume(x[i] < 1000);
second: x[i] += m;
    while (x[i] > 8) { third: x[i] -= 3; __pencil_kill(n); }
    double t = x[i];
    __pencil_kill(t);
  }
#pragma endscop
}""",
    "addresses of elements and variables as arguments": """
struct pair { double low; double high[5]; };
static void twice(double *p) { p[0] *= 2; *p += 1; }
static void row(int m, double r[m]) { for (int k = 0; k < m; k++) r[k] += k; }
static void widen(struct pair *q, int i) { q->low -= 1; q->high[i] += 2; }
static void rows(int m, double t[][m], int k) { for (int a = 0; a < 2; a++) row(m - k, &t[a][k]); }
void f(int n, double A[n][n], double x[n]) {
  struct pair all[5] = {{0}};
#pragma scop
  double s = 3;
  for (int i = 0; i + 1 < n; i++) {
    twice(&x[i]);
    twice(&A[i][i + 1]);
    twice(&s);
    row(n - 2, &A[i][1]);
    rows(n, &A[i], 2);
    widen(&all[i % 4], i % 3);
    (&x[i])[1] += (&s)[0] + all[i % 4].high[i % 3] + all[i % 4].low;
  }
#pragma endscop
}""",
    "members of anonymous structures": """
struct outer { struct { struct { double v[5]; } part[5]; int count; }; double last; };
void f(int n, double x[n]) {
  struct outer o = {0};
#pragma scop
  for (int i = 0; i < n; i++) {
    o.part[i % 3].v[i % 4] += i;
    o.count += 1;
    o.last = o.count;
    x[i] += o.part[i % 3].v[1];
  }
#pragma endscop
}""",
    "counters that shadow": """
void f(int n, double x[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    { int n = 2; for (int i = 0; i < n; i++) x[i] += n; }
    x[i] += n;
  }
#pragma endscop
}""",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [7, 8])
def test_same_as_compiled(agree, name, n):
    values = {"n": n, "m": 5, "alpha": 1.5, "floor": n, "mod": 5, "exists": 1, "x": None, "y": None, "A": None}
    if name == "pointers and pointer arithmetic":
        values |= {"x": (n,), "y": (n,), "A": (n, n)}
    if name in ("linearised subscripts", "rows through a cast"):
        values |= {"A": (n * 5,), "B": (n * 5,)}
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
