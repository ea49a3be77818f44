"""Variables and pointers that loops step: they stand for functions of the counters, and end where they ended."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.scop.c_frontend.same_output import SANITIZED, same_output
from tests.tiers import and_campaign

STRUCT = "struct net { int in, out; double *w; };\n"
HEAD = "int f(int n, int m, double *restrict x, double *restrict y, const struct net *net)"
MAIN = """  static const int sizes[] = {0, 1, 2, 3, 7, 8, 9, 31};
  for (int t = 0; t < 8; t++) for (int u = 0; u < 8; u++) {
    double x[2600], y[2600], w[2600]; filled(x, 2600); filled(y, 2600); filled(w, 2600);
    struct net net = {sizes[u], sizes[t], w};
    printf("%d ", f(sizes[t], sizes[u], x + 100, y + 100, &net)); shown("y", y, 1300); }"""


def program(bodies):
    return STRUCT + "".join(f"{HEAD} {{\n{body}\n}}\n".replace(" f(", f" f{at}(") for at, body in enumerate(bodies))


def main(count):
    return "\n".join(f"{{{MAIN}}}".replace(" f(", f" f{at}(") for at in range(count))


WALKS = {
    "a walk": "double *p = y, *q = x; for (int i = 0; i < n; i++) *p++ = 2 * *q++;\nreturn p - y + (q - x);",
    "parameters that walk": "int k; for (k = 0; k < n; k++) *y++ = *x++ + 1;\n*y = 7; *x = 8; return k;",
    "backwards": "double *p = y + n; for (int i = n; i > 0; i--) *--p = i;\nreturn p - y;",
    "two counters": "int i, j; for (i = 0, j = 2 * n; i < n; i++, j -= 2) y[j] = x[i];\nreturn j;",
    "declared counters": "for (int i = 0, j = 5; i < n; i++, j += 2) y[j] = x[i];\nreturn 0;",
    "chained start": "int i, j; for (i = (j = 0); i < n; ++i, ++j) y[j] = x[i];\nreturn i + j;",
    "a counter in a nest": "int k = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[k++] = x[j];\n"
                          "return k;",
    "a walk in a nest": """double *w = y; for (int j = 0; j < n; ++j) {
      double sum = *w++ * -1.0;
      for (int k = 0; k < m; ++k) sum += *w++ * x[k];
      x[m + j] = sum; }\nreturn w - y;""",
    "rows": "for (int i = 0; i < n; i++) { double *p = y + i * m;\nfor (int j = 0; j < m; j++) *p++ += x[j]; }\n"
            "return 0;",
    "rows set outside": """double *p; for (int i = 0; i < n; i++) { p = y + i * m;
      for (int j = 0; j < m; j++) { *p = *p + x[j]; p++; } }\nreturn 0;""",
    "behind the step": "int k = 3; for (int i = 0; i < n; i++) { y[k] = x[i]; k += 2; y[k + 1] = 5; }\nreturn k;",
    "twice a step": "int k = 1; for (int i = 0; i < n; i++) { k++; y[k] = x[i]; k += 2; y[k] = 5; }\nreturn k;",
    "strides": "int k = 0; for (int i = 0; i < n; i += 3) y[k++] = x[i];\nreturn k;",
    "by a parameter": "double *p = y; for (int i = 0; i < n; i++) { *p = x[i]; p += m; }\nreturn p - y;",
    "members": "double *w = net->w; for (int j = 0; j < net->out; j++) { double s = 0;\n"
               "for (int k = 0; k < net->in; k++) s += *w++ * x[k];\ny[j] = s; }\nreturn w - net->w;",
    "one behind the other": "double *p = y; int i; for (i = 0; i < n; i++) *p++ = x[i];\n"
                            "for (i = 0; i < m; i++) *p++ = 2;\nreturn p - y;",
    "on a condition": "int k = 0; for (int i = 0; i < n; i++) if (x[i] > 0) y[k++] = x[i];\nreturn k;",
    "triangle": "int k = 0; for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) y[k++] = x[j];\nreturn k;",
    "while": "int i = 0, k = n; while (i < n) { y[i++] = x[k--]; }\nreturn i + k;",
    "do once": "for (int i = 0; i < n; i++) do { y[i] = x[i]; } while (0);\nreturn 0;",
    "left early": "int k = 0; for (int i = 0; i < n; i++) { if (x[i] > 9) break; y[k++] = x[i]; }\nreturn k;",
    "a number in front": "int k = 4; x[0] = 1; for (int i = 0; i < n; i++) y[k++] = x[i];\nreturn k;",
    "a wide variable": "long k = 3; int step = 1 << 29; for (int i = 0; i < n; i++) { y[i] = k; k += step + step; }\n"
                       "return k >> 20;",
    "unsigned counters": "int k = 0; for (unsigned i = 0; i < (unsigned)n; i++) { y[i] = k; k -= 3; }\nreturn k;",
    "long counters": "int k = 2; for (unsigned long i = 0; i < (unsigned long)n; i++) { k -= 3; y[i] = k; }\nreturn k;",
    "unsigned steps": "unsigned step = m; long k = 0; for (int i = 0; i < n; i++) { y[i] = k; k -= step; }\nreturn k;",
    "back by an unsigned": "unsigned step = 2; double *p = y + 90; for (int i = 0; i < n; i++) { *p = i; p -= step; }\n"
                           "return p - y;",
    "inner unsigned counters": """int k = 0; for (int i = 0; i < n; i++) {
      for (unsigned j = 0; j < (unsigned)m; j++) { y[i * m + j] = k; k -= 2; } k++; }\nreturn k;""",
    "a long number in front": "long k = 100000; for (int i = 0; i < n; i++) { y[i] = k * 100000; k++; }\nreturn k;",
    "outer counter": "int k = 0; for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) y[i * m + j] = k; k++; }\n"
                     "return k;",
}


@pytest.mark.parametrize("part", and_campaign([0], [1]))
def test_steps_compute_the_same(part: int, tmp_path: Path) -> None:
    bodies = [*WALKS.values()][part::2]
    made = same_output(tmp_path, program(bodies), main(len(bodies)), (*SANITIZED, "-O0"))
    assert len(made.regions) >= len(bodies) - 3   # all but those that data decide


@pytest.mark.parametrize("options", [{"safe": True}, {"guard": True}])
def test_the_original_code_steps_itself(options: dict[str, bool], tmp_path: Path) -> None:
    body = WALKS["members"]
    same_output(tmp_path, program([body]), main(1), **options)


def of_region(body: str, head: str = HEAD):
    return from_c_text(f"{STRUCT}{head} {{\n#pragma scop\n{body}\n#pragma endscop\nreturn 0; }}\n")


def test_a_walk_is_an_affine_access() -> None:
    scop = of_region("for (int i = 0; i < n; i++) *y++ = *x++;")
    assert all(access.exact for statement in scop.statements for access in statement.accesses)
    assert [statement.depth for statement in scop.statements] == [1]


def test_a_walk_in_a_nest_has_rows() -> None:
    scop = of_region("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) *y++ = 1;")
    assert all(access.exact for statement in scop.statements for access in statement.accesses)


@pytest.mark.parametrize("body", [
    "int k = -5; double by = 1.5; for (int i = 0; i < n; i++) { y[i] = 1; k += by; }\nreturn k;",
    "int k = 0; for (int i = 0; i < n; i++) { y[i] = 1; k += 0.5; }\nreturn k;",
])
def test_steps_that_are_no_integers_stay(body: str, tmp_path: Path) -> None:
    same_output(tmp_path, program([body]), main(1))


def test_a_step_that_a_pointer_could_change_is_refused() -> None:
    text = """int by = 1;
