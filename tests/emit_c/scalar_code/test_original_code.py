"""The region as it stood in the file."""

from __future__ import annotations

import pytest

from polysched.emit_c.scalar_code.original_code import inside, original_lines
from polysched.scop import from_c_text
from polysched.scop.expression import build, placeholder
from polysched.scop.expression.operators import softmax
from polysched.tensorize.software.surroundings import as_part

TEXT = """void f(int n, double A[n]) {
    #pragma scop
    for (int i = 0; i < n; i++) {
#ifdef NEVER
        A[i] = 1;
#endif

        A[i] += i;
    }
    #pragma endscop
}
"""


def test_lines_without_pragmas_one_level_in() -> None:
    assert original_lines(from_c_text(TEXT)) == [
        "  for (int i = 0; i < n; i++) {", "  #ifdef NEVER", "      A[i] = 1;", "  #endif", "", "      A[i] += i;",
        "  }"]


def test_directives_stay_in_the_first_column() -> None:
    assert [inside(line) for line in ("a;", "#endif", "")] == ["  a;", "#endif", ""]


def test_a_program_that_is_no_text_has_none() -> None:
    with pytest.raises(ValueError, match="does not come from a C file"):
        original_lines(build(softmax(placeholder("X", (4, 4), "float32"))))


def test_a_part_of_a_region_stops_the_program() -> None:
    """The region's own code would run what other parts have run."""
    assert [line.split(";")[0].strip() for line in original_lines(as_part(from_c_text(TEXT)))] == [
        "void abort(void)", "abort()"]
