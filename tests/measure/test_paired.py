"""What is compiled as the original: the file, or the text of a Scop that was read from text."""

from __future__ import annotations

import pytest

from polysched.errors import CompileError, UsageError
from polysched.measure import MeasureOptions, Subject, compare_and_time
from polysched.scop import from_c_text

TEXT = """static double scale = 3.0;
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = A[i] * scale;
#pragma endscop
}
"""


@pytest.mark.parametrize("path", ["<text>", "original.c", "nowhere/a b.c"])
def test_a_scop_from_text_is_verified_and_timed(path: str) -> None:
    scop = from_c_text(TEXT, path=path)
    for factor, verified in (("scale", True), ("2.0", False)):
        subject = Subject(scops=(scop,), transformed_text=TEXT.replace("* scale", f"* {factor}"))
        found = compare_and_time(subject, {"n": 100}, options=MeasureOptions(pairs=3, budget_seconds=0.1, threads=1))
        assert found.verified == verified
        assert (found.timing is not None) == verified
        assert found.source == path


def test_text_that_does_not_compile_is_refused() -> None:
    scop = from_c_text(TEXT)
    with pytest.raises(CompileError, match="the code emitted for <text>"):
        compare_and_time(Subject(scops=(scop,), transformed_text="int f("), {"n": 100})


def test_the_text_of_a_region_alone_is_refused_with_the_way_to_a_file() -> None:
    scop = from_c_text(TEXT)
    with pytest.raises(UsageError, match="a region, and no C file") as refused:
        compare_and_time(Subject(scops=(scop,), transformed_text="{\n}\n"), {"n": 100})
    assert "optimize(scop).subject()" in str(refused.value.hint)
