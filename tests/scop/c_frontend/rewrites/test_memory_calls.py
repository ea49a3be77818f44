"""`memset` and `memcpy` inside regions."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.scop import AccessKind
from tests.scop.c_frontend.same_output import SANITIZED, same_output

HEAD = "#include <string.h>\nvoid f(int n, int m, const double *restrict x, double *restrict y, struct g *g)"
TYPES = "struct g { int n; double row[8]; };\n"
BODIES = [
    "for (int i = 0; i < n; i++) memset(y + i * m, 0, m * sizeof(double));",
    "for (int i = 0; i < n; i++) { memcpy(&y[i * m], x + i * m, sizeof(*y) * m); y[i * m] += 1; }",
    "for (int i = 0; i < n; i++) { memcpy(y + i, x, sizeof *x); memset(g->row, 0, 8 * sizeof(double)); }",
    "for (int i = 0; i < n; i++) { double t[4]; memset(t, 0, 4 * sizeof(double)); t[1] = x[i];\n"
    "for (int j = 0; j < 4; j++) y[i * 4 + j] = t[j]; }",
]
MAIN = """for (int n = 0; n < 20; n += 3) for (int m = 1; m < 12; m += 5) {
  double x[600], y[600]; filled(x, 600); filled(y, 600); struct g g = {3, {1, 2, 3}};
  f(n, m, x, y, &g); shown("y", y, 300); shown("row", g.row, 8); }"""


def test_memory_is_set_and_copied(tmp_path: Path) -> None:
    functions = "".join(f"{HEAD} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n".replace(" f(", f" f{at}(")
                        for at, body in enumerate(BODIES))
    main = "".join(f"{{{MAIN}}}\n".replace(" f(", f" f{at}(") for at in range(len(BODIES)))
    made = same_output(tmp_path, TYPES + functions, main, SANITIZED)
    assert len(made.regions) == len(BODIES)
    assert all(statement.depth for region in made.regions for statement in region.scop.statements)


@pytest.mark.parametrize("body", [
    "for (int i = 0; i < n; i++) memset(y + i * m, 1, m * sizeof(double));",     # no number of its own
    "for (int i = 0; i < n; i++) memset(y + i * m, 0, m * sizeof(float));",      # parts of elements
    "for (int i = 0; i < n; i++) memset(y + i * m, 0, m);",
    "for (int i = 0; i < n; i++) memcpy(y + i, g, 2 * sizeof(double));",         # numbers of two types
    "for (int i = 0; i < n; i++) memcpy(y++ + i, x, m * sizeof(double));",
])
def test_other_sizes_are_refused(body: str) -> None:
    with pytest.raises(UnsupportedScopError):
        from_c_text(f"{TYPES}{HEAD} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


def test_a_function_of_the_file_is_another_one() -> None:
    text = "void memset(double *p, int v, unsigned long n) { for (;;) if (*p > n) return; }\n"
    text += "void f(int n, double *y) {\n"
    scop = from_c_text(f"{text}#pragma scop\nfor (int i = 0; i < n; i++) memset(y, 0, n * sizeof(double));\n"
                       "#pragma endscop\n}\n")
    assert {a.kind for s in scop.statements for a in s.accesses} == {AccessKind.READ}
