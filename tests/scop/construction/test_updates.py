"""What updates the element that it is assigned to."""

import pytest

from polysched.scop.construction import values
from polysched.scop.construction.region import Region
from polysched.scop.construction.updates import as_update
from polysched.scop.dtypes import FLOAT64, INT64
from polysched.scop.scop import Storage


def test_an_element_that_data_chooses_is_none() -> None:
    region = Region("f")
    region.declare("A", FLOAT64, (values.number(9),), storage=Storage.ARGUMENT)
    region.declare("k", INT64, (values.number(9),), storage=Storage.ARGUMENT)
    with region.loop("i", values.number(0), values.number(8)) as i:
        chosen = (region.load("k", (i,)),)
        written = values.arithmetic("+", region.load("A", chosen), region.load("A", (i,)))
        assert as_update(region, "A", chosen, written.expr) == (None, written.expr)


@pytest.mark.parametrize(("op", "first", "offset", "expected"), [
    ("+", True, 0, "+"), ("+", False, 0, "+"), ("-", True, 0, "-"), ("-", False, 0, None), ("*", False, 0, "*"),
    ("+", True, 1, None),
])
def test_updates(op: str, first: bool, offset: int, expected: str | None) -> None:
    region = Region("f")
    for name in "AB":
        region.declare(name, FLOAT64, (values.number(9),), storage=Storage.ARGUMENT)
    with region.loop("i", values.number(0), values.number(8)) as i:
        old = region.load("A", (values.arithmetic("+", i, values.number(offset)),))
        other = region.load("B", (i,))
        written = values.arithmetic(op, *((old, other) if first else (other, old)))
        found, right = as_update(region, "A", (i,), written.expr)
    assert found == expected
    assert right is (other.expr if expected else written.expr)
