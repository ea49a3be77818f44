"""Local arrays and structures of a function around a region: which of them nothing reads after it."""

from __future__ import annotations

import pytest
from pycparser import CParser

from polysched.scop import from_c_text
from polysched.scop.c_frontend.declarations.liveness import Effect, first_effect

PROGRAM = """
typedef struct {{ double x, y; }} point;
double *kept;
void take(double *a);
void f(int n, double r[n][n], double u[n][n]) {{
  double row[100];
  {before}
#pragma scop
  for (int i = 0; i < n; i++) {{
    for (int j = 0; j < n; j++)
      row[j] = r[i][j];
    for (int j = 1; j < n; j++)
      u[i][j] = row[j] + row[j - 1];
  }}
#pragma endscop
  {after}
}}
"""
DEAD = {"nothing else": ("", ""), "set before": ("row[3] = 1;", ""), "read before": ("u[0][0] = row[n];", ""),
        "its size": ("", "u[0][0] = n;")}
ALIVE = {"read after": ("", "u[0][0] = row[3];"), "handed on after": ("", "take(row);"),
         "handed on before": ("take(row);", ""), "kept before": ("kept = row;", ""),
         "address of an element": ("kept = &row[2];", ""),
         "through a pointer": ("double *p = row + 1;", "u[0][0] = p[1];"),
         "size of the whole": ("", "u[0][0] = sizeof(row);"), "written one by one": ("", "row[2] += 1;"),
         "in a loop around": ("for (int t = 0; t < 2; t++) { u[0][0] = row[1];", "}")}


@pytest.mark.parametrize("case", [*DEAD, *ALIVE])
def test_arrays(case: str) -> None:
    before, after = {**DEAD, **ALIVE}[case]
    scop = from_c_text(PROGRAM.format(before=before, after=after))
    assert scop.array("row").is_temporary is (case in DEAD)


@pytest.mark.parametrize(("declared", "after", "dead"), [
    ("double row[100];", "", True), ("static double row[100];", "", False), ("double row[100];", "return;", True),
    ("double row[100], *p = row;", "", False)])
def test_storage(declared: str, after: str, dead: bool) -> None:
    text = PROGRAM.format(before="", after=after).replace("double row[100];", declared)
    assert from_c_text(text).array("row").is_temporary is dead


def test_what_the_region_only_writes_is_its_result() -> None:
    text = """void f(int n) {
  double row[100];
#pragma scop
  for (int i = 0; i < n; i++)
    row[i] = i;
#pragma endscop
}"""
    assert not from_c_text(text).array("row").is_temporary


@pytest.mark.parametrize(("after", "dead"), [("", True), ("u[0] = at.x;", False), ("u[0] = size(&at);", False)])
def test_members_of_structures(after: str, dead: bool) -> None:
    text = f"""typedef struct {{ double x, y; }} point;
double size(point *p);
void f(int n, double u[n], double v[n]) {{
  point at;
#pragma scop
  for (int i = 0; i < n; i++) {{
    at.x = v[i];
    at.y = 2 * v[i];
    u[i] = at.x + at.y;
  }}
#pragma endscop
  {after}
}}"""
    scop = from_c_text(text)
    assert [a.is_temporary for a in scop.arrays if a.name.startswith("at")] == [dead, dead]


@pytest.mark.parametrize(("after", "first"), [
    ("s = 1; u[0] = s;", Effect.SET), ("other = 1; u[0] = s;", Effect.READ), ("other = s = 2;", Effect.SET),
    ("s = s + 1;", Effect.READ), ("s += 1;", Effect.READ), ("u[(int)s] = 1;", Effect.READ), ("return;", Effect.SET),
    ("return s;", Effect.READ), ("if (n) s = 1; u[0] = s;", Effect.READ), ("other = 1;", Effect.NOTHING),
    ("if (n) s = 1; else s = 2; u[0] = s;", Effect.SET), ("for (n = 0; n < 9; n++) s = 1; u[0] = s;", Effect.READ)])
def test_what_happens_to_a_variable_first(after: str, first: Effect) -> None:
    function = CParser().parse(f"double f(int n, double s, double other, double *u) {{ {after} }}").ext[0]
    assert first_effect(function.body.block_items, "s") is first
