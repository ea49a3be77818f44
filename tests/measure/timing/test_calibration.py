"""Calibration: the program compiles and runs isolated, its figures get the units of the costs; no time is judged."""

import ctypes
from pathlib import Path

import pytest

from polysched.errors import RunFailedError
from polysched.measure.processes.building import DEFAULT_FLAGS, compile_shared
from polysched.measure.timing import calibration
from polysched.measure.timing.calibration import calibrate, calibrated
from polysched.measure.timing.calibration_source import ADDITIONS, calibration_program
from polysched.target import CacheLevel, Costs, Target, find_compiler

MACHINE = Target(frequency_hz=1e9, caches=(CacheLevel(level=1, size_bytes=1 << 15),), costs=Costs(row_cycles=7))
REPORTS = [{"phase": "measuring"}, {"measured": "team", "seconds": [9.0, 8.0, 10.0]},
           {"measured": "barrier", "seconds": [2.0, 4.0, 2.0]}, {"measured": "row", "seconds": [-1e-9, 5e-9, 9e-9]},
           {"measured": "vector", "seconds": [1e-9, 1e-9, 2e-9]}, {"measured": "clock", "seconds": [1e-9, 5e-10, 2e-9]},
           {"measured": "allocation", "seconds": [3.0]}, {"measured": "byte", "level": 0, "seconds": [0.5, 0.25, 0.5]},
           {"measured": "shared byte", "seconds": [0.25, 0.125, 0.25]}]


def test_figures_have_the_units_of_costs() -> None:
    found = calibrated(REPORTS, MACHINE, 4, compiler="gcc", disturbed=False)
    figures = {f.name: f for f in found.figures}
    assert figures["team_start_seconds"].value == 5.0     # two barriers are part of a team
    assert figures["barrier_seconds"].value == 1.0        # per doubling, of which four threads are two
    rows = figures["row_cycles"]
    assert (rows.value, rows.least, rows.shipped) == (pytest.approx(5.0), 0.0, 7)
    assert figures["vector_slowdown"].value == pytest.approx(2.0)        # one a cycle, of two that the ports say
    assert figures["line_memory"].value == 32.0
    assert (figures["memory_cores"].value, figures["memory_cores"].most) == (2.0, 4.0)
    assert found.of_target(MACHINE).costs.memory_cores == 2.0
    assert found.bandwidth == ((0, 2.0),)


def test_cycles_are_those_of_the_measured_clock() -> None:
    faster = [r | {"seconds": [5e-10]} if r.get("measured") == "clock" else r for r in REPORTS]
    found = calibrated(faster, MACHINE, 4, compiler="gcc", disturbed=False)
    figures = {f.name: f for f in found.figures}
    assert (figures["frequency_hz"].value, figures["frequency_hz"].shipped) == (pytest.approx(2e9), 1e9)
    assert (figures["row_cycles"].value, figures["vector_slowdown"].value) == pytest.approx((10.0, 4.0))
    target = found.of_target(MACHINE)
    assert target.frequency_hz == pytest.approx(2e9)
    assert target.multiply_adds_per_cycle * target.frequency_hz == pytest.approx(1e9)   # as many as were measured


def test_one_thread_has_no_team() -> None:
    found = calibrated([r for r in REPORTS if r.get("measured") not in ("team", "barrier", "shared byte")], MACHINE, 1,
                       compiler="gcc", disturbed=True)
    assert {f.name for f in found.figures} == {
        "frequency_hz", "row_cycles", "allocation_seconds", "vector_slowdown", "line_memory"}
    assert found.of_target(MACHINE).costs.barrier_seconds == MACHINE.costs.barrier_seconds


def test_the_program_computes(tmp_path: Path) -> None:
    library = ctypes.CDLL(str(compile_shared(calibration_program(128), name="calibration", folder=tmp_path,
                                             compiler=find_compiler(), flags=DEFAULT_FLAGS).path))
    numbers = (ctypes.c_double * 5)(*[1.0] * 5)
    more = (ctypes.c_double * 5)(*[2.0] * 5)
    library.calibrate_rows(numbers, more, ctypes.c_long(2), ctypes.c_long(4))
    once = 1.0 * 0.999 + 2.0
    assert list(numbers) == pytest.approx([once * 0.999 + 2.0] * 4 + [1.0])
    library.calibrate_clock.restype = ctypes.c_long
    assert library.calibrate_clock(ctypes.c_long(3)) == 3 * ADDITIONS
    library.calibrate_allocation(ctypes.c_long(2), ctypes.c_ulong(4096))
    library.calibrate_team(ctypes.c_long(2), 2)
    library.calibrate_barrier(ctypes.c_long(2), 2)


def test_a_busy_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> None:
        raise RunFailedError("other programs use this machine")
    monkeypatch.setattr(calibration, "refuse_busy", busy)
    with pytest.raises(RunFailedError, match="other programs"):
        calibrate(find_compiler())


@pytest.mark.slow
def test_this_machine_can_be_calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "host", lambda: MACHINE)
    found = calibrate(find_compiler(), even_if_busy=True)
    assert found.disturbed
    assert not {"team_start_seconds", "barrier_seconds", "memory_cores"} & {f.name for f in found.figures}
    assert {level for level, _ in found.bandwidth} == {0, 1}
    assert all(f.least <= f.value <= f.most for f in found.figures)
    assert 2e8 < found.of_target(MACHINE).frequency_hz < 8e9   # of any machine, however busy
