"""`while` and `do` loops that count are loops like others; those that do not are left, with the reason."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.scop.c_frontend.same_output import same_output

SIZES = "static const int sizes[] = {-2, 0, 1, 2, 3, 7, 8, 9, 31, 64};\n  for (int t = 0; t < 10; t++) {\n"
MAIN = f"{SIZES}double a[200], b[200]; filled(a, 200); filled(b, 200);\n" \
       "int r = f(sizes[t], a, b); shown(\"a\", a, 200); shown(\"b\", b, 200); printf(\"%d\\n\", r); }"

COUNTED = {
    "step last": "int i = 0; while (i < n) { a[i] = 2 * b[i]; i++; } return i;",
    "step first": "int i = 0; while (i < n) { i += 2; a[i] = 2 * b[i + 1]; } return i;",
    "step in the middle": "int i = 0; while (i < n) { a[i] = b[i]; i = i + 1; b[i - 1 + 1] = 3; } return i;",
    "down": "int i = n; while (i > 0) { i--; a[i] = 2 * b[i]; } return i;",
    "tested and stepped": "int i = n < 0 ? 0 : n; while (i-- > 0) a[i] += b[i]; return i;",
    "tested alone": "unsigned i = n < 0 ? 0 : n; while (i--) a[i] += b[i]; return (int)i;",
    "do": "int i = 0; do { a[i] = 2 * b[i]; i++; } while (i < n); return i;",
    "do under a condition": "int i = 0; if (n > 0) do { a[i] = 2 * b[i]; i += 2; } while (i < n); return i;",
    "do in a block under a condition":
        "int i = n - 3; if (n > 5) { do { a[i] += b[i]; i++; } while (i < n); } return i;",
    "do from a parameter": "int i; i = n; do { a[i + 2] = 2 * b[i + 2]; i += 3; } while (i < 40); return i;",
    "stepped before the test": "int i = n; while (--i >= 0) a[i + 2] += b[i]; return i;",
    "stepped up before the test": "int i = -1; while (++i < n) { if (i == 40) break; a[i] = b[i] + i; } return i;",
    "stepped from an unsigned value":
        "unsigned m = n < 0 ? 0 : n; long i = m; while (--i >= 0) a[i] = b[i] + i; return (int)i;",
    "narrow and stepped":
        "unsigned char c = n; while (--c > 190) a[c - 190] += b[c - 170]; return c;",
    "do with a step in its test": "int i = n + 2; do a[i + 1] += b[i]; while (--i >= 3); return i;",
    "do up to a step": "int i = 0; do { a[i] += b[i]; } while (n > ++i); return i;",
    "value of a parameter": "while (n > 0) { a[n] = b[n] + 1; n -= 3; } return n;",
    "value from data": "int i = (int)b[1]; if (i < 0) i = -i; while (i < n) { a[i] = b[i]; i++; } return i;",
    "with break": "int i = 0; while (i < n) { if (i == 5) break; a[i] = b[i]; i++; } return i;",
    "in a loop": "int j = 0; for (int k = 0; k < n; k++) { j = k; while (j < n) { a[j] += k * b[j]; j++; } } return j;",
    "twice": "int i = 0; while (i < n) { a[i] = 1; i++; }\n while (i < 2 * n) { b[i] = 2; i++; } return i;",
}


@pytest.mark.parametrize("name", COUNTED)
def test_counted_loops_compute_the_same(name: str, tmp_path: Path) -> None:
    made = same_output(tmp_path, f"int f(int n, double *restrict a, double *restrict b) {{ {COUNTED[name]} }}\n", MAIN)
    assert all(s.depth for region in made.regions for s in region.scop.statements if "i" in s.iterators)
    assert any(s.depth for region in made.regions for s in region.scop.statements)


@pytest.mark.parametrize("body", [
    "while (i < n) { if (b[i] > 0) continue; a[i] = 1; i++; }",
    "while (i < n) { a[i] = 1; i++; if (b[i] > 0) i++; }",
    "while (i < n) { a[i] = 1; i++; if (b[i] > 0) break; }",
    "while (i < n) { a[i] = 1; i = 2 * i + 1; }",
    "do { a[i] = 1; i++; } while (i < n);",
])
def test_other_loops_are_kept_whole(body: str) -> None:
    scop = from_c_text(f"void f(int n, int i, double *a, double *b) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    assert [s.depth for s in scop.statements] == [0]
    assert "is kept whole" in scop.notes[0]


@pytest.mark.parametrize("body", [
    "while (--i > n) a[i] = 1;",
    "i = n; while (--i > 0) a[i--] = 1;",
    "i = n; while (--i > i / 2) a[i] = 1;",
    "i = n; do { if (b[i] > 0) continue; a[i] = 1; } while (--i > 0);",
])
def test_steps_in_other_tests_are_refused(body: str) -> None:
    with pytest.raises(UnsupportedScopError, match="a side effect inside an expression"):
        from_c_text(f"void f(int n, int i, double *a, double *b) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
