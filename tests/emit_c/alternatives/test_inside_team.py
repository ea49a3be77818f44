"""Code on threads, and code on one thread for where a team runs the region."""

from __future__ import annotations

from polysched.emit_c.alternatives.inside_team import alone_inside_team
from polysched.pipeline import PipelineOptions, optimize
from polysched.scop import from_c_text

TEXT = "void f(int n, double *restrict a) {\n#pragma scop\n" \
       "for (int i = 0; i < n; i++) a[i] = 2.0 * a[i];\n#pragma endscop\n}\n"


def test_the_team_asks_first() -> None:
    threads, alone = (optimize(from_c_text(TEXT), PipelineOptions(parallel=p)).source for p in (True, False))
    text = alone_inside_team(threads, alone).text
    first, second = text.split("} else {", 1)
    assert "if (omp_in_parallel()) {" in first
    assert "#pragma omp parallel" not in first
    assert "#pragma omp parallel" in second
