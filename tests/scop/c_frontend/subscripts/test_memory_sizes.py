"""Products and quotients of parameters and of members as parameters of their own."""

from pathlib import Path

import pytest

from polysched.scop import from_c_text
from tests.scop.c_frontend.same_output import SANITIZED, same_output
from tests.tiers import and_campaign

TYPES = "struct l { int w, h, c; double *d; };\n"
HEAD = "void f(const struct l *l, struct l v, const struct l *q, int n, double *restrict x, double *restrict y)"
BODIES = [
    "for (int i = 0; i < l->w * l->h; i++) y[i] += x[i];",
    "for (int i = 0; i < l->w * l->h * l->c; ++i) y[i] = x[i] * l->c;",
    "for (int b = 0; b < n; b++)\nfor (int i = 0; i < v.w * v.h; i++) y[b * v.w * v.h + i] = x[i] + b;",
    "if (n > 3)\nfor (int i = 0; i < q->w * q->h; i++) y[i] += x[i];",
    "for (int i = 0; i < l->w / n; i++) y[i] += x[i];",
]
MAIN = """for (int w = 0; w < 9; w += 4) for (int h = 1; h < 7; h += 5) for (int n = 1; n < 5; n++) {
  static double x[2000], y[2000]; filled(x, 2000); filled(y, 2000);
  struct l next = {w, h + 1, 2, 0}, l = {w, h, 3, x};
  f(&l, l, n > 3 ? &next : 0, n, x, y); shown("y", y, 300); }"""


@pytest.mark.parametrize("pragmas", and_campaign([False], [True]))
def test_members_count_as_parameters(pragmas: bool, tmp_path: Path) -> None:
    begin, end = ("#pragma scop\n", "#pragma endscop\n") if pragmas else ("", "")
    functions = "".join(f"{HEAD} {{\n{begin}{body}\n{end}}}\n".replace(" f(", f" f{at}(")
                        for at, body in enumerate(BODIES))
    main = "".join(f"{{{MAIN}}}\n".replace(" f(", f" f{at}(") for at in range(len(BODIES)))
    made = same_output(tmp_path, TYPES + functions, main, SANITIZED)
    assert len(made.regions) == len(BODIES)
    assert all(statement.depth for region in made.regions for statement in region.scop.statements)


@pytest.mark.parametrize("body", [
    "for (int i = 0; i < w->w * w->h; i++) { y[i] = x[i]; w->h = 3; }",       # the region writes a factor
    "for (int i = 0; i < w->w * k[0]; i++) { y[i] = x[i]; k[i] = 3; }",
])
def test_what_the_region_changes_is_no_parameter(body: str) -> None:
    scop = from_c_text(f"{TYPES}void f(struct l *w, int *k, double *restrict x, double *restrict y) {{\n#pragma scop\n"
                       f"{body}\n#pragma endscop\n}}\n")
    assert any("kept whole" in note for note in scop.notes)
