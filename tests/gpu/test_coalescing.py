"""The fastest coordinate walks along memory."""

from polysched.gpu.coalescing import step_of, stride_along
from polysched.scop import from_c_text
from tests.gpu.mapped import PRODUCT, SCALE, mapped
from tests.gpu.stencils import PLANE


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


def test_subscripts_modulo_a_number_do_not_hide_neighbours() -> None:
    (statement,) = from_c_text(PLANE).statements
    assert [stride_along(access, (0, 0, 1)) for access in statement.accesses] == [1, 1, 1, 1]
    assert {stride_along(access, (1, 0, 0)) for access in statement.accesses} == {None}
    assert {stride_along(access, (2, 0, 0)) for access in statement.accesses} == {0}
