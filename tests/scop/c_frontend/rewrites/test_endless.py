"""Loops that leave by their first or last statement are loops with a condition; others stay as they are written."""

from pathlib import Path

import pytest
from pycparser import c_generator, c_parser

from polysched.scop import from_c_text
from polysched.scop.c_frontend.rewrites.endless import with_condition
from tests.scop.c_frontend.same_output import same_output

SIZES = "static const int sizes[] = {-2, 0, 1, 2, 3, 7, 8, 9, 31, 64};\n  for (int t = 0; t < 10; t++) {\n"
MAIN = f"{SIZES}double a[200], b[200]; filled(a, 200); filled(b, 200);\n" \
       "int r = f(sizes[t], a, b); shown(\"a\", a, 200); shown(\"b\", b, 200); printf(\"%d\\n\", r); }"

COUNTED = {
    "while": "int i = 0; while (1) { if (i >= n) break; a[i] = 2 * b[i]; i++; } return i;",
    "block and else": "int i = 0; while (1) { if (i < n) { a[i] = 2 * b[i]; } else { break; } i++; } return i;",
    "for": "int i; for (i = 0;; i++) { if (i >= n) break; a[i] += b[i]; } return i;",
    "own counter": "for (int i = 0; 1; i += 2) { if (i >= n) break; a[i] += b[i]; continue; } return n;",
    "nothing but a body": "int i = 3; for (;;) { if (!(i < n)) break; a[i] = b[i]; i++; } return i;",
    "do": "int i = 0; do { if (i > n) break; a[i] = b[i]; i++; } while (1); return i;",
    "last": "int i = 0; while (1) { a[i] = b[i]; i++; if (i >= n) break; } return i;",
    "last for": "int i = 0; for (;;) { a[i] = b[i]; i++; if (i < n) ; else break; } return i;",
    "or": "int i = 0; while (1) { if (i >= n || i > 20) break; a[i] = b[i]; i++; } return i;",
    "unsigned": "unsigned i = n < 0 ? 0 : n; while (1) { if (i == 0) break; i--; a[i] += b[i]; } return (int)i;",
    "nested": "int i = 0; for (i = 0;; i++) { if (i >= n) break; for (int j = 0;; j++) { if (j > i) break;"
              " a[i] += b[j]; } } return i;",
    "own names": "double t = 5; int i; for (i = 0;; i++) { if (i < n) { double t = 2 * b[i]; b[i] = t; } else break;"
                 " a[i] = t; } return i;",
    "own names in else": "int i = 0, j = 0; while (1) { if (i >= n) break; else { int j = i; a[j] += b[j]; } j++;"
                         " i++; } return j;",
    "another break": "int i = 0; while (1) { if (i >= n) break; if (i == 5) break; a[i] = b[i]; i++; } return i;",
}
KEPT = [
    "while (1) { a[i] = b[i]; if (i >= n) break; i++; }",
    "while (1) { a[i] = b[i]; i++; if (b[i] < 0) continue; if (i >= n) break; }",
    "while (1) { a[i] = b[i]; i++; int n = 4; if (i >= n) break; }",
    "while (1) { if (i >= n) break; a[i] = b[i]; if (x > 0) i++; }",
]


@pytest.mark.parametrize("name", COUNTED)
def test_results_are_those_as_written(name: str, tmp_path: Path) -> None:
    made = same_output(tmp_path, f"int f(int n, double *restrict a, double *restrict b) {{ {COUNTED[name]} }}\n", MAIN)
    assert any(s.depth for region in made.regions for s in region.scop.statements)


@pytest.mark.parametrize("body", KEPT)
def test_others_are_kept_and_told_as_they_are_written(body: str) -> None:
    scop = from_c_text("void f(int n, int i, double x, double *a, double *b) {\n#pragma scop\n" + body
                       + "\n#pragma endscop\n}\n")
    assert [s.depth for s in scop.statements] == [0]
    assert "is kept whole" in scop.notes[0]
    assert f"`{body.split('{')[0].strip()}`".replace(";;", "; ;") in scop.notes[0]


@pytest.mark.parametrize(("loop", "expected"), [
    ("while (1) { if (i >= n) break; f(); }", "while (!(i >= n)) { f(); }"),
    ("while (7) { if (i == n) { break; } else g(); f(); }", "while (i != n) { g(); f(); }"),
    ("while (1) { if (i) { int k = 3; f(k); } else break; f(k); }", "while (i) { { int k = 3; f(k); } f(k); }"),
    ("do { if (!i) break; f(); } while (1);", "while (i) { f(); }"),
    ("while (1) { f(); if (i) break; }", "do { f(); } while (!i);"),
    ("while (1) { f(); if (i) break; else g(); }", None),   # g runs in front of the next iteration
    ("while (0) { if (i) break; f(); }", None),
    ("while (1.5) { if (i) break; f(); }", None),
    ("while (i < 3) { if (i) break; f(); }", None),
    ("while (1) { if (i) continue; f(); }", None),
    ("while (1) { if (i) { g(); break; } f(); }", None),    # g runs once
    ("while (1) { while (1) break; f(); }", None),
    ("while (1) ;", None),
    ("for (;; g()) { f(); if (i) break; }", None)])         # g does not run behind the last
def test_what_becomes_of_a_loop(loop: str, expected: str | None) -> None:
    def read(text: str) -> str:
        tree = c_parser.CParser().parse(f"void h(void) {{ {text} }}")
        return str(c_generator.CGenerator().visit(with_condition(tree.ext[0].body.block_items[0])))
    written = c_parser.CParser().parse(f"void h(void) {{ {expected or loop} }}").ext[0].body.block_items[0]
    assert read(loop) == c_generator.CGenerator().visit(written)
