"""The device that a process of its own finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.emit_gpu.opencl_wheels import Wheels
from polysched.measure.processes import opencl_device as module
from polysched.measure.processes.execution import Ran
from polysched.measure.processes.opencl_device import opencl_device
from tests.emit_gpu.emitted import needs_device


@pytest.fixture(autouse=True)
def ask_again() -> None:
    module._asked.cache_clear()


def test_the_device_that_emitted_code_takes() -> None:
    needs_device()
    found = opencl_device()
    assert found is not None
    assert found.platform
    assert found.units >= 1


def test_a_device_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_device()
    monkeypatch.setenv("POLYSCHED_OPENCL_DEVICE", "no device has this name")
    assert opencl_device() is None


def test_it_is_asked_once_for_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(command: list[str], *, seconds: float) -> Ran:
        asked.append(command)
        return Ran(output='{"platform": "p", "device": "d", "is_cpu": true, "units": 3, "gigahertz": 2.5}\n', errors="",
                   status=0)

    monkeypatch.setattr(module, "run_program", run)
    first = opencl_device()
    assert first is opencl_device()
    assert first is not None
    assert (first.device, first.units, first.is_cpu) == ("d", 3, True)
    monkeypatch.setenv("POLYSCHED_OPENCL_PLATFORM", "another")
    opencl_device()
    assert len(asked) == 2


@pytest.mark.parametrize("ran", [Ran(output="", errors="no library", status=1), Ran(output="", errors="", status=0),
                                 Ran(output="", errors="", status=None)])
def test_no_driver_is_no_device(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "run_program", lambda *_, **__: ran)
    assert opencl_device() is None


def test_what_drivers_print_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    told = '{"platform": "p", "device": "d", "is_cpu": false, "units": 3, "gigahertz": 0}'
    monkeypatch.setattr(module, "run_program", lambda *_, **__: Ran(
        output=f"a driver starts\n{told}\nand ends\n", errors="", status=0))
    found = opencl_device()
    assert found is not None
    assert found.device == "d"


def test_wheels_are_asked_where_they_are_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], *, seconds: float) -> Ran:
        asked.append(command)
        return Ran(output="", errors="", status=0)

    monkeypatch.setattr(module, "run_program", run)
    monkeypatch.setattr(module, "wheel_flags", lambda: None)
    opencl_device()
    assert asked[0][-1] == "libOpenCL.so.1"
    own = Wheels(loader=tmp_path / ".libs" / "libOpenCL-1.so", driver=tmp_path / ".libs" / "libpocl.so")
    monkeypatch.setattr(module, "wheel_flags", own.flags)
    monkeypatch.setattr(module, "wheels", lambda: own)
    module._asked.cache_clear()
    opencl_device()
    assert asked[1][-2:] == [str(own.loader), str(tmp_path)]
