"""The interpreter: values, other sizes, and what it refuses."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError, UsageError
from polysched.graph import from_text, interpret

GRAPH = from_text("""graph f(x: float32[N, 2]) {
  let s = ReduceSum(x)
  let y = Div(x, s)
  return y, s
}""")


@pytest.mark.parametrize("rows", [1, 3])
def test_it_runs_for_every_size(rows: int) -> None:
    x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2) + 1
    found = interpret(GRAPH, {"x": x})
    np.testing.assert_allclose(found["y"], x / x.sum(), rtol=1e-6)
    assert found["s"].shape == (1, 1)


def test_inputs_of_another_type_are_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="the input 'x' is missing"):
        interpret(GRAPH, {})
    with pytest.raises(UnsupportedGraphError, match=r"the input 'x' is float32\[N, 2\]"):
        interpret(GRAPH, {"x": np.zeros((3, 3), np.float32)})
    with pytest.raises(UnsupportedGraphError, match="float64"):
        interpret(GRAPH, {"x": np.zeros((3, 2))})


def test_a_mask_is_not_lost_in_silence() -> None:
    with pytest.raises(UsageError, match="the value 'x' is a masked array"):
        interpret(GRAPH, {"x": np.ma.masked_array(np.ones((1, 2), np.float32), [[0, 1]])})
