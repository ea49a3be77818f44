"""Relations to matrices and back."""

import islpy as isl
import pytest

from polysched.scop.openscop.matrices import matrices_of, relation_of


@pytest.mark.parametrize("text", [
    "[n] -> { [i, j] -> [i + 1, n - j] : 0 <= i < n }",
    "[n] -> { [i] -> [floor(i / 3), i mod 3] }",
    "[n] -> { [i] -> [j] : j = i or j = 2i + n }",
    "[n] -> { [i] -> [j] : 0 <= j <= 3 and exists a : i = 2a + j }",
    "[n] -> { [] -> [] : n > 3 }",
])
def test_round_trip(text: str) -> None:
    relation = isl.Map(text)
    assert relation_of(matrices_of(relation), ("n",)).is_equal(relation)


def test_rows_are_those_of_other_tools() -> None:
    (matrix,) = matrices_of(isl.Map("[n] -> { [i, j] -> [j, i + n] }"))
    assert str(matrix).split("\n")[0] == "2 7 2 2 0 1"
    assert matrix.rows == ((0, -1, 0, 0, 1, 0, 0), (0, 0, -1, 1, 0, 1, 0))
