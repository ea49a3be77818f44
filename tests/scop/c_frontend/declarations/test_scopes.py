"""Names mean what C says: the innermost declaration, in the space of names, tags or types that it stands in."""

from __future__ import annotations

from pathlib import Path

import pytest
from pycparser import c_ast, c_parser

from polysched.scop.c_frontend.declarations.c_types import ArrayOf, CType, Pointer, Scalar, StructType
from polysched.scop.c_frontend.declarations.scopes import Origin, Scope, declarations, file_scope
from polysched.scop.dtypes import FLOAT64, INT32, UINT8, UINT32, DType
from tests.scop.c_frontend.differences import check


def declared(*levels: str) -> Scope:
    """A scope with a block for each text."""
    scope = Scope()
    for at, text in enumerate(levels):
        if at:
            scope.push()
        for item in c_parser.CParser().parse(text).ext:
            for declaration in declarations(item):
                scope.declare(declaration, Origin.LOCAL)
    return scope


def ctype_of(scope: Scope, name: str) -> CType:
    symbol = scope.lookup(name)
    assert symbol is not None
    return symbol.ctype


def dtype_of(scope: Scope, name: str) -> DType:
    ctype = ctype_of(scope, name)
    assert isinstance(ctype, Scalar)
    return ctype.dtype


def test_the_innermost_declaration_counts_until_its_block_ends() -> None:
    scope = declared("int v; double w;", "unsigned v;")
    inner = scope.lookup("v")
    assert (dtype_of(scope, "v"), dtype_of(scope, "w")) == (UINT32, FLOAT64)
    scope.pop()
    assert dtype_of(scope, "v") == INT32
    assert scope.lookup("v") is not inner
    assert scope.lookup("nothing") is None


def test_a_type_hides_a_variable_and_a_variable_a_type() -> None:
    scope = declared("int t; typedef double u;", "typedef unsigned char t; int u;")
    assert scope.lookup("t") is None
    assert scope.type_names.typedef("t").dtype == UINT8
    assert dtype_of(scope, "u") == INT32
    assert scope.type_names.typedef("u") is None
    scope.pop()
    assert dtype_of(scope, "t") == INT32
    assert scope.lookup("u") is None


def test_a_type_keeps_the_meaning_of_its_declaration() -> None:
    scope = Scope()
    parser = c_parser.CParser().parse("typedef int t; t a; typedef double t2; t2 b;").ext
    for item in parser[:2]:
        scope.declare(item, Origin.GLOBAL)
    scope.push()
    for item in c_parser.CParser().parse("typedef double t; t c;").ext:
        scope.declare(item, Origin.LOCAL)
    assert (dtype_of(scope, "a"), dtype_of(scope, "c")) == (INT32, FLOAT64)


def test_tags_and_variables_have_names_of_their_own() -> None:
    scope = declared("struct v { int a; } w; int v; enum e { e1 } e;")
    assert dtype_of(scope, "v") == INT32
    assert isinstance(ctype_of(scope, "w"), StructType)
    assert dtype_of(scope, "e") == UINT32


@pytest.mark.parametrize(("text", "values"), [
    ("enum { A, B, C };", {"A": 0, "B": 1, "C": 2}),
    ("enum { A = 5, B, C = 2, D };", {"A": 5, "B": 6, "C": 2, "D": 3}),
    ("enum { A = -3, B }; enum { C = B * 2 + A, D };", {"B": -2, "C": -7, "D": -6}),
    ("struct { enum { A = 4, B } in; } s;", {"A": 4, "B": 5}),
    ("typedef enum { A = 1 << 4, B = A | 3 } t;", {"A": 16, "B": 19})])
def test_enumeration_constants(text: str, values: dict[str, int]) -> None:
    scope = declared(text)
    assert {name: scope.type_names.constant(name) for name in values} == values
    assert all((s := scope.lookup(name)) is not None and s.is_enumerator for name in values)


