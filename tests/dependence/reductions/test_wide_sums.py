"""Which sums are wider than all that they add up."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.dependence import find_reductions
from polysched.dependence.reductions.wide_sums import is_wide_sum
from polysched.scop import from_c_text


@pytest.mark.parametrize(("body", "wide"), [
    ("d[0] += x[i];", True), ("d[0] -= x[i] * x[i];", True), ("d[0] += (double)x[i] * y[i];", True),
    ("d[0] += k[i];", True), ("if (k[i]) d[0] += x[i];", True),
    ("d[0] += a[i];", False), ("d[0] += x[i] * a[i];", False), ("x[0] += y[i];", False), ("x[0] += k[i];", False),
    ("d[0] *= x[i];", False), ("d[0] = d[0] > x[i] ? d[0] : x[i];", False), ("d[0] += 0.5;", False),
    ("m[0] += k[i];", False)])
def test_wide_sums(body: str, wide: bool) -> None:
    scop = from_c_text(f"""
        void f(int n, double d[1], double a[n], float x[n], float y[n], int k[n], long m[1]) {{
        #pragma scop
        for (int i = 1; i < n; i++)
            {body}
        #pragma endscop
        }}""")
    assert any(is_wide_sum(scop, found) for found in find_reductions(scop)) == wide


def test_the_order_of_a_wide_sum_is_lost_in_rounding() -> None:
    """As the docstring says; a sum in float shows that order matters there."""
    generator = np.random.default_rng(5)
    same = short = 0
    for _ in range(300):
        x = generator.standard_normal(700).astype(np.float32)
        wide = [np.float32(sum(part.astype(np.float64).tolist())) for part in (x, x[::-1])]
        same += wide[0] == wide[1]
        short += np.add.accumulate(x)[-1] == np.add.accumulate(x[::-1])[-1]
    assert same == 300
    assert short < 200
