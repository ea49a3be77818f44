"""Permutations of the loops of a perfect nest."""

from __future__ import annotations

import pytest

from polysched.errors import IllegalScheduleError
from polysched.scheduling import steps
from polysched.scheduling.primitives import Interchange, Reorder
from tests.scheduling.primitives.programs import names, order, product, stencil


def test_interchange_and_reorder():
    swapped = steps.apply(product(), Interchange(outer="i", inner="k"))
    assert names(swapped) == ["k", "j", "i"]
    assert names(steps.apply(product(), Reorder(order=("k", "i", "j")))) == ["k", "i", "j"]
    assert order(swapped)[1] == ("S0", (1, 0, 0))


def test_interchange_is_refused_with_a_pair():
    with pytest.raises(IllegalScheduleError) as caught:
        steps.apply(stencil(), Interchange(outer="t", inner="i"))
    assert "S0[" in caught.value.witness
    assert "N = " in caught.value.witness
