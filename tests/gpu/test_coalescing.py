"""The fastest coordinate walks along memory."""

from polysched.gpu.coalescing import step_of, stride_along
from polysched.scop import from_c_text
from tests.gpu.mapped import PRODUCT, SCALE, mapped


def test_rows_of_the_result_are_walked_along() -> None:
    launch = mapped(PRODUCT).launches[0]
    assert "(j)" in str(launch.coordinates[0])


def test_of_columns_the_other_loop_is_the_fastest() -> None:
    text = ("void f(int n, double A[n][n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
            "    for (int j = 0; j < n; j++)\n      A[j][i] *= 2;\n#pragma endscop\n}\n")
    assert "(i)" in str(mapped(text).launches[0].coordinates[0])


def test_the_step_between_neighbours() -> None:
    mapping = mapped(PRODUCT)
    launch = mapping.launches[0]
    assert step_of(mapping.scop.statement("S1"), launch.coordinates, 0) == (0, 1, 0)


def test_strides() -> None:
    (statement,) = from_c_text(SCALE).statements
    by_array = {access.array: access for access in statement.accesses}
    assert stride_along(by_array["A"], (0, 1)) == 1
    assert stride_along(by_array["B"], (0, 1)) is None
    assert stride_along(by_array["B"], (1, 0)) == 1
