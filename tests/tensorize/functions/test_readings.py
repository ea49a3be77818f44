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
from tests.tensorize.functions.test_described_functions import FILTER, MOMENTS, SOFTMAX

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


@pytest.mark.parametrize("text", [SOFTMAX, FILTER, MOMENTS, WRAPS, CUTS, FUSED],
                         ids=["softmax", "filter", "moments", "wraps", "cuts", "fused"])
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
}""", "", "y[i]"),
    "long double": ("""
void f(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++) y[i] = (long double)x[i] * x[i];
}""", "the type long double is not evaluated", "long double"),
    "a function that nobody knows": ("""
void f(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++) y[i] = my_own(x[i]);
}""", "", "my_own"),
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
