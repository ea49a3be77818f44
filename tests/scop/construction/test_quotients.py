"""Quotients and remainders by a size are affine where the quotient is one of a few numbers, and only there."""

import islpy as isl
import pytest

from polysched.scop.body import Binary, Select, walk
from polysched.scop.construction import functions, values
from polysched.scop.construction.quotients import with_bounded_quotient
from polysched.scop.construction.region import Region
from polysched.scop.dtypes import FLOAT64
from polysched.scop.scop import Storage


def under_a_loop(offset: int, *, remainder: bool, at_least: int = 1, times: int = 1) -> values.Value:
    """`(times * i + offset) // n` or `% n` with `i` in `range(n)`."""
    region = Region("test")
    n = region.parameter("n", at_least=at_least)
    region.declare("A", FLOAT64, (n,), storage=Storage.ARGUMENT)
    with region.loop("i", values.number(0), n) as i:
        dividend = values.arithmetic("+", values.arithmetic("*", values.number(times), i), values.number(offset))
        plain = (functions.modulo if remainder else functions.floor_divide)(dividend, n)
        assert plain.affine is None
        return with_bounded_quotient(region, plain, dividend, n, remainder=remainder)


@pytest.mark.parametrize("remainder", [False, True])
@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_a_wrapped_neighbour(offset: int, remainder: bool) -> None:
    affine = under_a_loop(offset, remainder=remainder).affine
    assert affine is not None
    symbol = next(name for name in affine.get_var_names(isl.dim_type.param) if name != "n")
    for n in (1, 2, 5):
        for i in range(n):
            expected = (i + offset) % n if remainder else (i + offset) // n
            at = isl.Set(f"[{symbol}, n] -> {{ : {symbol} = {i} and n = {n} }}")
            assert affine.intersect_params(at).is_equal(isl.PwAff(f"{{ [({expected})] }}").intersect_params(at))


@pytest.mark.parametrize(("offset", "at_least", "times"), [(0, 0, 1), (9, 1, 1), (0, 1, 5)])
def test_a_divisor_that_may_be_zero_or_a_quotient_of_any_size_stays_as_it_is(
        offset: int, at_least: int, times: int) -> None:
    if at_least == 0:   # the loop runs for positive sizes only, so that the divisor is positive where it matters
        assert under_a_loop(offset, remainder=True, at_least=0).affine is not None
    else:
        assert under_a_loop(offset, remainder=True, at_least=at_least, times=times).affine is None


@pytest.mark.parametrize("remainder", [False, True])
@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_no_division_is_left(offset: int, remainder: bool) -> None:
    value = under_a_loop(offset, remainder=remainder)
    assert not any(isinstance(e, Binary) and e.op in ("/", "%") for e in walk(value.expr))
    choices = sum(isinstance(e, Select) for e in walk(value.expr))
    assert choices == (0 if offset == 0 else 1), "one comparison where two quotients occur"


def test_data_stay_as_they_are() -> None:
    region = Region("test")
    n = region.parameter("n", at_least=1)
    half = functions.floor_divide(values.number(7.0), n)
    assert with_bounded_quotient(region, half, values.number(7.0), n, remainder=False) is half
