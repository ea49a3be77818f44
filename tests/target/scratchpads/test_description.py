"""What a description refuses, its routes, and what a move costs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.errors import UsageError
from polysched.target.scratchpads import SCRATCHPADS
from polysched.target.scratchpads.davinci import DAVINCI
from polysched.target.scratchpads.description import MEMORY, Memory
from polysched.tensorize.registry import find_intrinsic


@pytest.mark.parametrize("name", SCRATCHPADS)
def test_the_memories_of_the_cube_are_those_of_its_instruction(name: str) -> None:
    target = SCRATCHPADS[name]
    own = find_intrinsic(target.cube.intrinsic)
    described = {pad.name.upper(): pad.capacity_bytes for pad in own.scratchpads}
    for operand in own.operands:
        memory = target.memory(target.cube.operands[operand.name])
        assert described[memory.name] == memory.capacity_bytes
    assert "nothing measured" in target.source


def test_routes_have_the_fewest_moves() -> None:
    assert [m.destination for m in DAVINCI.route(MEMORY, "L0A")] == ["L1", "L0A"]
    assert [m.destination for m in DAVINCI.route("UB", "L0B")] == ["L1", "L0B"]
    with pytest.raises(UsageError, match="no moves from L0A to UB"):
        DAVINCI.route("L0A", "UB")


def test_a_move_takes_whole_rows_and_starts_again_behind_its_most() -> None:
    move = replace(DAVINCI.moves[0], bytes_per_cycle=32, startup_cycles=10, row_bytes=32, rows=4)
    assert move.cycles(4, 32) == 10 + 4
    assert move.cycles(5, 33) == 2 * 10 + 5 * 2


@pytest.mark.parametrize(("change", "words"), [
    ({"engines": ("MTE1",)}, "no engine"), ({"memories": DAVINCI.memories[1:]}, "no memory L1"),
    ({"slots": 3}, "3 copies"), ({"moves": DAVINCI.moves[2:]}, "no moves from DRAM to L0A")])
def test_descriptions_that_contradict_themselves_are_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        replace(DAVINCI, **change)


def test_memories_are_identifiers_of_whole_lines() -> None:
    for own in ({"name": "DRAM"}, {"name": "a b"}, {"capacity_bytes": 33}, {"banks": 0}):
        with pytest.raises(UsageError):
            Memory(**{"name": "M", "capacity_bytes": 64, "banks": 1, "line_bytes": 32, **own})
