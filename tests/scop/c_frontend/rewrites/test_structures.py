"""Structs that are used whole: their members are copied one by one."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.scop.c_frontend.same_output import SANITIZED, same_output

TYPES = """struct v { double x, y; int k; };
struct w { struct v v; float a[3]; };
static double dot(struct v a, struct v b) { return a.x * b.x + a.y * b.y + a.k; }
static struct v sum(struct v a, struct v b) { struct v r; r.x = a.x + b.x; r.y = a.y + b.y; r.k = a.k; return r; }
static struct v turned(struct v a, int k) { struct v r = {a.y, a.x}; r.k += k; return r; }
static struct v named(double a, int k) { struct v r = {.k = k, .y = a}; return r; }
static struct v scaled(struct v a, double by) { return (struct v){a.x * by, a.y * by, a.k}; }
static struct v shifted(const struct v *a, struct v b) { struct v r = {a[1].x, b.y, a[0].k}; return r; }
"""
HEAD = "void f(int n, struct v *restrict p, struct v *restrict q, struct w *restrict w, double *restrict s)"
BODIES = [
    "for (int i = 0; i < n; i++) q[i] = p[n - i];",
    "for (int i = 0; i < n; i++) { struct v t = p[i]; t.x += 1; q[i] = t; }",
    "for (int i = 1; i < n; i++) { struct v t; t = p[i]; p[i] = p[i - 1]; p[i - 1] = t; }",
    "for (int i = 0; i < n; i++) s[i] = dot(p[i], q[i]);",
    "for (int i = 0; i < n; i++) q[i] = sum(p[i], q[i]);",
    "for (int i = 0; i < n; i++) q[i] = turned(p[i], i);",
    "for (int i = 1; i < n; i++) p[i] = turned(p[i - 1], i);",
    "for (int i = 0; i < n; i++) p[i] = shifted(p + i, q[i]);",
    "for (int i = 0; i < n; i++) { w[i].v = p[i]; w[i].v.k += 2; }",
    "for (int i = 1; i < n; i++) w[i] = w[i - 1];",
    "for (int i = 0; i < n; i++) { const struct v t = {s[i], 2}; q[i] = t; }",
    "for (int i = 0; i < n; i++) p[i] = (struct v){p[i].y, p[i].x, i};",
    "for (int i = 0; i < n; i++) *(p + i) = q[0];",
    "for (int i = 0; i < n; i++) p[i] = sum(q[i], scaled(p[i], s[i]));",
    "for (int i = 0; i < n; i++) { const struct v t = (struct v){.k = i, .x = s[i]}; q[i] = t; }",
    "for (int i = 0; i < n; i++) { struct v t = {.k = i, .x = s[i]}; q[i] = t; }",
    "for (int i = 0; i < n; i++) p[i] = (struct v){.y = p[i].x, p[i].k, .x = p[i].y};",
    "for (int i = 0; i < n; i++) q[i] = named(s[i], i);",
    "for (int i = 0; i < n; i++) w[i] = (struct w){{.k = p[i].k, .y = w[i].a[2]}, .a = {[1] = s[i], 2}};",
    "for (int i = 1; i < n; i++) w[i] = (struct w){.a = {w[i - 1].a[2], [2] = i}};",
    "for (int i = 0; i < n; i++) if (i % 3) w[i] = (struct w){.v = {i, .k = 2}};",
]
MAIN = """  for (int n = 0; n < 35; n += n < 10 ? 1 : 7) {
    struct v p[40], q[40]; struct w w[40]; double s[40]; filled(s, 40);
    for (int i = 0; i < 40; i++) {
      p[i] = (struct v){i, 3 - i, i}; q[i] = (struct v){2 * i, i % 5, -i}; w[i] = (struct w){p[i], {i, 2, 3}}; }
    f(n, p, q, w, s); shown("s", s, 40);
    for (int i = 0; i < 40; i++) printf("%g %g %d %g %g %d %g %g %d %g\\n", p[i].x, p[i].y, p[i].k, q[i].x, q[i].y,
      q[i].k, w[i].v.x, w[i].v.y, w[i].v.k, (double)w[i].a[2]); }"""


def test_structs_are_copied(tmp_path: Path) -> None:
    functions = "".join(f"{HEAD} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n".replace(" f(", f" f{at}(")
                        for at, body in enumerate(BODIES))
    main = "".join(f"{{{MAIN}}}".replace(" f(", f" f{at}(") for at in range(len(BODIES)))
    made = same_output(tmp_path, TYPES + functions, main, (*SANITIZED, "-O0"))   # gcc takes half a minute with -O1
    assert len(made.regions) == len(BODIES)


@pytest.mark.parametrize(("types", "body"), [
    ("struct v { double x; double *p; };", "for (int i = 0; i < n; i++) q[i] = p[i];"),
    ("struct v { double x; unsigned b : 3; };", "for (int i = 0; i < n; i++) q[i] = p[i];"),
    ("struct v { double x; int k; };", "for (int i = 0; i < n; i++) q[q[0].k] = p[i];"),
    ("struct v { double x; int k; };", "for (int i = 0; i < n; i++) q[i] = (struct v){.k = 3, 4};"),
    ("struct v { double x; int k; };", "for (int i = 0; i < n; i++) q[i] = (struct v){.k = 3, .k = 4};"),
    ("struct u { int a, b; }; struct v { struct u u; int k; };",
     "for (int i = 0; i < n; i++) q[i] = (struct v){.u.a = 3, .k = 4};"),
    ("struct u { int a, b; }; struct v { struct u u; int k; };",
     "for (int i = 0; i < n; i++) q[i] = (struct v){1, 2, 3};"),
    ("struct v { int a[3]; int k; };", "for (int i = 0; i < n; i++) q[i] = (struct v){{1, 2, 3, 4}};"),
    ("struct v { int a[3]; int k; };", "for (int i = 0; i < n; i++) q[i] = (struct v){.a = 1};"),
    ("struct v { double x; volatile int k; };", "for (int i = 0; i < n; i++) q[i] = p[i];"),
    ("struct v { char name[1000]; };", "for (int i = 0; i < n; i++) q[i] = p[i];"),
])
def test_other_structs_are_refused(types: str, body: str) -> None:
    with pytest.raises(UnsupportedScopError):
        from_c_text(f"{types}\nvoid f(int n, struct v *restrict p, struct v *restrict q) {{\n#pragma scop\n{body}\n"
                    "#pragma endscop\n}\n")
