"""Statements that share no element but every cache line are told from those that share elements, or nothing."""

from __future__ import annotations

import pytest

import polysched
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.scheduling.fusion.interleaving import Interleaving
from polysched.scop import from_c_text

TEXT = """void f(int n, float a[{length}], float b[{length}], double s[1]) {{
#pragma scop
  for (int i = 0; i < n; i++) {{
    {first}
    {second}
  }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(("first", "second", "together"), [
    ("a[2 * i] = 1;", "a[2 * i + 1] = 2;", True),
    ("a[2 * i] = b[2 * i];", "a[2 * i + 1] = b[2 * i + 1];", True),
    ("a[i] = 1;", "a[i] = 2;", False),                    # the same elements
    ("a[i] = 1;", "b[i] = 2;", False),                    # other arrays
    ("a[i] = 1;", "a[n + i] = 2;", False),                # other lines
    ("a[3] = 1;", "a[4] = 2;", False),                    # one line only
    ("a[2 * i] = 1;", "a[2 * i + 65] = 2;", False),       # further apart than a line
    ("s[0] += a[i];", "s[0] += b[i];", False),
])
def test_neighbours_all_over_an_array(first: str, second: str, together: bool) -> None:
    scop = from_c_text(TEXT.format(first=first, second=second, length="2 * n + 99"))
    one, other = (s.name for s in scop.statements)
    found = Interleaving(scop, line_bytes=64)
    assert found.between([one], [other]) is together
    assert found.between([other], [one]) is together
    assert not found.between([one], [])


RECORDS = """struct point {{ float x, y, z; float v[4]; double *far; }};
struct all {{ float *a, *b; }};
void f(int n, struct point p[n], struct point q[n], float a[n][3], float b[n][n], struct all *s, float t[2]) {{
#pragma scop
  for (int i = 1; i < n - 1; i++) {{
    {first}
    {second}
  }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(("first", "second", "together"), [
    ("p[i].x = 1;", "p[i].y = 2;", True),
    ("p[i].x += q[i].z;", "p[i].y = 2;", True),
    ("p[i].x = q[i].z;", "a[i][0] = q[i].y;", True),
    ("p[i].v[0] = 1;", "p[i].v[1] = 2;", True),
    ("p[i].v[0] = 1;", "p[i].x = 2;", True),
    ("a[i][0] = 1;", "a[i][2] = 2;", True),
    ("b[i][0] = 1;", "b[i][3] = 2;", True),
    ("b[i][0] = 1;", "b[i][63] = 2;", False),        # another line of a row
    ("p[i].x = 1;", "q[i].y = 2;", False),           # other structs
    ("p[i].x = 1;", "p[i].x = 2;", False),           # the same elements
    ("p[0].x = 1;", "p[0].y = 2;", False),           # one line only
    ("p[i].x = 1;", "p[i + 1].y = 2;", False),       # shifted: another box
    ("s->a[i] = 1;", "s->b[i] = 2;", False),         # arrays that a struct points to
    ("t[0] += p[i].x;", "t[1] += a[i][0];", False)])
def test_members_of_records_and_short_rows(first: str, second: str, together: bool) -> None:
    scop = from_c_text(RECORDS.format(first=first, second=second))
    one, other = (s.name for s in scop.statements)
    found = Interleaving(scop, line_bytes=64)
    assert found.in_records([one], [other]) is together
    assert found.in_records([other], [one]) is together
    assert not found.between([one], [other])


@pytest.mark.parametrize(("statements", "loops"), [
    ("p[i].x = p[i - 1].x + a[i][0]; p[i].y = 2 * a[i][0];", 1),
    ("p[i].y = 2 * a[i][0]; p[i].x = p[i - 1].x + a[i][0];", 1),
    ("p[i].x = p[i - 1].x + a[i][0]; p[i].y = p[i - 1].y * a[i][0]; p[i].z = 3;", 1),
    ("p[i].x = p[i - 1].x + a[i][0]; p[i].y = 2 * p[i].x;", 1),
    ("p[i].x = p[i - 1].x + a[i][0]; q[i].y = 2 * a[i][1];", 2),              # other structs
    ("p[i].x = p[i - 1].x + a[i][0]; p[i].y = 2 / (a[i][0] + p[i].z);", 2),   # divisions in lanes
])
def test_members_that_are_computed_in_order_keep_others_in_their_loop(statements: str, loops: int) -> None:
    scop = from_c_text(RECORDS.format(first=statements, second=""))
    made = polysched.optimize(scop, polysched.PipelineOptions(parallel=False))
    assert len([node for node in walk_nodes(made.source.loops) if isinstance(node, For)]) == loops, made.text
