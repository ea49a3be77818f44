"""Files that cannot be read, includes, and one region of several."""

import pytest

from polysched.errors import SourceSyntaxError, UnsupportedScopError, UsageError
from polysched.scop import all_from_c_file, from_c_file, from_c_text


@pytest.mark.parametrize("form", ['"nowhere.h"', "<nowhere.h>"])
def test_missing_include_names_it_and_the_option(form):
    with pytest.raises(SourceSyntaxError) as caught:
        from_c_text(f"#include {form}\nint x;\n", path="given.c")
    assert "'nowhere.h' was not found" in caught.value.problem
    assert "-I" in caught.value.hint
    assert caught.value.where.line == 1


def test_region_in_an_included_file(tmp_path):
    (tmp_path / "inner.h").write_text("void f(int n, int A[n]) {\n#pragma scop\nA[0] = 1;\n#pragma endscop\n}\n")
    (tmp_path / "outer.c").write_text('#include "inner.h"\n')
    with pytest.raises(UnsupportedScopError, match="no scop region of its own") as caught:
        all_from_c_file(tmp_path / "outer.c")
    assert "inner.h" in caught.value.witness


def test_unreadable_file(tmp_path):
    with pytest.raises(UsageError, match="cannot read the file"):
        from_c_file(tmp_path / "missing.c")


TWO = """void f(int n, int A[n]) {
#pragma scop
  A[0] = 1;
#pragma endscop
}
void g(int n, int A[n]) {
#pragma scop
  A[1] = 1;
#pragma endscop
}
"""


def test_one_of_several_regions_is_chosen_by_its_function():
    assert from_c_text(TWO, function="g").name == "g"
    with pytest.raises(UsageError, match="2 regions where one was asked for"):
        from_c_text(TWO)
    with pytest.raises(UsageError, match="no region in a function named `h`"):
        from_c_text(TWO, function="h")
