"""Whether other programs disturbed a call: by the files in which Linux says so."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from polysched.measure.timing.disturbance import Crowd, Pressure, Sharing, Waiting, watch

CALL = {"wall_seconds": 1.0, "process_cpu_seconds": 2.0}


@pytest.fixture
def machine(tmp_path):
    """Says what the files of a machine with two cores say, and reads them."""
    class Machine:
        pressure, load, threads = tmp_path / "pressure", tmp_path / "load", tmp_path / "task"

        def says(self, *, waited: float, ready: int, own: str = "R") -> None:
            self.pressure.write_text(f"some avg10=1.00 avg300=3.00 total={int(waited * 1e6)}\nfull total=7\n")
            self.load.write_text(f"0.31 0.81 1.53 {ready}/93 3791\n")
            for number, state in enumerate(own):
                (self.threads / str(number)).mkdir(parents=True, exist_ok=True)
                (self.threads / str(number) / "stat").write_text(f"{number} (a (R) b) {state} 1 2 3\n")

        def crowd(self) -> Crowd:
            return Crowd(str(self.load), str(self.threads))

    return Machine()


def test_waiting_is_read_in_seconds(machine, tmp_path):
    machine.says(waited=1.5, ready=1)
    assert Pressure(str(machine.pressure)).waited() == 1.5
    assert Pressure(str(tmp_path / "missing")).waited() == 0.0


def test_with_a_core_for_each_thread_whoever_waits_disturbs(machine):
    machine.says(waited=1.0, ready=1)
    found = Waiting(Pressure(str(machine.pressure)))
    for waited, undisturbed in ((1.0, True), (1.1, True), (1.2, False)):
        machine.says(waited=1.0, ready=1)
        found.begin()
        machine.says(waited=waited, ready=1)
        assert found.undisturbed(CALL) is undisturbed


def test_others_are_those_that_are_ready_beside_the_own_threads(machine, tmp_path):
    machine.says(waited=0.0, ready=4, own="RSR")
    assert machine.crowd().others() == 2
    machine.says(waited=0.0, ready=1, own="RRR")
    assert machine.crowd().others() == 0, "between the two reads some became ready"
    assert Crowd(str(tmp_path / "missing"), str(tmp_path / "none")).others() == 0
    machine.says(waited=0.0, ready=3)
    assert Crowd(str(machine.load), str(tmp_path / "none")).others() == 2, "this thread is one"


@pytest.mark.parametrize(("waited", "own_seconds", "ready", "undisturbed"), [
    (1.0, 2.0, (1, 1), True),     # own threads wait for each other on two cores
    (1.0, 1.6, (1, 1), False),    # others had four tenths of a second meanwhile
    (0.5, 1.2, (1, 1), True),     # the cores were free for half of the call
    (0.0, 0.1, (1, 1), True),     # it slept
    (1.0, 2.0, (2, 2), False),    # another program is there before and after
    (1.0, 2.0, (2, 1), True),     # one was there before, and took nothing
    (9.0, 2.0, (1, 1), True)])    # the system counted late
def test_with_more_threads_than_cores_others_take_what_the_process_does_not_get(
        machine, waited, own_seconds, ready, undisturbed):
    machine.says(waited=5.0, ready=ready[0])
    found = Sharing(Pressure(str(machine.pressure)), machine.crowd(), cores=2)
    found.begin()
    machine.says(waited=5.0 + waited, ready=ready[1])
    assert found.undisturbed({"wall_seconds": 1.0, "process_cpu_seconds": own_seconds}) is undisturbed


def test_others_on_cores_that_the_process_may_not_use_do_not_disturb_it(machine):
    machine.says(waited=0.0, ready=3)
    found = Sharing(Pressure(str(machine.pressure)), machine.crowd(), cores=2, spare=2)
    found.begin()
    assert found.undisturbed(CALL)


@pytest.mark.skipif(not Path("/proc/loadavg").exists() or Path("/proc/loadavg").read_text().split()[3][0] == "0",
                    reason="the system does not say how many threads are ready")
def test_a_busy_program_is_seen_beside_this_one():
    crowd = Crowd()
    busy = subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE)
    try:
        assert busy.stdout is not None
        busy.stdout.readline()
        seen = []
        while len(seen) < 20:
            seen.append(crowd.others())
            time.sleep(0.001)
        assert sum(others > 0 for others in seen) >= 15
    finally:
        busy.kill()
        busy.communicate()


def test_the_watch_of_this_process_answers():
    own, shared = watch(shares_cores=False), watch(shares_cores=True)
    assert isinstance(own, Waiting)
    own.begin()
    assert own.undisturbed({"wall_seconds": 1e9}), "nobody waits so long"
    assert isinstance(shared, Sharing)
    shared.begin()
    assert not shared.undisturbed({"wall_seconds": 1.0, "process_cpu_seconds": -1.0}), "others had a second"
