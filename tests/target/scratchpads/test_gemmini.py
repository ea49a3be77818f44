"""What gemmini has."""

from __future__ import annotations

from polysched.target.scratchpads.gemmini import GEMMINI


def test_it_has_what_its_maker_says() -> None:
    found = {memory.name: memory.capacity_bytes // 1024 for memory in GEMMINI.memories}
    assert found == {"SCRATCHPAD": 256, "ACCUMULATOR": 64}
    assert {move.engine for move in GEMMINI.moves} <= {*GEMMINI.engines}
