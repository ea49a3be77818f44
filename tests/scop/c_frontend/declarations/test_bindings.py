"""What a region does with every name: which it writes, counts with, reads elsewhere, and which decide a place."""

from collections.abc import Iterable

import pytest
from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.scop.c_frontend.declarations import bindings
from polysched.scop.c_frontend.declarations.c_types import ArrayOf
from polysched.scop.c_frontend.declarations.scopes import Symbol
from polysched.scop.c_frontend.parse import everything
from tests.scop.c_frontend.read_region import bound, in_function, region_in


def names(symbols: Iterable[Symbol]) -> str:
    return " ".join(sorted(s.name for s in symbols))


@pytest.mark.parametrize(("inside", "written", "iterators", "by_the_body"), [
    ("for (int i = 0; i < n; i++) A[i] = 1;", "i", "i", ""),
    ("for (int i = 0; i < n; i++) i += A[i];", "i", "i", "i"),
    ("int k; for (k = 3; k < n; k += 2) m = k;", "k m", "k", "m"),
    ("for (; n > 0; n--) A[n] = 2;", "n", "n", ""),
    ("for (int i = 0, j = 9; i < j; i++, j--) A[i] = j;", "i j", "", "i j"),
    ("for (int i = 0; i < n; m++) i++;", "i m", "i", "i m"),
    ("n = 3; for (n = 0; n < m; n++) A[n] = 0;", "n", "n", "n"),
    ("(*A)++; A[n] = 3; x[0] += 2;", "", "", ""),
    ("m = n = 4; ++*A;", "m n", "", "m n"),
    ("struct { int v; } s; s.v = 3;", "s", "", "s"),
    ("while (n-- > 0) ;", "n", "", "n")])
def test_what_is_written_and_what_counts(inside: str, written: str, iterators: str, by_the_body: str) -> None:
    found, _ = bound(inside)
    assert (names(found.written), names(found.iterators), names(found.body_written)) == (
        written, iterators, by_the_body)


@pytest.mark.parametrize(("inside", "affine"), [
    ("x[0] = n + m;", ""),
    ("x[n] = m;", "n"),
    ("if (n > 3) x[0] = m;", "n"),
    ("for (int i = m; i < 9; i += n) x[0] = 1;", "i m n"),
    ("x[A[n]] = m;", "A n"),
    ("*(x + n) = m;", "n x"),
    ("int *p = A + n; *p = m;", "A n p"),
    ("int q = n * 2; x[q] = m;", "n q"),
    ("int q = A[n] + m; x[q] = 1;", "n q"),   # what memory decides says nothing of m
    ("int q = n; q = 2; x[q] = m;", "q"),
    ("double y[n]; y[0] = m;", "n"),
    ("while (n) x[0] = m;", "n"),
    ("x[0] = (m ? 1 : 2);", "")])
def test_what_decides_control_or_place(inside: str, affine: str) -> None:
    assert names(bound(inside)[0].affine) == affine


@pytest.mark.parametrize(("inside", "outside"), [
    ("for (int i = 0; i < n; i++) A[i] = i;", False),
    ("int i; for (i = 0; i < n; i++) A[i] = i; m = i;", True),
    ("int i = 3; A[0] = i; for (i = 0; i < n; i++) ;", True),
    ("int i; for (i = 0; i < n; i++) A[i] = i; for (i = n; i > 0; i--) A[i] = i;", False),
    ("int i; for (i = 0; i < n; i++) A[i] = i; i = 7;", False),
    ("int i; for (i = 0; i < n; i++) A[i] = i; i += 7;", True),
    ("int i = 2; for (; i < n; i++) A[i] = i;", True)])
def test_counters_that_are_read_where_no_loop_counts_with_them(inside: str, outside: bool) -> None:
    found, _ = bound(inside)
    counters = {s for s in found.read_outside if s.name == "i"}
    assert bool(counters) == outside


def test_each_use_means_the_declaration_that_c_sees() -> None:
    inside = "A[0] = k; { int k = k0; A[1] = k; for (int k = 1; k < 2; k++) A[2] = k; A[3] = k; } A[4] = k;"
    found, region = bound(inside, before="int k0 = 1, k = 2;")
    uses = [found.meaning[part.rvalue] for item in region.items for part in everything(item)
            if isinstance(part, c_ast.Assignment) and isinstance(part.lvalue, c_ast.ArrayRef)]
    assert uses[0] is uses[4] is found.visible["k"]
    assert uses[1] is uses[3]
    assert len(set(uses)) == 3


def test_visible_names_stand_in_the_order_of_their_declarations() -> None:
    found, _ = bound("A[0] = 1;", before="int k = 1, last = 2;", ahead="int g; static int k; int h;\n")
    assert [*found.visible] == ["g", "h", "f", "n", "m", "A", "x", "k", "last"]


def test_a_list_of_values_says_how_long_its_array_is() -> None:
    found, _ = bound("int t[] = {1, 2, 3}; A[0] = t[1];")
    ctype, = (s.ctype for s in found.declared.values())
    assert isinstance(ctype, ArrayOf)
    assert ctype.extent.value == "3"


def test_elements_and_members_are_noted_with_the_variable_that_they_are_of() -> None:
    found, _ = bound("s.in.v = 1; p->v = 2; A[0] = 3; *(A + n) += 1; q[1].v++;", ahead="struct t { int v; };\n",
                     before="struct { struct t in; } s; struct t *p, q[3];")
    assert {(s.name, m) for s, m in found.written_members} == {
        ("s", ("in", "v")), ("p", ("v",)), ("A", ()), ("n", ()), ("q", ("v",))}


def test_a_name_that_nothing_declares_is_refused() -> None:
    found, region = bound("A[0] = nowhere;")
    use = next(n for item in region.items for n in everything(item) if isinstance(n, c_ast.ID) and n.name == "nowhere")
    with pytest.raises(UnsupportedScopError, match="`nowhere` is not declared"):
        found.symbol(use)


def test_parameters_of_an_old_definition_come_in_the_order_of_its_list() -> None:
    tree, _, _ = region_in("f(a, n) int n; double *a; {\n#pragma scop\na[0] = n;\n#pragma endscop\n}\n")
    assert [p.name for p in bindings.function_parameters(tree.ext[-1])] == ["a", "n"]
    nothing, _, _ = region_in("int g; void f(void) {\n#pragma scop\ng = 1;\n#pragma endscop\n}\n")
    assert bindings.function_parameters(nothing.ext[-1]) == ()


def test_names_of_a_subtree() -> None:
    _, region, _ = region_in(in_function("s.v = n; p->w = m; A[k] = q++; *r += &t.u[z] - &y;"))
    every = [c_ast.Compound(list(region.items))]
    assert {*bindings.assigned_names(every[0])} == {"s", "q"}
    assert {*bindings.addressed_names(every[0])} == {"t", "y"}
    assert bindings.identifiers_in(every[0]) == set("snpmAkqrtzy")


@pytest.mark.parametrize(("step", "name"), [
    ("i++", "i"), ("--i", "i"), ("i += 2", "i"), ("i = i * 2", "i"), ("A[0]++", None), ("i++, n--", None), ("", None)])
def test_the_variable_of_a_step(step: str, name: str | None) -> None:
    _, region, _ = region_in(in_function(f"for (;;{step}) A[0] = 1;"))
    assert bindings.stepped_name(region.items[0].next) == name
