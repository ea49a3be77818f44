"""Extracted C computes what the compiled C computes: one small program per construct."""

import pytest

PROGRAMS = {
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
