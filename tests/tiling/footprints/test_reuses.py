"""The directions in which instances share values, and what their values have in common."""

from __future__ import annotations

from polysched.dependence import analyse
from polysched.scop import from_c_text
from polysched.tiling.footprints.reuses import Reuse, reuses_of, separate, share_nothing


def found(body: str) -> dict[str, Reuse]:
    dependences = analyse(from_c_text(f"""void f(int n, double A[n][n], double B[n][n], double C[n][n], double s[n]) {{
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) {body}
#pragma endscop
}}"""))
    (statement,) = dependences.scop.statements
    return {reuse.name: reuse for reuse in reuses_of(dependences, statement)}


def test_operands_and_the_chain_of_a_sum() -> None:
    reuses = found("C[i][j] += A[i][k] * B[k][j];")
    kernels = {own.kernel: bool(own.readers) for own in reuses.values()}
    assert kernels == {((0, 1, 0),): True, ((1, 0, 0),): True, ((0, 0, 1),): False}
    a, b = (own for own in reuses.values() if own.readers)
    assert share_nothing(a.all_values, b.all_values)


def test_accesses_with_one_kernel_are_one_reuse() -> None:
    both = next(own for own in found("C[i][j] += A[i][k] * B[i][k];").values() if own.readers)
    assert (both.kernel, separate(both.values)) == (((0, 1, 0),), 2)
    same = next(own for own in found("C[i][j] += A[i][k] * A[i][k];").values() if own.readers)
    assert separate(same.values) == 1
