"""Polynomials in parameters: sums, products, quotients, and what affine functions and C make of them."""

from __future__ import annotations

import ctypes
from pathlib import Path

import islpy as isl
import pytest

from polysched.target import find_compiler
from polysched.tensorize.software.polynomials import (
    ONE,
    ZERO,
    Polynomial,
    Quotient,
    add,
    affine_text,
    divided,
    multiply,
    of_affine,
    parameters_of,
    polynomial_c,
    substituted,
)

N, M = {("n",): 1}, {("m",): 1}
VALUES = {"n": 7, "m": -3}


def value(p: Polynomial) -> int:
    total = 0
    for monomial, coefficient in p.items():
        for name in monomial:
            coefficient *= VALUES[name]
        total += coefficient
    return total


def test_sums_and_products_are_those_of_their_values() -> None:
    p, q = add(multiply(N, N), {(): 5}), add(multiply(M, {(): 4}), N, -2)
    assert value(add(p, q)) == value(p) + value(q)
    assert value(add(p, q, -3)) == value(p) - 3 * value(q)
    assert value(multiply(p, q)) == value(p) * value(q)
    assert multiply(p, ONE) == p
    assert multiply(p, ZERO) == {}


def test_what_cancels_is_gone() -> None:
    assert add(N, N, -1) == {}
    assert multiply(add(N, M), add(N, M, -1)) == {("n", "n"): 1, ("m", "m"): -1}


@pytest.mark.parametrize(("p", "by", "quotient"), [
    ({("n",): 4, (): 8}, 4, {("n",): 1, (): 2}), ({("n",): 4, (): 7}, 4, None), ({("n",): 4}, 0, None),
    ({}, 3, {}), ({(): -6}, -3, {(): 2})])
def test_quotients(p: Polynomial, by: int, quotient: Polynomial | None) -> None:
    assert divided(p, by) == quotient


def test_names_stand_for_polynomials() -> None:
    p = {("n", "n"): 1, ("m",): 2, (): 1}
    made = substituted(p, {"n": add(M, ONE)})
    assert made == {("m", "m"): 1, ("m",): 4, (): 2}
    assert substituted(p, {}) == p


@pytest.mark.parametrize(("text", "p"), [
    ("[n, m] -> { [2n - m + 3] }", {("n",): 2, ("m",): -1, (): 3}),
    ("[n] -> { A[i, j] -> [n + 4j] }", {("n",): 1, ("#1",): 4}),
    ("[n] -> { [0] }", {}),
    ("[n] -> { [floor(n/2)] }", None),
    ("[n] -> { [n] : n > 3; [2n] : n <= 3 }", None),
])
def test_affine_functions(text: str, p: Polynomial | None) -> None:
    assert of_affine(isl.PwAff.read_from_str(isl.DEFAULT_CONTEXT, text)) == p


@pytest.mark.parametrize(("p", "text"), [
    ({}, "0"), ({(): 5}, "5"), ({(): -5}, "-5"), (N, "(long)n"),
    ({("n", "m"): 1, ("n",): -1, (): 3}, "(long)n * (long)m + 3 - (long)n"),
    ({("n",): -2}, "-2 * (long)n"),
])
def test_as_c(p: Polynomial, text: str) -> None:
    assert polynomial_c(p, {}) == text


def test_spellings_that_are_no_names_get_parentheses() -> None:
    assert polynomial_c(N, {"n": "g->n + 1"}) == "(long)(g->n + 1)"


@pytest.mark.parametrize(("text", "p"), [
    ("[n] -> { [16*floor((n + 15)/16) - 1] }", {(Quotient({(): -1, ("n",): 1}, 16),): 16, (): 15}),
    ("[n] -> { A[i] -> [i + floor(n/2)] }", {("#0",): 1, (Quotient({("n",): 1}, 2),): 1}),
    ("[n] -> { A[i] -> [floor((i + n)/2)] }", None),   # of an iteration
    ("[n] -> { [floor((2*floor(n/2) + n)/5)] }", None),
])
def test_quotients_of_parameters_are_names(text: str, p: Polynomial | None) -> None:
    assert of_affine(isl.PwAff.read_from_str(isl.DEFAULT_CONTEXT, text), quotients=True) == p


def test_quotients_round_down_in_c(tmp_path: Path) -> None:
    """C rounds towards zero, isl down; both are the same here for numbers of both signs."""
    over = {("n",): 3, (): -7}
    text = polynomial_c({(Quotient(over, 4),): 2, (): 1}, {})
    compiler, library = find_compiler(), tmp_path / "f.so"
    (tmp_path / "f.c").write_text(f"long f(int n) {{ return {text}; }}")
    assert not compiler.run(["-shared", "-fPIC", str(tmp_path / "f.c"), "-o", str(library)]).returncode
    function = ctypes.CDLL(str(library)).f
    function.restype = ctypes.c_long
    for n in range(-20, 20):
        assert function(n) == 2 * ((3 * n - 7) // 4) + 1
        point = isl.Set(f"[n, x] -> {{ : n = {n} and x = {affine_text({(Quotient(over, 4),): 2, (): 1})} }}")
        assert isl.Set(f"[n, x] -> {{ : n = {n} and x = {2 * ((3 * n - 7) // 4) + 1} }}").is_equal(point)
    assert parameters_of({(Quotient(over, 4), "m"): 1}) == {"n", "m"}
