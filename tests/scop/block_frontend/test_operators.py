"""Operators per lane."""

import ast
from math import inf

from polysched.scop.block_frontend import operators
from polysched.scop.block_frontend.tiles import Fill, Kind, Site, Tile, number

HERE = Site(frozenset(), lambda wish: wish)


def lanes(kind: Kind = Kind.INDEX, fill: Fill | None = None) -> Tile:
    return Tile(shape=(4,), element=lambda index, site: index[0], kind=kind, least=True, fill=fill)


def test_sums_of_indices_are_indices_and_quotients_of_numbers_are_values() -> None:
    total = operators.arithmetic("+", lanes(), number("n", Kind.NUMBER), (4,))
    assert total.kind is Kind.INDEX
    assert operators.arithmetic("/", lanes(), lanes(), (4,)).kind is Kind.VALUE
    assert not operators.arithmetic("-", lanes(), lanes(), (4,)).least


def test_exp_of_minus_infinity_is_nothing() -> None:
    masked = lanes(Kind.VALUE, Fill(-inf, lambda index: ("c",)))
    found = operators.function("exp", (masked,), (4,)).fill
    assert found is not None
    assert found.value == 0
    assert operators.function("exp", (lanes(Kind.VALUE, Fill(0.0, lambda index: ("c",))),), (4,)).fill is None


def test_a_choice_between_a_tile_and_0_is_masked() -> None:
    asked = operators.comparison("<", lanes(), number("n", Kind.INDEX), (4,))
    chosen = operators.choice(asked, lanes(Kind.VALUE), number("0.0", Kind.VALUE), (4,))
    assert chosen.fill is not None
    assert chosen.fill.conditions(("i",)) == ("i < n",)
    assert chosen.element(("i",), Site(frozenset({"i < n"}), lambda wish: wish)) == "i"
    assert chosen.element(("i",), HERE) == "(i if i < n else 0.0)"


def test_a_choice_on_data_is_not() -> None:
    asked = operators.comparison("<", lanes(Kind.VALUE), number("1.0", Kind.VALUE), (4,))
    assert operators.choice(asked, lanes(Kind.VALUE), number("0.0", Kind.VALUE), (4,)).fill is None


def test_every_operator_has_one_text() -> None:
    assert operators.BINARY[ast.FloorDiv] == "//"
    assert len(set(operators.BINARY.values())) == len(operators.BINARY)
