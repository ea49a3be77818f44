"""One small program per construct that computes: types, pointers, structures, calls."""

PROGRAMS = {
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
    "integers that name a place": """
static void put(int *p, int rows, int m, int i, int j, int back, int v) {
  i -= back;
  if (i < 0 || i >= rows) return;
  { int at = i * m + j; if (v > 90) { p[at] -= 1; return; } p[at] += v; }
}
void f(int n, int m, int wide, int x[n * m], int y[2 * n * m], int z[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    z[i] = 0;
    for (int j = 0; j < m; j++) {
      const int row = i * m; int at = row + j;
      long next = (long)i * wide + j;
      y[next] += x[at] + at;
      y[next + m] += (x + row)[j];
      z[i] += (y + i * wide)[m + j];
      put(x, n, m, i, j, 1, z[i]);
    }
  }
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
    "differences without a sign": """
void f(unsigned n, unsigned long m, double A[40], double B[40]) {
#pragma scop
  for (unsigned i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      A[j - i + 20] += B[i - m + 20] + B[2 * (j - i) + 30];
      B[(i + 5 - n) + 10] -= A[-i + n + m];
    }
#pragma endscop
}""",
    "rows longer than a parameter": """
void f(int n, int m, double *A, double *B) {
#pragma scop
  for (int i = 0; i < (n < m ? n : m); i++)
    for (int j = 0; j < m; j++) {
      A[i * (m + 2) + j + 2] += B[(i + 1) * (n + 7) + i + 3] + A[i * (m + 2) + 1];
      B[(m - 1 - j) * (n + 7) + i] -= A[i * (m + 2) + j];
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
}
