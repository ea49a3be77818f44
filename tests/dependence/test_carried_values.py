"""Values of the iteration before: which scalars give way to them, and the same results either way."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.dependence.carried_values import substitute_carried
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.scop import Scop

# Bodies over floats `a`, `b`, `c`, rows `A`, `B`, and scalars with values from before, `x`, `y`.
REPLACED = {
    "read, then set": "for (int i = 0; i < n; i++) { a[i] = b[i] + x; x = b[i]; }",
    "two iterations before": "for (int i = 0; i < n; i++) { a[i] = b[i] + x - y; y = x; x = b[i]; }",
    "a value of a value": "for (int i = 0; i < n; i++) { float s = b[i] * c[i]; a[i] = s + x; x = s; }",
    "set in the region": "x = b[n - 1]; for (int i = 0; i < n; i++) { a[i] = b[i] + x; x = b[i] * c[i]; }",
    "backwards through memory": "for (int i = 0; i < n; i++) { a[i] = x; x = b[n - 1 - i]; }",
    "per row": "for (int i = 0; i < n; i++) { float p = c[i];"
               "for (int j = 0; j < n; j++) { A[i][j] = p; p = B[i][j]; } }",
    "rounded": "int k = 3; for (int i = 0; i < n; i++) { a[i] = k; k = b[i] * 100; }",
    "a later start": "for (int i = 2; i < n; i++) { a[i] += x; x = b[i - 2]; }",
    "a recurrence in an array": "for (int i = 0; i < n; i++) { b[i] = x; x = b[i] + c[i]; }",
    "read behind the loop": "for (int i = 0; i < n; i++) { a[i] = x; x = b[i]; } c[0] = x;",
}
KEPT = {
    "overwritten meanwhile": "for (int i = 0; i < n; i++) { a[i] = x * c[i]; x = b[i] + c[i]; b[i] = a[i]; }",
    "a recurrence": "for (int i = 0; i < n; i++) { a[i] = x; x = x * b[i] + c[i]; }",
    "set under a condition": "for (int i = 0; i < n; i++) { a[i] = x; if (c[i] > 0) x = b[i]; }",
    "a division": "for (int i = 0; i < n; i++) { a[i] = x; x = b[i] / c[i]; }",
}


def program(body: str) -> Scop:
    arrays = ", ".join(f"float {name}[restrict n]{'[n]' if name in 'AB' else ''}" for name in "abcAB")
    return from_c_text(f"void f(int n, {arrays}, float x, float y)\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


def results(scop: Scop, given: Scop, n: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(n)
    arrays = {a.name: np.array(draw.integers(-9, 9, tuple(extents_of(a, {"n": n}))) / 4, a.dtype.name)
              for a in given.arrays}
    execute(scop, {"n": n}, {a.name: arrays[a.name] for a in scop.arrays})
    return {a.name: arrays[a.name] for a in given.arrays if not a.is_temporary}


@pytest.mark.parametrize("name", REPLACED)
def test_values_of_the_iteration_before_are_computed_anew(name: str) -> None:
    scop = program(REPLACED[name])
    changed = substitute_carried(analyse(scop)).scop
    assert changed is not scop
    for n in (1, 2, 3, 7):
        first, second = results(scop, scop, n), results(changed, scop, n)
        for array, expected in first.items():
            np.testing.assert_array_equal(second[array], expected, err_msg=f"{array}, n = {n}")


@pytest.mark.parametrize("name", KEPT)
def test_scalars_whose_value_is_needed(name: str) -> None:
    scop = program(KEPT[name])
    assert substitute_carried(analyse(scop)).scop is scop


def test_it_is_done_where_a_loop_gets_lanes_by_it() -> None:
    scop = program(REPLACED["two iterations before"])
    assert "simd" in optimize(scop).text
    assert "vector_size(32)" in optimize(scop, PipelineOptions(parallel=False, vector_bits=256)).text
    assert "simd" not in optimize(scop, PipelineOptions(expand=False)).text
    assert "x = b[i] + c[i]" in optimize(program(REPLACED["a recurrence in an array"])).text
