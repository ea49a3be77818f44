"""Described functions are read three times, and what differs or is not known is refused where it is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.errors import PolyschedError, SourceSyntaxError
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from polysched.tensorize.functions import readings
from polysched.tensorize.functions.described import described
from polysched.tensorize.functions.emulated_function import emulated_function
from polysched.tensorize.functions.readings import readings_of, require_readings
from polysched.tensorize.intrinsics import blas_functions
from polysched.tensorize.registry import load_functions
from tests.tensorize.functions.test_described import FILTER, MOMENTS, SOFTMAX

WRAPS = """
void my_mix(int n, const uint8_t *a, const int16_t *b, int32_t *c, int64_t *d) {
    for (int i = n - 1; i >= 0; i -= 1) {
        c[i] = a[i] / 3 - 2u + (int8_t)b[i] * (b[i] << 1);
        d[i] += (1LL << 31) * a[i] + (b[i] > 100 ? -b[i] : ~a[i]) + 0xFFFFFFFF;
    }
}"""
CUTS = """
void my_cut(int n, float scale, const float *x, int8_t *y) {
    for (int i = 0; i < n; i++) {
        float v = rintf(x[i] * scale);
        if (v > 127.0f) v = 127.0f;
        if (!(v >= -128.0f)) v = -128.0f;
        y[i] = (int8_t)v;
    }
}"""
FUSED = """
void my_horner(int n, double *y, const double *x) {
    for (int i = 0; i < n; i++)
        y[i] = fma(x[i], fma(x[i], 0.25, -1.5), pow(fabs(x[i]), 0.5));
}"""
LARGEST = """
void my_largest(int n, float *y, const float *x) {
    float big = -INFINITY;
    for (int i = 0; i < n; i++) big = x[i] > big ? x[i] : big;
    y[0] = big * 0x1.8p-1f + 0x1p0;
}"""
LONG = """
void my_dot(float *y, const float *x, const float *z) {
    float s = 0;
    for (int i = 0; i < 1500; i++) s += x[i] * z[i];
    y[0] = s;
}"""


def test_the_readings_of_long_sums_nest_no_calls() -> None:
    assert not readings_of(Variant(LONG)).difference


@pytest.mark.parametrize("text", [SOFTMAX, FILTER, MOMENTS, WRAPS, CUTS, FUSED, LARGEST],
                         ids=["softmax", "filter", "moments", "wraps", "cuts", "fused", "largest"])
def test_the_three_readings_of_a_function_agree(text: str) -> None:
    found = readings_of(Variant(text))
    assert not found.difference
    assert found.trials >= 20
    assert "agree" in str(found)


@pytest.mark.parametrize(("letter", "name"), [(f.name[6], f.name[7:]) for f in blas_functions.ALL])
def test_the_readings_of_shipped_functions_agree(letter: str, name: str) -> None:
    function = next(f for f in blas_functions.ALL if f.name == f"cblas_{letter}{name}")
    several = function.variants if len(function.variants) == 1 else function.variants[letter == "d"::2]
    assert all(not readings_of(v).difference for v in several)


WRITES = "void f(int n, float *y) { for (int i = 0; i < n; i++) y[i] = 0.0f; }"
REFUSED = {
    "a local without a value": ("""
void f(int n, const float *x, float *y) {
    float s;
    for (int i = 0; i < n; i++) s += x[i];
    y[0] = s;
}""", "a local is read before it has a value", "s"),
    "a shift by data": ("""
void f(int n, const int32_t *x, int32_t *y) {
    for (int i = 0; i < n; i++) y[i] = 1 << x[i];
}""", "a shift by", "1 << x[i]"),
    "behind an array": ("""
void f(int n, const float *x, float y[4]) {
    for (int i = 0; i <= 4; i++) y[i] = x[i];
}""", "subscript 4 of y is outside of its 4 elements", "y[i]"),
    "long double": ("""
void f(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++) y[i] = (long double)x[i] * x[i];
}""", "the type long double is not evaluated", "long double"),
    "a function that nobody knows": ("""
void f(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++) y[i] = my_own(x[i]);
}""", "`my_own` may have side effects", "my_own"),
    "no function": ("int n;", "one C function with a body", "int n;"),
    "a declaration": ("void f(int n, float *y);", "one C function with a body", "void f"),
    "no text": ("", "one C function with a body", "nothing"),
    "no C": ("void f(int n, float *y) { for (int i = 0; i < n; i++ y[i] = 0.0f; }", "the C compiler refuses", "y"),
    "a type that nobody knows": (WRITES.replace("float *y", "float *y, vec4 *x"), "unknown type name 'vec4'", "vec4"),
    "GNU C beyond the parser": (WRITES.replace("0.0f", "y[i] ? : 1.0f"), "beyond standard C", "expression"),
    "a call through a pointer": (
        "void f(int n, float (*g)(float), float *y) { for (int i = 0; i < n; i++) y[i] = (*g)(y[i]); }",
        "`g` may have side effects", "(*g)(y[i])"),
    "a struct": ("struct p { float a; }; void f(int n, struct p *x, float *y) { for (int i = 0; i < n; i++) "
                 "y[i] = x[i].a; }", "such a type is not evaluated", "struct p"),
    "any number of arguments": (WRITES.replace("*y)", "*y, ...)"), "such a declaration", "..."),
    "a type declared inside": (WRITES.replace("{ for", "{ struct s { int a; }; for"), "such a declaration", "struct s"),
    "an enumeration inside": (WRITES.replace("{ for", "{ enum {A} q; for"), "such a type", "enum"),
    "a half": (WRITES.replace("0.0f", "(_Float16)y[i]"), "the type _Float16 is not evaluated", "_Float16"),
    "a long constant": (WRITES.replace("0.0f", "1.0L"), "such a constant is not evaluated", "1.0L"),
    "a binary constant": (WRITES.replace("0.0f", "0b101"), "such a constant is not evaluated", "0b101"),
    "bits of a float": (WRITES.replace("0.0f", "y[i] & 3"), "needs integers", "y[i] & 3"),
    "a function of instructions": (WRITES.replace("0.0f", "fma_f32()"), "fma_f32", "fma_f32()"),
    "an accumulation that data guard, which the equations do not hold": ("""
