"""The element types that say how many lanes a vector has."""

from __future__ import annotations

import pytest

from polysched.emit_c.scalar_code.vector_dtypes import computed_dtypes
from polysched.scop import from_c_text


@pytest.mark.parametrize(("body", "types"), [
    ("F[i] = F[i] * 2.0f;", {"float32"}),
    ("F[i] = F[i] * 2.0;", {"float32", "float64"}),        # computed in doubles
    ("F[i] = F[i] + (float)1.5;", {"float32"}),            # a constant is converted once
    ("F[i] = 0.0;", {"float32"}),
    ("F[i] += 0.1;", {"float32", "float64"}),
    ("D[i] = F[i];", {"float32", "float64"}),
    ("B[i] = B[i] + 1;", {"int8", "int32"}),
    ("if (D[i] > 0) B[i] = 1;", {"int8", "float64", "int32"}),
])
def test_types_of_a_body(body: str, types: set[str]) -> None:
    scop = from_c_text(f"""void f(int n, float F[n], double D[n], signed char B[n]) {{
#pragma scop
  for (int i = 0; i < n; i++) {body}
#pragma endscop
}}""")
    assert {dtype.name for dtype in computed_dtypes(scop.statements[0])} == types
