"""Switches as chains of conditions."""

from pathlib import Path

import pytest
from pycparser import c_ast, c_parser

from polysched.scop.c_frontend.parse import c_text
from polysched.scop.c_frontend.rewrites.switches import MOST_CASES, without_switches
from tests.scop.c_frontend.differences import check


def rewritten(body: str) -> str:
    function = c_parser.CParser().parse(f"void f() {{ {body} }}").ext[0]
    return " ".join(c_text(c_ast.Compound(list(without_switches(function.body.block_items)))).split())


@pytest.mark.parametrize(("before", "after"), [
    ("switch (k) { case 1: case 'a': x = 1; break; case -3: y = 2; break; default: z = 3; }",
     "if ((k == 1) || (k == 'a')) { x = 1; } else if (k == (-3)) { y = 2; } else { z = 3; }"),
    ("switch (a[i] & 3) { default: z = 3; break; case RED: { x = 1; break; } }",
     "if ((a[i] & 3) == RED) { { x = 1; } } else { z = 3; }"),
    ("switch (k) { case 0: switch (j) { case 1: x = 1; break; } break; case 010: while (n) break; }",
     "if (k == 0) { if (j == 1) { x = 1; } } else if (k == 010) { while (n) break; }"),
    ("for (;;) switch (k) { case 0: continue; break; case 1: y = 1; }",
     "for (;;) if (k == 0) { continue; } else if (k == 1) { y = 1; }"),
    ("for (;;) switch (k) { case 0: x = 1; continue; case 1: { return; } case 2: if (n) return; else continue; "
     "case 3: y = 1; }",
     "for (;;) if (k == 0) { x = 1; continue; } else if (k == 1) { { return; } } else if (k == 2) { if (n) return; "
     "else continue; } else if (k == 3) { y = 1; }"),
])
def test_chains(before: str, after: str) -> None:
    assert rewritten(before) == f"{{ {after} }}"


@pytest.mark.parametrize("body", [
    "switch (k) { case 1: x = 1; case 2: y = 2; }",                                   # goes on
    "switch (k) { case 1: if (n) return; case 2: y = 2; }",
    "switch (k) { case 1: if (n) break; x = 1; break; case 2: y = 2; }",              # left early
    "switch (k++) { case 1: x = 1; }",                                                # evaluated once
    "switch (g(k)) { case 1: x = 1; }",
    "switch (k) { case 4294967297L: x = 1; }",                                        # converted to the value's type
    "switch (k) { case 0xffffffff: x = 1; }",
    "switch (k) { case 1: ; int t; t = 1; break; case 2: t = 2; }",                   # seen by another case
    "switch (k) { case 1: ; enum { T = 3 }; x = T; break; case 2: x = T; }",
    "switch (k) { case 1: ; typedef short T; x = (T)n; break; case 2: x = (T)k; }",
    "switch (k) { case 1: while (n) { case 2: x = 1; } }",                            # jumped into
    "switch (k) { case 1: l: x = 1; }",
    "switch (k) { x = 1; case 1: y = 1; }",
    "switch (k) ;",
])
def test_others_stay(body: str) -> None:
    assert "switch" in rewritten(body)


def test_long_chains_stay() -> None:
    cases = [f"case {k}: x = {k}; break;" for k in range(MOST_CASES + 1)]
    assert "switch" in rewritten(f"switch (k) {{ {' '.join(cases)} }}")
    assert "switch" not in rewritten(f"switch (k) {{ {' '.join(cases[1:])} }}")


def test_cases_compute_what_the_source_computes(tmp_path: Path) -> None:
    check(["for (int i = 0; i < 20; i++) switch (i % 4) { case 0: A[i] = 1; break; case 2: B[i] -= 3; break;"
           " default: A[i] += B[i]; }",
           "for (int i = 0; i < 30; i++) switch (C[i] % 5) { case 3: case 1: B[i] = 7; break; default: A[i]++; break;"
           " case 0: if (i < 9) continue; D[i] = 2; }",
           "for (int i = 0; i < 20; i++) { double t = 0; switch (u) { case 2: for (int j = 0; j < i; j++) t += X[j];"
           " break; case 9: t = 5; } X[i + 20] = t; }",
           "for (int i = 0; i < 20; i++) switch (C[i] & 6) { case 2: case 4: A[i] = 4; break; case -2: A[i] = 5; }"],
          tmp_path, sizes=({"n": 7, "u": 2}, {"u": 9}))
