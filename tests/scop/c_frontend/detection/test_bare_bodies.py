"""Loops that are bodies without brackets are regions; what replaces them stays one statement."""

from pathlib import Path

import pytest

from polysched.scop import all_from_c_text
from tests.scop.c_frontend.same_output import functions_of, same_output
from tests.tiers import and_campaign

HELPERS = """
#define TWICE for (int r = 0; r < 2; r++)
#define REPEATED(n) for (int r = 0; r < n; r++)
#define UNLESS(c) if (c); else
#define CALL(x) more(x);
static int calls;
int __attribute__((noinline)) more(int x) { return calls++ < x; }
"""
ADD = "for (int i = 0; i < n; i++) a[i] += b[i];"
TAKE = "for (int i = 0; i < m; i++) a[i] -= 2 * b[i];"
MAIN = """
static double a[9000], b[9000];
for (int n = 0; n < 8000; n = 3 * n + 1) {
  filled(a, 9000); filled(b, 9000); calls = 0;
  f(n, n / 2, a, b);
  shown("a", a, 9000); printf("%d\\n", calls);
}
"""
TAKEN = {
    "body of a while": f"while (more(5)) {ADD}",
    "body of a for": f"for (int t = 0; more(5 + t / 4); t += 2) {ADD}",
    "body of a do": f"do {ADD} while (more(5));",
    "do in a for": f"for (int t = 0; more(5 + t / 4); t += 2) do {ADD} while (more(20));",
    "branches": f"if (more(n % 3)) {ADD} else {TAKE}",
    "a dangling else": f"if (more(2)) if (more(n % 3)) {ADD} else {TAKE}",
    "else if": f"if (more(0)) a[0] = 1; else if (more(n % 4)) {ADD} else {TAKE}",
    "behind a pragma": f"while (more(5))\n#pragma omp simd\n{ADD}",
    "a step that the loop around sets": "for (int s = 1; s < n; s *= 2)\n"
                                        "  for (int i = 0; i + s < n; i += 2 * s) a[i] += b[i + s];",
    "a counter that goes on": "int i, k = 0; for (int t = 1; t < 99; t *= 2) for (i = 0; i < n; i += t) a[i] += k++;\n"
                              "a[8000] = i + k;",
    "cases": f"switch (n % 4) {{ case 0: {ADD} break; case 1: a[0] += 3; default: {TAKE} a[1] -= 1; {ADD} {TAKE} }}",
    "a case behind a pragma": f"switch (n % 2) {{ case 1:\n#pragma omp simd\n{ADD} }}",
    "cases whose sizes others set": "int e = m; switch (n % 3) { case 0: e = 5; default:\n"
                                    "for (int i = 0; i < e; i++) a[i] += b[i]; break; case 2: e = 7;\n"
                                    "for (int i = 0; i < e; i++) a[i] -= b[i]; }\na[8000] = e;",
    "cases with names of their own": "enum { E = 4 }; switch (n % 2) { case 0: ; int E = m; a[0] += 1;\n"
                                     "for (int i = 0; i < E; i++) a[i] += b[i]; break; case 1: E = n;\n"
                                     "for (int i = 0; i < E; i++) a[i] -= b[i]; }",
    "what a case declares, others see": "unsigned char k = 3; switch (n % 2) { case 1: a[0] = k; int k = n / 2;\n"
                                        "for (int i = 0; i < k; i++) a[i] += i; break; case 0: k = n; a[1] = k;\n"
                                        "for (int i = 0; i < k; i++) a[i] -= 2 * i; }\na[8000] = k;",
    "a case that is left early": f"switch (n % 2) {{ case 1: if (more(2)) {{ {ADD} break; }} {TAKE} default: {ADD} }}",
    "a macro's loop around": f"REPEATED(3) {ADD}",
    "a macro's branch around": f"UNLESS(n > 7) {ADD}",
    "behind a macro": f"CALL(3) {ADD}",
    "a declaration that outlives a region behind a macro": f"CALL(3)\n{ADD}\ndouble s = 0;\n{TAKE}\n"
                                                           "for (int i = 0; i < n; i++) s += a[i];\na[8000] = s;",
}


@pytest.mark.parametrize("part", and_campaign([0], [1]))
def test_bodies_without_brackets_are_regions(part: int, tmp_path: Path) -> None:
    bodies = [*TAKEN.values()][part::2]
    text = HELPERS + "".join(f"void f{at}(int n, int m, double *restrict a, double *restrict b) {{\n{body}\n}}\n"
                             for at, body in enumerate(bodies))
    main = "".join(f"{{{MAIN}}}\n".replace("  f(", f"  f{at}(") for at in range(len(bodies)))
    assert functions_of(same_output(tmp_path, text, main)) == {f"f{at}" for at in range(len(bodies))}


def test_a_loop_behind_a_label_is_left() -> None:
    text = f"{HELPERS}void f(int n, int m, double *restrict a, double *restrict b) {{"\
           f"\nl: {ADD}\n{TAKE}\nif (more(3)) goto l;\n}}\n"
    (scop,) = all_from_c_text(text, autodetect=True)
    assert scop.source is not None
    assert scop.source.text[scop.source.start:].startswith(TAKE)


def test_a_labelled_block_is_searched(tmp_path: Path) -> None:
    text = f"{HELPERS}void f(int n, int m, double *restrict a, double *restrict b) {{"\
           f"\nl: {{ {ADD} if (more(3)) goto l; }}\n}}\n"
    assert same_output(tmp_path, text, MAIN).regions


def test_a_loop_that_a_macro_hides_is_not_taken_for_a_body() -> None:
    text = f"{HELPERS}void f(int n, double *restrict a, double *restrict b) {{\nTWICE {ADD}\n{ADD}\n}}\n"
    (scop,) = all_from_c_text(text, autodetect=True)
    assert scop.source is not None
    assert "TWICE" not in scop.source.text[scop.source.start:]


def test_loops_that_a_pragma_counts_together_stay_one() -> None:
    """What stands between the loops of `collapse(2)` would be no C."""
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < getchar(); j++) for (int k = 0; k < n; k++) a[k] += b[i];"
    text = f"int getchar(void);\nvoid f(int n, double *restrict a, double *restrict b) {{\n" \
           f"#pragma omp parallel for collapse(2)\n{nest}\n}}\n"
    (scop,) = all_from_c_text(text, autodetect=True)
    assert scop.source is not None
    assert scop.source.text[scop.source.start:].startswith("for (int k")
