"""Control on data inside one statement runs as C runs it: nested loops, their own break and continue, declarations."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.scop import AccessKind
from tests.scop.c_frontend.differences import check
from tests.scop.c_frontend.read_region import in_function

SIZES = ({"n": 9, "m": 3, "c": 9},)
PROGRAMS = [
    "for (int i = 0; i < n; i++) { int k = A[i] & 15; while (k > 0) { k -= 3; if (k == 4) break; B[k + 9] += "
    "i; } D[i] = k; }",
    "for (int i = 0; i < n; i++) { int k = A[i] & 15; do { k -= 3; if (k & 1) continue; B[k + 9] += i; } while"
    " (k > 2); D[i] = k; }",
    "for (int i = 0; i < n; i++) if (A[i] > 0) { for (int k = 0; k < (A[i] & 7); k++) { if (k == 3) continue; "
    "B[k] += k; } D[i]++; }",
    "for (int i = 0; i < n; i++) for (int k = 0; k < 60; k++) { if (k > C[i] % 9) break; if (k == 2) continue;"
    " B[k] += i; }",
    "for (int i = 0; i < n; i++) for (int k = C[i] % 9; k; k--) { B[k] = i; for (int q = k; q < 9; q += 2) { "
    "if (q > 6) break; A[q]++; } }",
    "int k = 0; while (A[k] != 3 && k < 40) { if (A[k] < 0) { k += 2; continue; } A[k] = -A[k]; k++; } B[k] = "
    "5; B[60] = k;",
    "int k; for (k = 0; k < 30; k += 1 + (C[k] & 3)) { int t = A[k]; { int t = 4; B[k] = t; } if (t > 9) "
    "continue; D[k] = t; } B[60] = k;",
    "for (int i = 0; i < n; i++) { int hit = 0; for (int k = 0; k < C[i] % 5; k++) for (int q = 0; q < 4; q++)"
    " { if (A[k * 4 + q] < 0) { hit = 1; break; } B[k] += q; } D[i] = hit; }",
    "int k = 3, q = 40; while (k < q) { A[k] += q; if (A[k] & 1) k += 2; else q--; if (k == 11) break; } B[1] "
    "= k; B[2] = q;",
    "unsigned char k = c; while (k < 250) { k += 40; if (k < 40) break; A[k & 63] = k; } B[0] = k;",
    "for (int i = 0; i < n; i++) if (A[i] < 5) { if (B[i] < 3) D[i] = 1; else if (C[i] > 99) D[i] = 2; else "
    "D[i] = 3; } else { int t = A[i]; A[i] = B[i]; B[i] = t; }",
    "for (int i = 0; i < n; i++) { int k = 0; while (1) { k++; if (k > C[i] % 7) break; while (1) { B[k]++; "
    "break; } A[k] = k; } }",
    "int t = 0; for (int i = 0; i < n; i++) { for (int k = t & 7; k < 12; k += 3) t += A[k]; D[i] = t; }"]


def test_programs(tmp_path: Path) -> None:
    check(PROGRAMS, tmp_path, sizes=SIZES)


def test_what_may_happen_is_no_certain_write() -> None:
    scop = from_c_text(in_function(
        "for (int i = 0; i < n; i++) { int k = A[i]; while (k > 0) { B[i] = k; k--; } A[i] = k; }",
        head="int n, int *restrict A, int *restrict B"))
    kinds = {(a.array, a.kind) for s in scop.statements for a in s.writes}
    assert ("B", AccessKind.MAY_WRITE) in kinds
    assert ("A", AccessKind.MUST_WRITE) in kinds
    assert len(scop.notes) == 1


def test_rows_of_a_loop_on_data_stay_apart() -> None:
    scop = from_c_text(in_function(
        "for (int i = 0; i < n; i++) for (int k = p[i]; k < p[i + 1]; k++) y[i] += v[k];",
        head="int n, int *restrict p, double *restrict v, double *restrict y"))
    assert {a.array for s in scop.statements for a in s.writes if a.array != "k"} == {"y"}
    assert all(a.exact for s in scop.statements for a in s.accesses if a.array == "y")


@pytest.mark.parametrize(("inside", "problem"), [
    ("for (int i = 0; i < n; i++) { if (A[i]) goto end; end: A[i] = 1; }", "goto"),
    ("while (A[0]) { A[0]--; return; }", "`return` inside the region"),
    ("while (A[0]) switch (A[0]) { case 1: A[0] = 0; case 2: A[1] = 0; }", "switch"),
    ("while (A[0]) g(A);", "must have side effects"),
    ("while (A[0] > 2) n + 1;", "no effect")])
def test_what_no_statement_can_hold(inside: str, problem: str) -> None:
    text = "void g(int *);\n" + in_function(inside, head="int n, int *A")
    with pytest.raises(UnsupportedScopError, match=problem):
        from_c_text(text)
