"""A definition's head, as whoever calls the function needs it."""

import pytest
from pycparser import c_ast

from polysched.scop.c_frontend.declarations.heads import signature_of
from polysched.scop.dtypes import FLOAT64, INT32, UINT8
from polysched.scop.signature import FunctionParameter, FunctionSignature, ParameterKind
from tests.scop.c_frontend.read_region import region_in

ARRAY, INTEGER, FLOATING, OTHER = (ParameterKind.ARRAY, ParameterKind.INTEGER, ParameterKind.FLOATING,
                                   ParameterKind.OTHER)


def signature(head: str, ahead: str = "int g;") -> FunctionSignature:
    tree, region, scope = region_in(f"{ahead}\n{head} {{\n#pragma scop\ng = 1;\n#pragma endscop\n}}\n")
    assert isinstance(tree.ext[-1], c_ast.FuncDef)
    return signature_of(region.function, scope)


def only(head: str, ahead: str = "int g;") -> FunctionParameter:
    *_, last = signature(f"void f({head})", ahead).parameters
    return last


@pytest.mark.parametrize(("head", "kind", "extents", "restrict", "constant"), [
    ("int n", INTEGER, (), False, False),
    ("const double d", FLOATING, (), False, True),
    ("int *a", ARRAY, (None,), False, False),
    ("const int *restrict a", ARRAY, (None,), True, True),
    ("int *const a", ARRAY, (None,), False, False),
    ("int n, int a[n + 1]", ARRAY, ("n + 1",), False, False),
    ("int n, int a[restrict n][3]", ARRAY, ("n", "3"), True, False),
    ("int n, const int (*restrict a)[n]", ARRAY, (None, "n"), True, True),
    ("int a[]", ARRAY, (None,), False, False),
    ("int **a", OTHER, (), False, False),
    ("int *a[3]", OTHER, (), False, False),
    ("struct s *p", OTHER, (), False, False),
    ("void *p", OTHER, (), False, False),
    ("int (*call)(int)", OTHER, (), False, False)])
def test_parameters(head: str, kind: ParameterKind, extents: tuple[str | None, ...], restrict: bool,
                    constant: bool) -> None:
    found = only(head, "int g; struct s { int v; };")
    assert (found.kind, found.c_extents, found.restrict, found.constant) == (kind, extents, restrict, constant)
    assert found.c_declaration.replace("* ", "*") == head.rpartition(", ")[2]


def test_names_of_types_are_followed() -> None:
    ahead = "int g; typedef unsigned char byte; typedef double rows[4]; typedef byte *bytes;"
    assert (only("byte b", ahead).kind, only("byte b", ahead).dtype) == (INTEGER, UINT8)
    found = only("rows *r", ahead)
    assert (found.kind, found.dtype, found.c_extents) == (ARRAY, FLOAT64, (None, "4"))
    assert only("rows r", ahead).c_extents == ("4",)
    assert (only("bytes b", ahead).kind, only("bytes b", ahead).dtype) == (ARRAY, UINT8)


@pytest.mark.parametrize(("head", "returned", "static", "count"), [
    ("void f(void)", "void", False, 0), ("static int f()", "int", True, 0),
    ("const double *f(int n, int *a)", "const double *", False, 2),
    ("unsigned long f(int n)", "unsigned long", False, 1)])
def test_results(head: str, returned: str, static: bool, count: int) -> None:
    found = signature(head)
    assert (found.name, found.return_type, found.static, len(found.parameters)) == ("f", returned, static, count)


def test_an_old_definition_has_the_types_below_its_head() -> None:
    found = signature("int f(a, n) int n; double *a;")
    assert [(p.name, p.kind, p.dtype) for p in found.parameters] == [("a", ARRAY, FLOAT64), ("n", INTEGER, INT32)]
