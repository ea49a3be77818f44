"""Decisions by hand."""

import pytest

from polysched.errors import UsageError
from polysched.gpu.scratchpad.options import ScratchpadOptions


def test_edges_of_a_group_come_ahead_of_those_of_all() -> None:
    own = ScratchpadOptions(tiles=(("kernel0", (4, 8)), ("", (16,))))
    assert own.edges("kernel0") == (4, 8)
    assert own.edges("kernel1") == (16,)
    assert ScratchpadOptions().edges("kernel0") == ()


def test_edges_below_one_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        ScratchpadOptions(tiles=(("", (0,)),))
