"""Engines: what waits for what."""

from __future__ import annotations

import pytest

from polysched.errors import BudgetExceededError
from polysched.gpu.limits import LIMITS
from polysched.gpu.scratchpad import simulation
from polysched.gpu.scratchpad.instructions import Instruction, Place
from polysched.gpu.scratchpad.placement import Placed, Placement
from polysched.gpu.scratchpad.simulation import Timeline, simulate
from polysched.target.scratchpads.davinci import DAVINCI

NOWHERE = Placement(slots=(), peaks={})


def _own(engine: str, cycles: int, reads: tuple[Place, ...] = (), writes: tuple[Place, ...] = ()) -> Instruction:
    return Instruction(engine=engine, name=engine, cycles=cycles, reads=reads, writes=writes)


def _run(*instructions: Instruction, placement: Placement = NOWHERE) -> Timeline:
    return simulate("a test", DAVINCI, [(instructions, placement)], 4096)


def test_engines_run_at_the_same_time() -> None:
    assert _run(_own("MTE2", 10), _own("CUBE", 7)).cycles == 10
    assert _run(_own("CUBE", 10), _own("CUBE", 7)).cycles == 17


def test_a_reader_waits_for_its_writer_and_a_writer_for_readers() -> None:
    a, b = ("a", 0), ("a", 1)
    assert _run(_own("MTE2", 10, writes=(a,)), _own("CUBE", 7, reads=(a,))).cycles == 17
    one = _run(*(own for _ in range(4) for own in (_own("MTE2", 10, writes=(a,)), _own("CUBE", 10, reads=(a,)))))
    two = _run(*(own for k in range(4) for own in (_own("MTE2", 10, writes=((a, b)[k % 2],)),
                                                   _own("CUBE", 10, reads=((a, b)[k % 2],)))))
    assert (one.cycles, two.cycles) == (80, 50)


def test_buffers_with_common_bytes_wait_for_each_other() -> None:
    slots = tuple(Placed(buffer=name, slot=0, memory="UB", offset=offset, size=64, first=0, last=0)
                  for name, offset in (("a", 0), ("b", 32), ("c", 128)))
    placement = Placement(slots=slots, peaks={})
    first = _own("VECTOR", 10, reads=(("a", 0),))
    assert _run(first, _own("MTE2", 5, writes=(("b", 0),)), placement=placement).cycles == 15
    assert _run(first, _own("MTE2", 5, writes=(("c", 0),)), placement=placement).cycles == 10


def test_groups_follow_each_other() -> None:
    part = ([_own("MTE2", 10)], NOWHERE)
    assert simulate("a test", DAVINCI, [part, ([_own("CUBE", 5)], NOWHERE)], 1.0).cycles == 15


def test_the_figures_of_a_timeline() -> None:
    found = _run(_own("CUBE", 4))
    assert found.busy["CUBE"] == 4
    assert found.cube_utilisation == 0.0
    assert found.headline() == "of a test: 4 cycles, cube 0% used, busiest CUBE"
    assert found.to_json()["instructions"] == 1
    assert "<svg" in found._repr_html_()


def test_too_many_instructions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace
    monkeypatch.setattr(simulation, "LIMITS", replace(LIMITS, most_instructions=3))
    with pytest.raises(BudgetExceededError, match="more than 3 instructions"):
        _run(*(_own("CUBE", 1) for _ in range(4)))
