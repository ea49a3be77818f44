"""Latency on a loaded mesh: by hand, by a simulation of its own, and beside recorded runs of BookSim2."""

import json
import random
from collections import deque
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.experiment.folders import load_module
from polysched.mesh.contention import Router, packet_latency
from polysched.mesh.target import MeshTarget

RECORDED = Path(__file__).parents[2] / "experiments" / "mesh" / "booksim.json"
LINE = MeshTarget(rows=1, columns=3)


def test_an_empty_mesh_takes_hops() -> None:
    rates = np.zeros((9, 9))
    rates[0, 8] = 1e-9
    found = packet_latency(rates, MeshTarget(rows=3, columns=3), Router(hop=3, ends=4, flits=5))
    assert found.cycles == pytest.approx(4 * 3 + 4 + 4)
    assert found.cycles == pytest.approx(found.empty)


def test_packets_of_one_input_do_not_wait_for_each_other() -> None:
    rates = np.zeros((3, 3))
    rates[0, 2] = 0.9
    found = packet_latency(rates, LINE, Router(hop=1))
    assert found.cycles == pytest.approx(found.empty)
    assert found.busiest == pytest.approx(0.9)


def test_a_link_that_is_asked_for_too_much_saturates() -> None:
    rates = np.zeros((3, 3))
    rates[0, 2] = rates[1, 2] = 0.5
    assert packet_latency(rates, LINE, Router(hop=1)).cycles == np.inf


def test_a_core_that_sends_more_than_its_link_passes_saturates_it() -> None:
    rates = np.zeros((3, 3))
    rates[0, 2] = 1.5
    assert packet_latency(rates, LINE, Router(hop=1)).cycles == np.inf


@pytest.mark.parametrize("share", [0.2, 0.35, 0.45])
def test_two_inputs_wait_as_in_a_simulation(share: float) -> None:
    rates = np.zeros((3, 3))
    rates[0, 2] = rates[1, 2] = share
    draw, queue, waits = random.Random(1), deque(), []
    for cycle in range(300_000):
        came = [cycle for _ in range(2) if draw.random() < share]
        queue.extend(came)
        if queue:
            waits.append(cycle - queue.popleft())
    found = packet_latency(rates, LINE, Router(hop=1))
    assert found.cycles - found.empty == pytest.approx(np.mean(waits), rel=0.05)


def test_nothing_sent_takes_nothing() -> None:
    assert packet_latency(np.zeros((3, 3)), LINE, Router(hop=1)).cycles == 0


@pytest.mark.parametrize("rates", [np.zeros((2, 2)), -np.ones((3, 3)), np.full((3, 3), np.nan)])
def test_rates_are_those_of_the_mesh(rates) -> None:
    with pytest.raises(UsageError, match="from every core to every core"):
        packet_latency(rates, LINE, Router(hop=1))


def test_a_router_takes_time() -> None:
    with pytest.raises(UsageError, match="a router takes time"):
        Router(hop=-1)


def test_recorded_runs_of_booksim_are_predicted() -> None:
    booksim = load_module(RECORDED.with_name("booksim.py"))
    recorded = json.loads(RECORDED.read_text())
    assert recorded["revision"].startswith("28f43299")
    assert recorded["configuration"] == booksim.CONFIGURATION
    assert booksim.router(recorded["runs"]) == Router(hop=4, ends=6)
    found = booksim.compared(recorded)
    assert {(r["traffic"], r["rate"]) for r in found} == {(t, r) for t, rates in booksim.RATES.items() for r in rates}
    assert max(abs(r["error"]) for r in found) < 0.15
    assert max(r["busiest"] for r in found) > 0.75
