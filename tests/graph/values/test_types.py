"""Types of values."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import Size, TensorType
from polysched.scop.dtypes import FLOAT32


def test_the_type_of_an_array() -> None:
    own = TensorType.of_array(np.zeros((2, 3), np.float32))
    assert own == TensorType.of(FLOAT32, (2, 3))
    assert (str(own), own.extents, int(own.elements)) == ("float32[2, 3]", (2, 3), 6)


def test_symbols_are_bound() -> None:
    own = TensorType.of(FLOAT32, (Size.symbol("N"), 3))
    assert not own.is_static
    assert own.bound({"N": 4}).extents == (4, 3)
    with pytest.raises(UnsupportedGraphError, match="the size N is not known"):
        _ = own.extents


def test_elements_that_are_not_had_are_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="complex64"):
        TensorType.of_array(np.zeros(2, np.complex64))
