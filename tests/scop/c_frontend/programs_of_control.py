"""One small program per construct that decides what runs: loops, conditions, jumps."""

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
    "data-dependent condition and subscript": """
void f(int n, double x[n], int idx[n], double y[5]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] > 0 && i > 1) y[idx[i]] += x[i]; else if (x[i] < -2) x[i] = 0;
    x[i] = y[idx[n - 1 - i]];
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
    "values that are not used": """
static int nothing(void) { return 0; }
static int more(int k) { return k + 1; }
void f(int n, double x[n], int y[n]) {
  int unused = n + 1;
#pragma scop
  for (int i = 0; i < n; i++) {
    (void)0, (void)unused, (void)x;
    nothing();
    more(i);
    (void)(unused > 0 && y[i] < *x), (void)sizeof(y[unused++]);
    for (int k = 0; k < 3; k++) { (void)((k + 1) * y[i]); x[i] += k; }
    while (y[i] > 3) { (void)(y[i] - (double)n); y[i] -= 2; }
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
