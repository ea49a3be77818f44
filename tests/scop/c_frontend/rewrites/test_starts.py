"""Loops whose counter starts outside of the region, and which step other variables."""

from pathlib import Path

from polysched.scop import all_from_c_text
from tests.scop.c_frontend.same_output import functions_of, same_output

MAIN = """
static double a[999], b[999];
for (int n = 0; n < 200; n = 2 * n + 1) {
  filled(a, 999); filled(b, 999);
  printf("%d\\n", f(n, n / 2, a, b));
  shown("a", a, 999); shown("b", b, 999);
}
"""
TAKEN = {
    "a parameter counts down": "while (n--) *b++ += *a++; return n;",
    "pointers and counter go on": "while (n-- > 0) *b++ += *a++; *a = 7; *b = 8; return n;",
    "an unsigned counter": "unsigned k = n; while (k--) *b++ = *a++ * 2; *b = k > 9; return 0;",
    "up to a bound": "int k = m; double *p = a; for (; k < n; k++) { b[k] += *p; p += 2; } return k + (p - a);",
    "one after the other": "int k = n; while (k--) *b++ += *a; k = m; while (k--) *a++ += *b++; return k;",
    "a constant": "int k = 40; for (; k > 0; k -= 3) *b++ += *a++; *b = 2; return k;",
    "two counters": "int j = 3; while (n--) { b[j] += a[n]; j++; } return j;",
    "a signed counter below zero": "n = m - n; for (; n < 0; n++) { *b++ += 1; } *b = 9; return n;",
}


def test_it_starts_where_the_region_does(tmp_path: Path) -> None:
    text = "".join(f"int f{at}(int n, int m, double *restrict a, double *restrict b) {{\n{body}\n}}\n"
                   for at, body in enumerate(TAKEN.values()))
    main = "".join(f"{{{MAIN}}}\n".replace(" f(", f" f{at}(") for at in range(len(TAKEN)))
    made = same_output(tmp_path, text, main)
    assert functions_of(made) == {f"f{at}" for at in range(len(TAKEN))}


def test_a_loop_that_runs_again_starts_anew_each_time(tmp_path: Path) -> None:
    text = ("int f(int n, int m, double *restrict a, double *restrict b) {\n int k = n;\n"
            " for (int t = 0; t < 3; t++) { while (k > m) { *b++ += a[t]; k--; } k = n; }\n return k;\n}\n")
    made = same_output(tmp_path, text, MAIN).text
    assert made.index("for (int t") < made.index("const int k_in1 = k;")


def test_the_name_of_the_start_is_one_of_the_region() -> None:
    text = "void f(int n, double *restrict a, int n_in1) { while (n > n_in1) { *a++ = 1; n--; } }"
    (scop,) = all_from_c_text(text, autodetect=True)
    assert scop.source is not None
    assert scop.source.saved == ("const int n_in2 = n;",)
