"""What callers give for values: arrays, tensors that record gradients, and what is no array."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.graph.evaluation.given import given_array


def test_an_array_is_itself() -> None:
    x = np.ones(3)
    assert given_array("x", x) is x
    assert given_array("x", [1, 2]).tolist() == [1, 2]


def test_what_numpy_refuses_is_said() -> None:
    with pytest.raises(UsageError, match="NumPy makes no array of the value 'x'"):
        given_array("x", [[1], [1, 2]])


def test_an_error_of_the_value_itself_is_not_hidden() -> None:
    class Odd:
        def __array__(self, *_: object) -> np.ndarray:
            raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        given_array("x", Odd())


def test_a_masked_array_is_refused() -> None:
    with pytest.raises(UsageError, match="the value 'x' is a masked array"):
        given_array("x", np.ma.masked_array([1], [1]))


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.ones(2, requires_grad=True)
    assert given_array("x", x).ctypes.data == x.data_ptr()
    assert given_array("x", torch.nn.Parameter(torch.ones(2))).tolist() == [1, 1]
    assert given_array("x", torch.complex(x, x).detach().conj().imag).tolist() == [-1, -1]
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        short = given_array("x", torch.tensor([1.5, -2.0]).to(getattr(torch, name)))
        assert short.dtype.name == name
        assert short.astype(np.float32).tolist() == [1.5, -2]
    with pytest.raises(UsageError, match="NumPy makes no array of the value 'x'") as refusal:
        given_array("x", torch.ones(2, device="meta"))
    assert "hint" in str(refusal.value)
