"""What a call of a function of the file computes stands in its place: conversions, own names, choices and states."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import all_from_c_text
from tests.scop.c_frontend.differences import check

ONE_SIZE = ({"n": 7, "m": 3},)
CONVERTED = """
typedef unsigned char octet;
static octet narrow(octet a) { return a; }
static int narrowed(octet a) { return a + 1; }
static octet result(int a) { return a; }
static _Bool truth(int a) { return a; }
static int over(int a) { octet t = a; t = t + 1; t *= 2; return t; }
static char text(int a) { char t = a; t += 100; return t; }
static short product(short a, short b) { return a * b; }
static int half(double a) { a = a * 2; return a; }
static float single(double a) { float t = a; t += 0.1; return t * t; }
static unsigned wrapped(int a) { unsigned t = a; t -= 10; return t; }
static long wide(int a) { long t = a; t *= 100000; t *= 100000; return t; }
static int below(unsigned a, int b) { return a < b; }
static int not_(_Bool a) { return !a + ~a; }
"""
CONVERSIONS = [
    "for (int i = 0; i < 20; i++) A[i] = narrow(i * 100) + narrowed(255 + i) + result(A[i] * 100);",
    "for (int i = 0; i < 20; i++) A[i] = truth(A[i]) + 2 * truth(i & 2) + 4 * not_(A[i]) + 16 * not_(i);",
    "for (int i = 0; i < 20; i++) A[i] = over(i * 30) + over(A[i]) + text(A[i]) + text(i * 3);",
    "for (int i = 0; i < 20; i++) A[i] = product(i * 100, A[i] * 100) + half(X[i]) + half(i * 0.4);",
    "for (int i = 0; i < 20; i++) X[i] = single(X[i]) + single(i) + single(16777217);",
    "for (int i = 0; i < 20; i++) B[i] = wrapped(i) + wrapped(A[i]) + wide(A[i]) + wide(i) + below(i - 3, A[i]);",
    "for (int i = 0; i < 20; i++) B[truth(i) + narrow(i)] += below(A[i], 2);",
]

NAMES = """
static int G = 0, H[8];
static int global_(void) { return G + 1; }
static int element(int i) { return H[i & 7]; }
static int twice(int a) { return 2 * a; }
static int hundred(int a) { return 100; }
static int applied(int (*hundred)(int), int a) { return hundred(a); }
static int counter(int a) { static int q = 0; q += a; return q; }
static int fixed(int a) { static int q = 3; return a + q; }
static int shadows(int n) { int i = n * 2; return i + n; }
static int reuses(int i) { int n = i; for (i = 0; i < 3; i++) n += i; return n; }
static int swaps(int a, int b) { int t = a; a = b; b = t; return a - 2 * b; }
static int enumerated(int *p, int a) { enum { K = 3 }; p[K] = a + K; return 0; }
"""
OWN_NAMES = [
    "for (int n = 0; n < 20; n++) A[n] = shadows(n) + shadows(A[n]);",
    "int t = 3, a = 1; for (int i = 0; i < 20; i++) { A[i] = swaps(t, a + i) + fixed(a); t = reuses(t) & 7; }",
    "for (int i = 0; i < 20; i++) A[i] += global_() + element(i) + hundred(i);",
]
OTHER_MEANINGS = [
    "for (int i = 0; i < 20; i++) { int G = 3; A[i] = global_() + G; }",
    "for (int G = 0; G < 20; G++) A[G] = global_();",
    "for (int i = 0; i < 20; i++) { int H = 3; A[i] = element(H); }",
    "for (int i = 0; i < 20; i++) A[i] = applied(twice, i);",
    "int (*hundred)(int) = twice;@@for (int i = 0; i < 20; i++) A[i] = hundred(i);",
    "for (int i = 0; i < 20; i++) A[i] = counter(i);",
    "int K = 10; for (int i = 0; i < 20; i++) enumerated(A + i, K);",
]

CONTROL = """
static int early(int a) { if (a < 0) return 1; else if (a < 5) return 2; else if (a < 9) { return 3; } return 4; }
static int chosen(int a, int b) {
  int t = 0; if (a > 0) { t = 1; if (b > 0) t += 2; else { t -= 3; } t *= 2; } else t = b; return t;
}
static int unset(int a) { int t; if (a > 2) t = 1; else t = 2; return t; }
static int counted(int a) { int k = 0; while (k * k < a) k++; return k; }
static int once(int a) { int k = 0; do { k += 2; } while (k < a); return k; }
static int left(const int *a) { int i; for (i = 0; i < 10; i++) { if (a[i] > 30) break; } return i; }
static int down(const int *a, int n) { int s = 0; for (; n > 0; n--) s += a[n]; return s; }
static void ends(int *a, int n) { if (n < 5) { a[0] = 1; return; } a[0] = 2; if (n < 9) return; a[1] = 3; }
static void skips(int *a, int n) { n = n + 1; for (int i = 0; i < n; i++) { if (a[i] > 9) continue; a[i] = n; } }
static int post(int a) { int t = a; a++; ++a; t -= a--; return t; }
static void swap(int *a, int i, int j) { int t = a[i]; a[i] = a[j]; a[j] = t; }
static int writes(int *a, int v) { a[1] = a[0] + v; return a[1] * 2; }
"""
CONTROLLED = [
    "for (int i = 0; i < 20; i++) A[i] = early(i - 2) + 10 * early(A[i]) + chosen(i - 4, A[i]) + chosen(A[i], i - 3);",
    "for (int i = 0; i < 20; i++) A[unset(i) + early(i - 3)] += chosen(i - 4, i - 8) + post(A[i]) + post(i);",
    "for (int i = 0; i < 20; i++) { A[i] = counted(A[i]); B[i] = counted(i); B[i] += once(A[i]); }",
    "for (int i = 0; i < 20; i++) { B[i] = left(A + i); B[i] += down(A, i) - down(A + i, 3); }",
    "for (int i = 0; i < 20; i++) { ends(A + i, i); skips(A + i + 20, 3); }",
    "skips(A, n);",
    "for (int i = 0; i < 20; i++) swap(A, i, i + 3); swap(A, A[0] & 7, A[1] & 7);",
    "for (int i = 0; i < 20; i++) { int q = writes(A + i, A[i + 1]); A[i] = q; A[i] += writes(A + i, 3); }",
    "for (int i = 0; i < 20; i++) if (early(i) > 2 && early(A[i]) < 4) A[i] = 3; else if (early(A[i]) == 4) A[i] = 9;",
]


def test_arguments_and_results_are_converted(tmp_path: Path) -> None:
    check(CONVERSIONS, tmp_path, before=CONVERTED, sizes=ONE_SIZE)


def test_names_keep_their_meaning(tmp_path: Path) -> None:
    check(OWN_NAMES, tmp_path, before=NAMES, sizes=ONE_SIZE, refused=OTHER_MEANINGS)


def test_returns_and_loops_do_the_same(tmp_path: Path) -> None:
    check(CONTROLLED, tmp_path, before=CONTROL, sizes=ONE_SIZE)


def test_expressions_that_double_stay_calls() -> None:
    steps = "".join(f"x = x * x + {k};" for k in range(40))
    loop = "for (int i = 0; i < n; i++) x[i] = x[i] > 0 ? g(x[i]) : 0;"   # in a choice it cannot be a block
    text = f"static double g(double x) {{ {steps} return x; }}\nvoid f(int n, double *x) {{\n  {loop}\n}}\n"
    with pytest.raises(UnsupportedScopError, match="`g` may have side effects"):
        all_from_c_text(text, autodetect=True)
