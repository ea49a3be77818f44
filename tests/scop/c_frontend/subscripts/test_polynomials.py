"""Sums, products and shifts of polynomials have the values that Python computes; affine ones are isl's."""

import random
from math import prod

import islpy as isl
import pytest

from polysched.scop.c_frontend.subscripts import polyhedra, polynomials
from polysched.scop.c_frontend.subscripts.polynomials import Polynomial

NAMES = ("i", "n", "m")


def drawn(generator: random.Random, *, degree: int = 2) -> Polynomial:
    made: Polynomial = {}
    for _ in range(generator.randrange(4)):
        monomial = tuple(sorted(generator.choices(NAMES, k=generator.randrange(degree + 1))))
        made[monomial] = generator.choice([-3, -1, 1, 2, 5])
    return made


def value(polynomial: Polynomial, at: dict[str, int]) -> int:
    return sum(c * prod(at[name] for name in monomial) for monomial, c in polynomial.items())


def test_arithmetic_is_that_of_the_values() -> None:
    generator = random.Random(5)
    for _ in range(200):
        left, right = drawn(generator), drawn(generator)
        at = {name: generator.randrange(-9, 10) for name in NAMES}
        factor = generator.randrange(-2, 3)
        offsets = {name: generator.randrange(-4, 5) for name in generator.sample(NAMES, 2)}
        total, product = polynomials.add(left, right, factor), polynomials.multiply(left, right)
        assert value(total, at) == value(left, at) + factor * value(right, at)
        assert value(product, at) == value(left, at) * value(right, at)
        moved = {name: at[name] + offsets.get(name, 0) for name in NAMES}
        assert value(polynomials.shifted(left, offsets), moved) == value(left, at)
        assert all(c for p in (total, product) for c in p.values()), "no monomial without a coefficient"


def test_equal_polynomials_are_equal_dictionaries() -> None:
    n_plus_m, n_minus_m = {("n",): 1, ("m",): 1}, {("n",): 1, ("m",): -1}
    assert polynomials.multiply(n_plus_m, n_minus_m) == {("n", "n"): 1, ("m", "m"): -1}
    assert polynomials.add(n_plus_m, n_plus_m, -1) == {}


@pytest.mark.parametrize(("monomial", "divisor", "quotient"), [
    (("m", "n", "n"), ("n",), ("m", "n")), (("n",), ("n",), ()), (("m", "n"), (), ("m", "n")),
    (("n",), ("n", "n"), None), (("m",), ("n",), None)])
def test_quotients(monomial: tuple[str, ...], divisor: tuple[str, ...], quotient: tuple[str, ...] | None) -> None:
    assert polynomials.divide(monomial, divisor) == quotient


def test_affine_functions_there_and_back() -> None:
    generator = random.Random(6)
    for _ in range(40):
        polynomial = drawn(generator, degree=1)
        assert polynomials.from_affine(polynomials.to_affine(polynomial)) == polynomial
    three = polynomials.to_affine({("i",): 2, ("n",): -1, (): 3})
    assert three.plain_is_equal(isl.PwAff("[i, n] -> { [] -> [(2 i - n + 3)] }").align_params(three.get_space())) \
        or three.is_equal(isl.PwAff("[i, n] -> { [] -> [(2 i - n + 3)] }"))


@pytest.mark.parametrize("text", [
    "[i] -> { [] -> [(floor(i / 2))] }", "[i] -> { [] -> [(i mod 3)] }",
    "[i, n] -> { [] -> [(i)] : i < n; [] -> [(n)] : i >= n }"])
def test_what_is_no_polynomial(text: str) -> None:
    assert polynomials.from_affine(isl.PwAff(text)) is None


def test_a_function_on_a_part_of_the_values_is_one_piece() -> None:
    part = polyhedra.symbol("i").intersect_domain(polyhedra.between(polyhedra.symbol("i"), 0, 3))
    assert polynomials.from_affine(part) == {("i",): 1}
