"""Shapes that meet, views that select, functions that are lifted over arrays."""

import pytest

from polysched.scop.construction import values
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import FLOAT32, FLOAT64, INT8
from polysched.scop.python_frontend.operands import (
    ArrayValue,
    Subscript,
    View,
    broadcast_shape,
    elements_of,
    lifted,
    stretched,
    whole_view,
)
from polysched.scop.scop import Storage

ONE, TWO, THREE = (values.number(n) for n in (1, 2, 3))


def constants(shape: tuple[Value, ...]) -> list[object]:
    return [values.constant_of(e) for e in shape]


@pytest.mark.parametrize(("shapes", "expected"), [
    ([(TWO, THREE), (THREE,)], [2, 3]), ([(TWO, ONE), (ONE, THREE), ()], [2, 3]), ([(ONE,), (ONE,)], [1]),
    ([(), ()], [])])
def test_shapes_broadcast_as_numpys(shapes: list[tuple[Value, ...]], expected: list[int]) -> None:
    assert constants(broadcast_shape(Region("test"), shapes)) == expected


def test_shapes_that_never_are_equal() -> None:
    with pytest.raises(CannotExpress, match="do not broadcast together"):
        broadcast_shape(Region("test"), [(TWO,), (THREE,)])


def test_sizes_that_may_differ_are_taken_for_equal_and_that_is_said() -> None:
    region = Region("test")
    n, m = region.parameter("n", at_least=0), region.parameter("m", at_least=0)
    broadcast_shape(region, [(n,), (m,)])
    (assumption,) = region.finish().assumptions
    assert (assumption.kind, assumption.text) == ("shapes", "shapes that meet are equal")


def test_stretched_dimensions_are_read_at_zero() -> None:
    i, j = values.iterator("i", "i"), values.iterator("j", "j")
    assert constants(stretched((i, j), (ONE,))) == [0]
    assert stretched((i, j), (TWO, ONE))[0] is i
    assert stretched((i, j), ()) == ()


def test_a_view_reads_elements_behind_its_subscripts() -> None:
    view = View("A", (Subscript(THREE), Subscript(ONE, -2, 0)), (TWO,), FLOAT64)
    assert constants(view.at((TWO,))) == [3, -3]


def test_a_function_of_numbers_alone_is_a_number() -> None:
    found = lifted(Region("test"), lambda a, b: values.arithmetic("+", a, b), [TWO, THREE])
    assert isinstance(found, Value)
    assert values.constant_of(found) == 5


def test_a_function_of_arrays_has_their_common_type_and_sources() -> None:
    region = Region("test")
    for name, dtype, extent in (("a", INT8, ONE), ("b", FLOAT32, THREE)):
        region.declare(name, dtype, (extent,), storage=Storage.ARGUMENT)
    operands = [elements_of(region, whole_view(region, name, (extent,))) for name, extent in (("a", ONE), ("b", THREE))]
    found = lifted(region, lambda a, b: values.arithmetic("*", a, b), [*operands])
    assert isinstance(found, ArrayValue)
    assert (constants(found.shape), found.dtype, found.sources) == ([3], FLOAT32, frozenset({"a", "b"}))
    with region.loop("i", values.number(0), THREE) as i:
        assert {t.array: constants(t.subscripts) for t in region.touches_of(found.element((i,)).expr)}["a"] == [0]