def test_an_inner_constant_is_made_of_the_constants_that_it_sees() -> None:
    scope = declared("enum { A = 3, B = A + 1 };", "enum { A = 7 };", "enum { C = A * 10 };")
    assert scope.type_names.constant("C") == 70
    scope.pop()
    scope.pop()
    assert scope.type_names.constant("B") == 4


def test_a_constant_keeps_its_value_where_what_it_was_made_of_is_hidden() -> None:
    assert declared("enum { A = 3, B = A + 1, C };", "enum { A = 7 };").type_names.constant("B") == 4
    assert declared("enum { A = 3, B = A + 1, C };", "int A;").type_names.constant("C") == 5


def test_a_variable_is_no_constant() -> None:
    assert declared("enum { A = 3 };", "int A = 3;").type_names.constant("A") is None


def test_a_struct_may_be_named_ahead_of_its_members() -> None:
    scope = declared("typedef struct s *p; struct t { struct s *in; }; struct s *q; struct s { double v; };")
    for pointer in (scope.type_names.typedef("p"), ctype_of(scope, "q")):
        assert isinstance(pointer, Pointer)
        assert isinstance(pointer.target, StructType)
        assert pointer.target.member("v").dtype == FLOAT64


def test_an_inner_struct_hides_the_outer_one_of_its_tag() -> None:
    scope = declared("struct s { int v; }; struct s a;", "struct s { double w; }; struct s b;")
    first, second = ctype_of(scope, "a"), ctype_of(scope, "b")
    assert isinstance(first, StructType)
    assert isinstance(second, StructType)
    assert first.member("w") is None
    assert second.member("v") is None
    scope.pop()
    scope.declare(c_parser.CParser().parse("struct s c;").ext[0], Origin.LOCAL)
    assert ctype_of(scope, "c").member("v").dtype == INT32


def test_declarations_of_one_statement() -> None:
    scope = declared("static int a, *b, c[3];")
    assert (dtype_of(scope, "a"), type(ctype_of(scope, "b")), type(ctype_of(scope, "c"))) == (INT32, Pointer, ArrayOf)
    assert all((s := scope.lookup(n)) is not None and s.static for n in "abc")


def test_constants_of_the_program_are_cs(tmp_path: Path) -> None:
    check(["enum { A1 = 7 }; for (int i = 0; i < B1; i++) A[i] = B1 * 10 + A1;",
           "enum { A1 = A1 + 1 }; A[A1] = A1; B[0] = C1; { int A1 = 20; A[A1] = C1; A[B1] = 5; }",
           "for (int A1 = 0; A1 < B1; A1++) A[A1] = C1;",
           "enum { D1 = 2, E1 = D1 * D1, F1 }; { enum { D1 = 5 }; A[E1] = F1; }"], tmp_path,
          before="enum { A1 = 3, B1 = A1 + 1, C1 };\n", sizes=({},))


def test_each_function_sees_what_stands_in_front_of_it() -> None:
    tree = c_parser.CParser().parse("""typedef struct s *p; p q; int v; enum { A = 3 };
void f(void) {}
struct s { int a; }; typedef int t; extern double w;
void g(void) {}
typedef unsigned char u; u x;
void h(void) {}""")
    f, g, h = (item for item in tree.ext if isinstance(item, c_ast.FuncDef))
    for function in (h, f, g, f, h):   # in any order, each time anew
        scope = file_scope(tree, function)
        names = {name for name in ("f", "g", "h", "v", "w", "x", "q", "A") if scope.lookup(name) is not None}
        assert names == {f: {"f", "v", "q", "A"}, g: {"f", "g", "v", "w", "q", "A"},
                         h: {"f", "g", "h", "v", "w", "x", "q", "A"}}[function]
        pointer = ctype_of(scope, "q")
        assert isinstance(pointer, Pointer)
        assert isinstance(pointer.target, StructType) == (function is not f)
        assert (scope.type_names.typedef("t") is None) == (function is f)
        scope.declare(h.decl, Origin.LOCAL)   # a scope is the caller's own
        scope.declare(c_parser.CParser().parse("double v;").ext[0], Origin.LOCAL)
    assert dtype_of(file_scope(tree, f), "v") == INT32
