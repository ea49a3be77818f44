"""Integers in memory: constant elements have the value that C gives them, the others are parameters or data."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.scop.c_frontend.differences import check

CONSTANTS = [
    "const unsigned char t[2] = {300, 1}; for (int i = 0; i < t[0]; i++) A[i & 63] += t[1];",
    "const signed char t[2] = {200, 1}; for (int i = 0; i < 10; i++) A[t[0] + 60 + i] += t[1];",
    "const int t[2] = {4294967295u, 1}; for (int i = 0; i < 10; i++) A[t[0] + 1 + i] += t[1];",
    "const _Bool t[2] = {4, 0}; for (int i = 0; i < t[0]; i++) A[i + t[0]] += 5;",
    "const double t[2] = {3, 4.5}; for (int i = 0; i < t[0]; i++) A[i] += t[1];",
    "const int t[4] = {4, 5}; for (int i = 0; i < t[0]; i++) A[t[2] + i] += t[1];",
    "const unsigned t[2] = {7, 3}; for (unsigned i = t[1]; i < t[0]; i++) A[i - t[1]] += i;",
]


def test_constant_elements_are_converted_to_their_type(tmp_path: Path) -> None:
    check(CONSTANTS, tmp_path, sizes=({},))


@pytest.mark.parametrize(("head", "size", "name"), [
    ("struct s { int n; int sizes[3]; } g, int A[100]", "g.n", "g_n"),
    ("struct s { int n; int sizes[3]; } *g, int A[100]", "g->n", "g_n"),
    ("struct s { int n; int sizes[3]; } *g, int A[100]", "g->sizes[1]", "g_sizes_1"),
    ("const int *n, int k, int A[100]", "*n", "n_0"),
    ("const int *n, int k, int A[100]", "n[k]", "n_k"),
])
def test_what_the_region_only_reads_is_a_parameter(head: str, size: str, name: str) -> None:
    scop = from_c_text(f"void f({head}) {{\n#pragma scop\nfor (int i = 0; i < {size}; i++) A[i] = 0;\n"
                       "#pragma endscop\n}")
    assert [p.name for p in scop.parameters][-1] == name
    assert scop.statements[0].depth == 1
    assert not scop.notes


@pytest.mark.parametrize(("head", "body"), [
    ("struct s { int n; } *g, int A[100]", "for (int i = 0; i < g->n; i++) { A[i] = 0; g->n = A[1]; }"),
    ("struct s { int n; } g, int A[100]", "for (int i = 0; i < g.n; i++) { A[i] = 0; g.n--; }"),
    ("int n[4], int A[100]", "for (int i = 0; i < n[0]; i++) { A[i] = 0; n[i] = 3; }"),
])
def test_what_the_region_may_change_is_none(head: str, body: str) -> None:
    scop = from_c_text(f"void f({head}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}")
    assert "kept whole" in scop.notes[0]
    assert not scop.parameters


@pytest.mark.parametrize("head", ["volatile int n[4], int A[100]", "volatile int *n, int A[100]"])
def test_what_others_may_change_is_refused(head: str) -> None:
    with pytest.raises(UnsupportedScopError, match="volatile object can change"):
        from_c_text(f"void f({head}) {{\n#pragma scop\nfor (int i = 0; i < n[0]; i++) A[i] = 0;\n#pragma endscop\n}}")
