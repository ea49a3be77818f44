"""A described function is one C function of assignments at known elements; its call is told in the caller's words."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.errors import PolyschedError, SourceSyntaxError
from polysched.scop.body import Assign, Select, walk
from polysched.tensorize.description.library_function import Variant

SCALE = ("void scale(int n, float f, float *y, const float *x, int incx) "
         "{ for (int i = 0; i < n; i++) y[i] = f * x[i * incx]; }")


def test_a_function_is_called_with_the_callers_words() -> None:
    words = {"n": "m - 1", "f": "0.5f", "y": "&C[0]", "x": "A", "incx": "2"}
    assert Variant(SCALE).called_with(words) == "scale(m - 1, 0.5f, &C[0], A, 2);"
    named = Variant(SCALE, call="lib_scale(h, {x}, {incx}, &{f}, {y}, {n}); /* {not a field */")
    assert named.called_with(words) == "lib_scale(h, A, 2, &0.5f, &C[0], m - 1); /* {not a field */"
    again = Variant(SCALE, call="{n} {n}")
    assert again.called_with(words | {"n": "{x}"}) == "{x} {x}", "words are not looked through again"


def test_a_call_names_parameters_only() -> None:
    with pytest.raises(SourceSyntaxError, match="a call names what is no parameter of its function") as found:
        _ = Variant(SCALE, call="g({n}, {m});").template
    assert found.value.witness == "{m}"


@pytest.mark.parametrize(("text", "why"), [
    ("int x;", "one C function with a body"), ("", "one C function with a body"),
    ("void f(int n, float *y) { for (int i = 0; i < n; i++) while (y[i] > 1) y[i] = y[i] / 2; }",
     "consists of assignments"),
    ("void f(int n, float *y, const int *p) { for (int i = 0; i < n; i++) y[p[i]] = 1; }",
     "elements that its loops determine"),
    ("void f(int n, const float *x) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; }", "writes something")])
def test_what_is_no_such_function_is_refused(text: str, why: str) -> None:
    with pytest.raises(SourceSyntaxError, match=why):
        _ = Variant(text).scop


def test_branches_are_choices_and_helpers_are_inlined() -> None:
    text = ("void f(int n, float *y, const float *x) { for (int i = 0; i < n; i++) { float v = twice(x[i]); "
            "if (v < 0) v = 0; y[i] = v; } }")
    helper = "static float twice(float v) { return v + v; }\n"
    scop = Variant(text, helpers=helper).scop
    assert all(isinstance(s.body[0], Assign) for s in scop.statements)
    assert sum(isinstance(e, Select) for s in scop.statements for e in walk(s.body[0].value)) == 1
    assert {a.name for a in scop.arrays if not a.is_temporary} == {"x", "y"}


def test_preconditions_are_those_of_the_text_and_those_required() -> None:
    plain, required = Variant(SCALE), Variant(SCALE, requires="incx >= 1 and n >= 4")
    assert not plain.preconditions.is_subset(required.preconditions)
    assert required.preconditions.is_subset(plain.preconditions)
    point = isl.Set("[n, incx] -> { : n = 3 and incx = 1 }")
    assert point.is_subset(plain.preconditions)
    assert point.intersect(required.preconditions).is_empty()
    with pytest.raises(PolyschedError, match="no condition on its sizes") as found:
        _ = Variant(SCALE, requires="incx > strlen(x)").preconditions
    assert found.value.witness == "incx > strlen(x)"


def test_the_name_and_the_signature_are_those_of_the_text() -> None:
    variant = Variant(SCALE)
    assert variant.name == "scale"
    assert [p.name for p in variant.signature.parameters] == ["n", "f", "y", "x", "incx"]
    assert variant.is_output(variant.scop, "y")
    assert variant.dependences.scop is variant.scop
