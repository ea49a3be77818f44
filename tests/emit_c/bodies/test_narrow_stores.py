"""Short elements that a condition guards are stored by scalar code; longer ones keep their lanes."""

from __future__ import annotations

import pytest

from polysched import optimize
from polysched.scop import from_c_text

TEXT = """void f(int n, TYPE *restrict r, const TYPE *restrict a, const int *restrict m) {
#pragma scop
  for (int i = 0; i < n; i++) BODY
#pragma endscop
}
"""


@pytest.mark.parametrize(("kind", "body", "lanes"), [
    ("unsigned char", "if (m[i]) r[i] = a[i];", False),
    ("short", "if (m[i]) r[i] += a[i]; else if (m[i] < -3) r[i] = 1;", False),
    ("int", "if (m[i]) r[i] = a[i];", True),
    ("double", "if (m[i]) r[i] = a[i];", True),
    ("short", "if (m[i]) r[i] = a[i]; else if (m[i + 1]) r[i] = 2; else r[i] += 3;", True),
    ("short", "if (m[i]) r[i] = a[i]; else r[i + n] = 3;", False),
    ("unsigned char", "r[i] = m[i] ? a[i] : 3;", True),
])
def test_which_loops_are_marked_for_lanes(kind: str, body: str, lanes: bool) -> None:
    text = optimize(from_c_text(TEXT.replace("TYPE", kind).replace("BODY", body))).text
    assert ("simd" in text or "vector_size" in text) is lanes, text
