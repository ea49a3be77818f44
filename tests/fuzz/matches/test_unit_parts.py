"""What random descriptions are made of."""

from __future__ import annotations

import pytest

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.c_tree import TYPES, Assign, Binary, Choice, Element, Expr, Loop, Number
from polysched.fuzz.matches.unit_parts import affine, clamp, loops
from polysched.fuzz.matches.units import unit


@pytest.mark.parametrize(("value", "expected"), [(-200, -128), (-128, -128), (0, 0), (127, 127), (128, 127)])
def test_a_clamp_cuts_to_its_range(value: int, expected: int) -> None:
    def of(e: Expr) -> int:
        match e:
            case Number():
                return int(e.text)
            case Choice():
                return of(e.then) if of(e.test) else of(e.otherwise)
            case Binary(op=">"):
                return of(e.left) > of(e.right)
            case Binary(op="<"):
                return of(e.left) < of(e.right)
        raise TypeError(e)

    assert of(clamp(Number(str(value)), "-128", "127")) == expected


def test_affine_functions_and_loops_as_they_are_written() -> None:
    assert affine(("i", 2), ("k", -1), ("i", 1), constant=4).text() == "3 * i - k + 4"
    assert affine(("i", 1), ("i", -1)) == Affine()
    body = (Assign(Element("C"), "=", Number("1")),)
    (outer,) = loops([("i", 3), ("k", 2)], body, "k")
    assert isinstance(outer, Loop)
    assert (outer.iterator, outer.end.constant, outer.descending) == ("i", 3, False)
    (inner,) = outer.body
    assert isinstance(inner, Loop)
    assert (inner.iterator, inner.descending, inner.body) == ("k", True, body)
    assert loops([], body) == body
    assert {t for own in map(unit, range(100)) for _, t in own.function.arrays} <= set(TYPES)