int f(int *y, int n, int k) {
#pragma scop
  for (int i = 0; i < n; i++) { y[i] = 5; k += by; }
#pragma endscop
  return k; }
"""
    with pytest.raises(UnsupportedScopError, match="a variable that may change"):
        from_c_text(text)


@pytest.mark.parametrize("body", [
    "for (int i = 0; i < n; i++) if (x[i] > 0) *y++ = x[i];",            # steps that data decide
    "for (int i = 0; i < n; i++) { *y = x[i]; y += (int)x[i]; }",        # an amount from memory
    "long k = 0; for (int i = 0; i < n; i++) { y[i] = k; k += y - x; }",  # elements, not bytes
    "for (int i = 0; i < n; i++) { *y = x[i]; y += i; }",                # an amount that grows
    "double **z = &y; for (int i = 0; i < n; i++) *y++ = z[0][0];",      # a pointer that is known elsewhere
    "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) *y++ = 1;",  # rows that grow
])
def test_other_walks_are_refused(body: str) -> None:
    with pytest.raises(UnsupportedScopError):
        of_region(body)


def test_a_bound_that_the_region_writes_is_refused() -> None:
    head = "struct s { int n; }; int f(int n, int *restrict y, struct s *restrict s)"
    with pytest.raises(UnsupportedScopError):
        of_region("for (int i = 0; i < n; i++) { *y++ = 1; for (int k = 0; k < s->n; k++) *y++ = 2; s->n = 3; }", head)


def test_an_amount_that_the_region_writes_is_refused() -> None:
    head = "struct s { int n; };\nint f(int n, int *restrict y, struct s *restrict s)"
    with pytest.raises(UnsupportedScopError):
        of_region("for (int i = 0; i < n; i++) { *y = i; y += s->n; s->n = 2; }", head)
