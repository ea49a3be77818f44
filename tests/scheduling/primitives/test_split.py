"""Index-set splitting: a loop cut at a value, and first or last iterations taken out."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import Peel
from tests.scheduling.primitives.programs import names, product


def test_peel_takes_out_the_first_iteration_of_every_outer_one():
    peeled = steps.apply(product(), Peel(loop="k"))
    assert names(peeled) == ["i", "j", "k", "k"]
    with pytest.raises(UsageError, match="first or last"):
        steps.apply(product(), Peel(loop="k", where="middle"))
