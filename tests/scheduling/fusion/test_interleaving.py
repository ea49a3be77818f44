"""Statements that share no element but every cache line are told from those that share elements, or nothing."""

from __future__ import annotations

import pytest

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
    found = Interleaving(scop)
    assert found.between([one], [other]) is together
    assert found.between([other], [one]) is together
    assert not found.between([one], [])
