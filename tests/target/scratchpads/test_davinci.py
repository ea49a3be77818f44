"""What davinci has."""

from __future__ import annotations

from polysched.target.scratchpads.davinci import DAVINCI


def test_it_has_what_its_maker_says() -> None:
    found = {memory.name: memory.capacity_bytes // 1024 for memory in DAVINCI.memories}
    assert found == {"L1": 1024, "L0A": 64, "L0B": 64, "L0C": 256, "UB": 256}
    assert {move.engine for move in DAVINCI.moves} <= {*DAVINCI.engines}
