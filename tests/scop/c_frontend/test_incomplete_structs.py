"""Structs that are named ahead of their members: the types that named them are complete from then on (C11 6.2.5)."""

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop.c_frontend.frontend import from_c_text
from polysched.scop.scop import Scop


def read(declarations: str, parameter: str, statement: str) -> Scop:
    return from_c_text(f"{declarations}\nvoid f({parameter}, int n) {{\n#pragma scop\n"
                       f"for (int i = 0; i < n; i++) {statement}\n#pragma endscop\n}}\n")


@pytest.mark.parametrize(("declarations", "parameter", "place"), [
    ("typedef struct S *p; struct S { int m; double *x; };", "p s", "s->x[i]"),
    ("typedef struct S T; struct S { double x[9]; struct S *next; };", "T *s", "s->x[i]"),
    ("typedef const struct S *p; struct S { double *x; };", "p s", "s->x[i]"),
    ("struct T { struct S *inner; }; struct S { double *x; };", "struct T s", "s.inner->x[i]"),
    ("typedef struct S *p[3]; struct S { double *x; };", "p s", "s[2]->x[i]"),
    ("extern struct S global; struct S { double x[9]; };", "int k", "global.x[i]"),
])
def test_members_are_known(declarations: str, parameter: str, place: str) -> None:
    scop = read(declarations, parameter, f"{place} = 0;")
    (written,) = scop.statements[0].writes
    assert written.exact
    assert scop.array(written.array).dtype.name == "float64"


def test_a_volatile_one_is_refused_as_such() -> None:
    with pytest.raises(UnsupportedScopError, match="a volatile object can change"):
        read("typedef volatile struct S *p; struct S { double *x; };", "p s", "s->x[i] = 0;")


@pytest.mark.parametrize(("declarations", "parameter", "witness"), [
    ("typedef struct S *p; struct R { double *x; };", "p s", "struct S has no definition here"),
    ("typedef struct S *p; void g(void) { struct S { double *x; }; }", "p s", "struct S has no definition here"),
])
def test_what_stays_unknown_is_refused(declarations: str, parameter: str, witness: str) -> None:
    with pytest.raises(UnsupportedScopError, match="no known struct") as refused:
        read(declarations, parameter, "s->x[i] = 0;")
    assert witness in (refused.value.witness or "")


def test_const_is_kept() -> None:
    with pytest.raises(UnsupportedScopError, match="a constant is assigned"):
        read("typedef const struct S *p; struct S { double x; };", "p s", "s->x = i;")
