"""The two statements of a reduction, run against NumPy in every element type that has one."""

import numpy as np
import pytest

from polysched.scop.construction import reductions, values
from polysched.scop.construction.promotion import from_numpy
from polysched.scop.construction.region import Region
from polysched.scop.interpreter import execute
from polysched.scop.scop import Storage

ZERO = values.number(0)
COLUMNS = [np.array([3, -7, 100, 100], "int8"), np.array([3, 200, 100], "uint8"), np.array([2, -5, 9], "int64"),
           np.array([0.5, -2.5, 1e30], "float32"), np.array([True, False, True])]


def reduced(kind: str, column: np.ndarray, *, propagate_nan: bool = False) -> np.ndarray:
    region, dtype = Region("test"), from_numpy(column.dtype)
    region.declare("x", dtype, (values.number(len(column)),), storage=Storage.ARGUMENT)
    region.declare("y", dtype, (values.number(1),), storage=Storage.ARGUMENT)
    region.add((reductions.initialisation(region, kind, "y", (ZERO,)),))
    with region.loop("i", ZERO, values.number(len(column))) as i:
        operand = region.load("x", (i,))
        region.add((reductions.update(region, kind, "y", (ZERO,), operand, propagate_nan=propagate_nan),))
    found = np.full(1, 77 if dtype.name != "bool" else 1, column.dtype)
    execute(region.finish(), {}, {"x": column, "y": found}, wrap_signed=True)
    return found


@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: c.dtype.name)
def test_reductions_are_numpys_in_the_elements_type(kind: str, column: np.ndarray) -> None:
    if column.dtype == bool and kind in ("sum", "prod"):
        expected = column.any() if kind == "sum" else column.all()
    elif kind in ("sum", "prod"):
        expected = getattr(np, kind)(column, dtype=column.dtype)
    else:
        expected = getattr(np, kind)(column)
    np.testing.assert_array_equal(reduced(kind, column), [expected])


@pytest.mark.parametrize("kind", ["max", "min"])
def test_nothing_is_the_neutral_element(kind: str) -> None:
    least, largest = -128, 127
    assert reduced(kind, np.zeros(0, "int8"))[0] == (least if kind == "max" else largest)
    assert reduced(kind, np.zeros(0, "float32"))[0] == (-np.inf if kind == "max" else np.inf)


@pytest.mark.parametrize("kind", ["max", "min"])
def test_what_is_no_number_is_passed_over_or_propagated(kind: str) -> None:
    column = np.array([1.0, np.nan, 3.0])
    assert reduced(kind, column)[0] == (3.0 if kind == "max" else 1.0)
    assert np.isnan(reduced(kind, column, propagate_nan=True)[0])


def place_of_best(kind: str, column: np.ndarray, *, propagate_nan: bool) -> int:
    region, dtype = Region("test"), from_numpy(column.dtype)
    length = values.number(len(column))
    region.declare("x", dtype, (length,), storage=Storage.ARGUMENT)
    region.declare("best", dtype, (values.number(1),), storage=Storage.ARGUMENT)
    region.declare("place", values.INT64, (values.number(1),), storage=Storage.ARGUMENT)
    with region.loop("i", ZERO, length) as i:
        region.add(reductions.best_so_far(region, kind, ("place", (ZERO,)), ("best", (ZERO,)), region.load("x", (i,)),
                                          i, propagate_nan=propagate_nan))
    place, best = np.zeros(1, "int64"), np.full(1, -np.inf if kind == "max" else np.inf)
    execute(region.finish(), {}, {"x": column, "best": best, "place": place})
    return int(place[0])


@pytest.mark.parametrize(("kind", "ufunc"), [("max", np.argmax), ("min", np.argmin)])
@pytest.mark.parametrize("column", [[1.0, 5.0, 5.0, -3.0, -3.0], [2.0, np.nan, 7.0, np.nan], [4.0]])
def test_the_first_place_of_the_best(kind: str, ufunc: object, column: list[float]) -> None:
    data = np.array(column)
    assert place_of_best(kind, data, propagate_nan=True) == getattr(np, f"arg{kind}")(data)
