"""The whole mapping, and what is refused."""

import pytest

from polysched.dependence import check_legal
from polysched.errors import UnsupportedScopError
from tests.gpu.mapped import STENCIL, mapped


def test_the_mapping_is_a_legal_tree() -> None:
    mapping = mapped(STENCIL, "pluto")
    check_legal(mapping.schedule.dependences, mapping.tree)
    assert "parallel=1" in str(mapping.tree)


@pytest.mark.parametrize(("subscript", "words"), [("k[i]", "where the array A ends"),
                                              ("i - 1", "in front of its first element")])
def test_arrays_without_ends_are_refused(subscript: str, words: str) -> None:
    text = (f"void f(int n, double *A, int k[n]) {{\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
            f"    A[{subscript}] = k[i];\n#pragma endscop\n}}\n")
    with pytest.raises(UnsupportedScopError, match=words):
        mapped(text)
