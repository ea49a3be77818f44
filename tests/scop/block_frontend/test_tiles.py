"""Shapes of tiles, and what masked lanes make together."""

import pytest

from polysched.scop.block_frontend.tiles import Fill, Tile, broadcast, common_shape, filled_by


@pytest.mark.parametrize(("left", "right", "both"), [
    ((4,), (4,), (4,)), ((4, 1), (8,), (4, 8)), ((), (3,), (3,)), ((4,), (5,), None), ((1, 1), (1,), (1, 1))])
def test_common_shapes(left, right, both) -> None:
    assert common_shape(left, right) == both


def test_a_lane_of_one_is_read_by_all() -> None:
    assert broadcast(("i", "j"), (1, 8)) == ("0", "j")
    assert broadcast(("i", "j"), (8,)) == ("j",)
    assert broadcast(("i",), ()) == ()


def tile(value: float | None, condition: str = "c") -> Tile:
    fill = None if value is None else Fill(value, lambda index: (condition,))
    return Tile(shape=(4,), element=lambda index, site: "e", fill=fill)


@pytest.mark.parametrize(("operator", "left", "right", "value"), [
    ("*", 0.0, None, 0.0), ("*", None, 0.0, 0.0), ("*", 1.0, None, None), ("/", 0.0, None, 0.0), ("/", None, 0.0, None),
    ("+", 0.0, 0.0, None), ("+", float("-inf"), None, float("-inf")), ("-", float("-inf"), None, float("-inf")),
    ("-", None, float("-inf"), None), ("+", None, float("inf"), float("inf")), ("*", float("inf"), None, None)])
def test_masked_lanes(operator, left, right, value) -> None:
    found = filled_by(operator, tile(left), tile(right))
    assert (None if found is None else found.value) == value


def test_a_product_is_masked_where_a_factor_is() -> None:
    found = filled_by("*", tile(0.0, "a"), tile(0.0, "b"))
    assert found is not None
    assert found.conditions(("i",)) == ("a", "b")
