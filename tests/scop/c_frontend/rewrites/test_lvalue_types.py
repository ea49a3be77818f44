"""Types of lvalues before names are bound."""

import pytest
from pycparser import c_parser

from polysched.scop import dtypes
from polysched.scop.c_frontend.declarations.c_types import Pointer, Scalar
from polysched.scop.c_frontend.declarations.scopes import Origin, Scope
from polysched.scop.c_frontend.rewrites.lvalue_types import LvalueTypes


def types_of(body: str) -> list[object]:
    before = "struct s { int k; double *d; }; struct s *p; float a[3][4];"
    tree = c_parser.CParser().parse(f"{before} void f() {{ {body} }}")
    scope = Scope()
    for item in tree.ext[:-1]:
        scope.declare(item, Origin.GLOBAL)
    items = tree.ext[-1].body.block_items
    types = LvalueTypes(scope)
    types.declare(items)
    return [types.of(item) for item in items]


@pytest.mark.parametrize(("lvalue", "dtype"), [
    ("p->k", dtypes.INT32), ("p[2].k", dtypes.INT32), ("(*p).k", dtypes.INT32), ("*(p->d + 2)", dtypes.FLOAT64),
    ("a[1][2]", dtypes.FLOAT32), ("*a[1]", dtypes.FLOAT32),
])
def test_numbers(lvalue: str, dtype: dtypes.DType) -> None:
    assert types_of(f"{lvalue};") == [Scalar(dtype)]


def test_a_pointer_and_what_is_not_known() -> None:
    pointer, nothing, missing = types_of("p->d; z; p->z;")
    assert isinstance(pointer, Pointer)
    assert nothing is None
    assert missing is None


def test_what_a_step_back_undoes() -> None:
    types = LvalueTypes(Scope())
    types.declare(c_parser.CParser().parse("void f() { unsigned k; long l; char *p; char c; short s; float x; }").ext)
    assert [name for name in "klpcsxz" if types.steps_back(name)] == ["k", "l", "p"]


def test_a_name_with_two_meanings_has_no_type() -> None:
    assert types_of("{ int p; } p; { long q; } { int q; } q;")[1::3] == [None, None]
