"""Types of expressions are those of C."""


from polysched.scop import body
from tests.scop.c_frontend.one_region import one


def test_types_are_those_of_c():
    scop = one("for (int i = 0; i < n; i++) x[i] = x[i] * 0.5f + c / 2 - u * 1.0;")
    (assign,) = scop.statements[0].body
    subtraction = assign.value
    assert subtraction.dtype.name == "float64"
    assert subtraction.left.dtype.name == "float32"
    assert subtraction.left.left.right == body.Literal("0.5f", 0.5, subtraction.left.dtype)
    assert subtraction.left.right.dtype.name == "int32"
    assert assign.dtype.name == "float32"
