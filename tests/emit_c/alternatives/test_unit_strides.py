"""Strides that are parameters: which programs have a version for strides of 1, and what its accesses are."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.emit_c.alternatives.unit_strides import unit_strides
from polysched.scop import from_c_text

TEXT = """void f(int n, int s, int t, double *restrict x, double *restrict y) {{
#pragma scop
  for (int i = 0; i < n; i++)
    {body}
#pragma endscop
}}
"""


def test_strided_arrays_become_contiguous() -> None:
    made = unit_strides(from_c_text(TEXT.format(body="y[i * t] += 2.0 * x[i * s];")))
    assert made is not None
    assert made.condition == "s == 1 && t == 1"
    assert [len(array.extents) for array in made.scop.arrays if not array.is_scalar] == [1, 1]
    (write,) = made.scop.statements[0].writes
    expected = isl.Map("[n, s, t] -> { S0[i] -> y[i] : 0 <= i < n }")
    domain = made.scop.statements[0].domain
    assert write.relation.intersect_domain(domain).is_equal(expected.intersect_domain(domain))


@pytest.mark.parametrize("body", [
    "y[i] += 2.0 * x[i];",
    "y[2 * i] += 2.0 * x[2 * i];",
    "for (int j = 0; j < s; j++) y[i * s + j] += 2.0 * x[i * s + j];"])
def test_other_programs_have_no_such_version(body: str) -> None:
    assert unit_strides(from_c_text(TEXT.format(body=body))) is None
