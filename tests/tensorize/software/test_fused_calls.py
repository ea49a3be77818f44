"""Which calls of fma are a product and an addition of the sum's type, and what is rounded in between."""

from __future__ import annotations

import pytest

from polysched.scop.body import Binary, Call, Cast, Expr, Load
from polysched.scop.dtypes import FLOAT16, FLOAT32, FLOAT64, INT32, DType
from polysched.tensorize.software.fused_calls import Fusion, without_fusion


def load(name: str, dtype: DType) -> Load:
    return Load(name, dtype)


def fma(a: Expr, b: Expr, c: Expr) -> Call:
    return Call("fmaf" if c.dtype == FLOAT32 else "fma", (a, b, c), c.dtype)


def product_and_sum(dtype: DType) -> Binary:
    return Binary("+", Binary("*", load("a", dtype), load("b", dtype), dtype), load("c", dtype), dtype)


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
def test_a_call_in_the_type_of_the_sum_is_its_own(dtype: DType) -> None:
    found = without_fusion(fma(load("a", dtype), load("b", dtype), load("c", dtype)), "c")
    assert found == (product_and_sum(dtype), Fusion.OWN)


def test_factors_are_converted_to_the_type_of_the_call() -> None:
    found = without_fusion(fma(load("a", FLOAT32), load("b", INT32), load("c", FLOAT64)), "c")
    assert found.fusion is Fusion.OWN
    assert found.update == Binary("+", Binary("*", Cast(load("a", FLOAT32), FLOAT64), Cast(load("b", INT32), FLOAT64),
                                              FLOAT64), load("c", FLOAT64), FLOAT64)


def test_a_call_of_wider_numbers_is_rounded_twice() -> None:
    wide = [Cast(load(n, FLOAT32), FLOAT64) for n in "abc"]
    assert without_fusion(Cast(fma(*wide), FLOAT32), "c") == (product_and_sum(FLOAT32), Fusion.WIDER)


a, b, c = (load(n, FLOAT64) for n in "abc")
LEFT: dict[str, Expr] = {
    "no call": product_and_sum(FLOAT64), "another sum": fma(a, b, load("d", FLOAT64)),
    "the sum as a factor": fma(c, b, a),
    "another function": Call("hypot", (a, b, c), FLOAT64),
    "a sum that was rounded to a narrower type": Cast(Cast(fma(a, b, c), FLOAT32), FLOAT64),
    "one rounded to a half": Cast(Cast(fma(*(Cast(load(n, FLOAT32), FLOAT64) for n in "abc")), FLOAT16), FLOAT32),
    "a product of wider factors": Cast(fma(a, b, Cast(load("c", FLOAT32), FLOAT64)), FLOAT32),
    "a whole number": Cast(fma(a, b, Cast(load("c", INT32), FLOAT64)), INT32),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_computes_something_else_stays(name: str) -> None:
    assert without_fusion(LEFT[name], "c") == (LEFT[name], Fusion.NONE)
