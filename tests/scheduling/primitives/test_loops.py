"""Names and positions of loops."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import Peel, Reverse
from tests.scheduling.primitives.programs import product


def test_names_must_be_unique():
    peeled = steps.apply(product(), Peel(loop="k"))
    with pytest.raises(UsageError, match="2 loops are called 'k'") as caught:
        steps.apply(peeled, Reverse(loop="k"))
    assert "3: k" in caught.value.hint
    with pytest.raises(UsageError, match="no loop is called 'z'"):
        steps.apply(peeled, Reverse(loop="z"))
