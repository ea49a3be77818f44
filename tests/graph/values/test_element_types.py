"""Element types: which NumPy types graphs have, and what narrow ones are in memory."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph.values.element_types import (
    ELEMENT_TYPES,
    NARROW,
    NarrowType,
    array_type,
    carrier_of,
    element_type,
    is_narrow,
)
from polysched.scop.dtypes import BFLOAT16, FLOAT32, INT8, UINT8, UINT16

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")


@pytest.mark.parametrize("name", sorted(ELEMENT_TYPES))
def test_a_type_is_that_of_its_arrays(name: str) -> None:
    own = ELEMENT_TYPES[name]
    assert own.name == name
    assert element_type(array_type(own)) == own
    assert array_type(own).itemsize == own.bytes == carrier_of(own).bytes


@pytest.mark.parametrize("dtype", [np.dtype(object), np.dtype("U3"), np.dtype(complex), np.dtype(np.longdouble),
                                   np.dtype(ml_dtypes.float8_e3m4)])
def test_other_types_are_none(dtype: np.dtype) -> None:
    assert element_type(dtype) is None


def test_what_carries_the_bits() -> None:
    assert carrier_of(BFLOAT16) == UINT16
    assert {carrier_of(t) for t in NARROW} == {UINT8}
    assert carrier_of(FLOAT32) == FLOAT32
    assert is_narrow(BFLOAT16)
    assert not is_narrow(INT8)


@pytest.mark.parametrize("own", [t for t in NARROW if t.name != "float8_e8m0fnu"], ids=str)
def test_the_widths_are_those_of_ml_dtypes(own: NarrowType) -> None:
    if own.is_float:
        info = ml_dtypes.finfo(array_type(own))
        assert (info.bits, info.nmant, info.nexp) == (own.width, own.mantissa, own.exponent)
        assert float(np.uint8(own.largest).view(array_type(own))) == float(info.max)
    else:
        limits = ml_dtypes.iinfo(array_type(own))
        assert own.value_range() == (int(limits.min), int(limits.max))


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(UnsupportedGraphError, match="ml_dtypes"):
        array_type(BFLOAT16)
