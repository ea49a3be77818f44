"""Arrays as buffers, and those that are none."""

import pytest

from polysched.emit_gpu.arrays import buffer_of
from polysched.emit_gpu.names import device_names
from polysched.errors import UnsupportedScopError
from tests.emit_gpu.emitted import emitted
from tests.gpu.mapped import SCALE, mapped


def test_an_element_of_a_matrix() -> None:
    mapping = mapped(SCALE)
    buffer = buffer_of(mapping.scop, next(a for a in mapping.arrays if a.array.name == "A"), device_names(mapping.scop))
    assert (buffer.element, buffer.extent_names, buffer.host) == ("A[{} * A_1 + {}]", ("A_1",), "A")


@pytest.mark.parametrize(("declaration", "element"), [
    ("struct { double x; } *p", "p[i].x"), ("double **p", "p[i][0]")])
def test_what_is_not_one_piece_of_memory_is_refused(declaration: str, element: str) -> None:
    text = (f"void f(int n, {declaration}) {{\n#pragma scop\n  for (int i = 0; i < n; i++)\n    {element} = i;\n"
            "#pragma endscop\n}\n")
    with pytest.raises(UnsupportedScopError, match="cannot be copied"):
        emitted(text)


def test_three_dimensions() -> None:
    text = ("void f(int n, double A[n][4][n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n    A[i][1][2] = i;\n"
            "#pragma endscop\n}\n")
    assert "A[(x * 4 + 1) * A_2 + 2] = (int)x;" in emitted(text).program