void f(int n, const int *at, float *y) {
    for (int i = 0; i < n; i++) y[at[i]] += 1.0f;
}""", "a described function accesses elements that its loops determine", "y"),
}


@pytest.mark.parametrize(("text", "problem", "witness"), REFUSED.values(), ids=REFUSED)
def test_what_a_reading_does_not_know_is_refused_with_the_expression(text: str, problem: str, witness: str) -> None:
    with pytest.raises(PolyschedError) as refusal:
        require_readings(LibraryFunction(name="f", variants=(Variant(text),), inline=True))
    assert problem in refusal.value.problem
    assert witness in f"{refusal.value.problem} {refusal.value.witness}"


@pytest.mark.parametrize(("variant", "problem", "witness"), [
    (Variant(WRITES, requires="n >>> 3"), "is no condition on its sizes", "n >>> 3"),
    (Variant(WRITES, requires="k >= 3"), "is no condition on its sizes", "k >= 3"),
    (Variant(WRITES, requires="n < 0"), "none of the sizes that are tried", "n < 0"),
    (Variant(WRITES, call="f({n}, {z});"), "a call names what is no parameter of its function", "{z}"),
])
def test_what_is_said_beside_the_text_is_read_where_it_is_loaded(variant: Variant, problem: str, witness: str) -> None:
    with pytest.raises(SourceSyntaxError, match=problem) as refusal:
        require_readings(LibraryFunction(name="f", variants=(variant,), inline=True))
    assert witness in str(refusal.value.witness)


@pytest.mark.parametrize(("text", "problem", "witness"), [
    (WRITES.replace("0.0f", "(*g)(y[i])"), "such an expression", "(*g)(y[i])"),
    (WRITES.replace("0.0f", "y[i] % 3.0f"), "no operands of this operator", "y[i] % 3.0f"),
    (WRITES.replace("0.0f", "y[i] << 2"), "no operands of this operator", "y[i] << 2"),
    (WRITES.replace("0.0f", "~y[i]"), "no operand of this operator", "~y[i]"),
    (WRITES.replace("y[i]", "y[i++]"), "such an operator", "i++"),
    (WRITES.replace("0.0f", "fma_f32(y[i])"), "3 arguments are expected", "fma_f32(y[i])"),
    (WRITES.replace("0.0f", "sqrtf(y[i], n)"), "1 argument is expected", "sqrtf(y[i], n)"),
    (WRITES.replace("0.0f", "__builtin_inff(n)"), "0 arguments are expected", "__builtin_inff(n)"),
    (f"{WRITES}{WRITES.replace('f(int', 'g(int')}", "one C function with a body", "f, g"),
    ("int n;", "one C function with a body", "no function"),
])
def test_the_emulator_quotes_what_it_does_not_know(text: str, problem: str, witness: str) -> None:
    with pytest.raises(SourceSyntaxError, match=problem) as refusal:
        emulated_function(Variant(text))
    assert witness in str(refusal.value.witness)


OTHER = SOFTMAX.replace("x[i] > big", "x[i] < big")


def test_equations_of_another_function_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "described", lambda _: described(Variant(OTHER)))
    function = LibraryFunction(name="f", variants=(Variant(f"{SOFTMAX}\n"),), inline=True)
    with pytest.raises(SourceSyntaxError, match="the readings of the function disagree") as refusal:
        require_readings(function)
    assert "the equations against the host, y element" in str(refusal.value.witness)


def test_an_emulator_of_another_function_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "emulated_function", lambda _: emulated_function(Variant(OTHER)))
    found = readings_of(Variant(f"\n{SOFTMAX}"))
    assert "the Python emulator against the host, y element" in found.difference


def test_a_file_is_read_three_times(tmp_path: Path) -> None:
    head = ("from polysched.tensorize.description.library_function import LibraryFunction, Variant\n"
            "MINE = LibraryFunction(name='mine', inline=True, variants=(Variant('''")
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(f"{head}{SOFTMAX}'''),))\n")
    wrong.write_text(f"{head}{REFUSED['a local without a value'][0]}'''),))\n")
    assert [*load_functions(str(right))] == ["mine"]
    with pytest.raises(PolyschedError, match="a local is read before it has a value"):
        load_functions(str(wrong))
