"""Likely values of open sizes: checked, sampled."""

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.graph import from_text
from polysched.model.likely import likely_sizes, sampled_sizes, without_unknown

GRAPH = from_text("graph g(x: float32[N, 4], y: float32[M, 3]) {\n  let z = Relu(x)\n  return z\n}")


def test_values_grow_and_stand_once() -> None:
    assert likely_sizes(GRAPH, {"N": (64, 1, 64), "M": 7}) == {"N": (1, 64), "M": (7,)}
    assert likely_sizes(GRAPH, None) == {}
    assert likely_sizes(GRAPH, {"N": np.array([9, 2]), "M": np.int64(3)}) == {"N": (2, 9), "M": (3,)}


@pytest.mark.parametrize(("given", "message"), [
    ({"K": 3}, "no open size 'K'"), ({"N": (2, 0)}, "at least 1"), ({"N": ()}, "at least 1"), ({"N": True}, "at least"),
    ({"N": (1, "a")}, "at least 1"), ({"N": None}, "at least 1"), ({"N": (1, 2.5)}, "at least 1"),
    ({"N": 2**31}, "at least 1"),
    ({"N": (1, 2), "M": (1, 2)}, "one size may have several")])
def test_refusals(given: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        likely_sizes(GRAPH, given)


def test_sampled_sizes_have_the_likely_ones_and_steps_between() -> None:
    assert sampled_sizes((1, 100)) == (1, 4, 16, 64, 100)
    assert sampled_sizes((7,)) == (7,)
    assert sampled_sizes((3, 5)) == (3, 5)


def test_a_part_is_told_of_its_own_sizes() -> None:
    assert without_unknown(GRAPH, {"N": 3, "other": (1, 2)}) == {"N": 3}
    assert without_unknown(GRAPH, None) is None
