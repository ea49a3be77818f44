"""What one rank tells: which elements differ, bit for bit."""

import numpy as np

from polysched.measure.timing.rank_run import _equal


def test_elements_are_compared_by_their_bits() -> None:
    a = np.array([[0.0, 1.0], [np.nan, 2.0]])
    b = np.array([[-0.0, 1.0], [np.nan, 3.0]])
    assert _equal(a, b).tolist() == [[False, True], [True, False]]
    assert _equal(np.float32(1.5).reshape(()), np.float32(1.5).reshape(())).all()
