"""Times side by side: medians, least and largest, and rates where the work is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.cli.shown import tables
from polysched.cli.shown.tables import PLAIN_WIDTH, console, times_table
from polysched.measure.measurement import Measurement, Work
from polysched.measure.timing.statistics import Sample, Timing
from tests.measure.test_results import MEASUREMENT


def sample(seconds: float) -> Sample:
    return Sample(wall_seconds=seconds, thread_cpu_seconds=seconds, process_cpu_seconds=seconds, involuntary_switches=0)


def measured(work: Work | None, peak: float | None) -> Measurement:
    timing = Timing(original=tuple(map(sample, (2.0, 8.0, 4.0))), transformed=tuple(map(sample, (0.5, 1.0, 3.0))),
                    warmups=(), threads=2)
    return replace(MEASUREMENT, timing=timing, work=work, peak_flop_per_second=peak)


def cells(measurement: Measurement) -> list[list[str]]:
    table = times_table(measurement)
    return [[str(c.header), *map(str, c.cells)] for c in table.columns]


TIMES = [["", "original", "polysched"], ["median s", "4.000000", "1.000000"], ["least s", "2.000000", "0.500000"],
         ["largest s", "8.000000", "3.000000"]]
RATES = ["GFLOP/s", "2.00", "8.00"]


@pytest.mark.parametrize(("work", "peak", "more"), [
    (None, None, []), (None, 16e9, []), (Work(flop_count=0, bytes_moved=5), 16e9, []),
    (Work(flop_count=8 * 10**9, bytes_moved=5), None, [RATES]),
    (Work(flop_count=8 * 10**9, bytes_moved=5), 16e9, [RATES, ["of peak", "12.5%", "50.0%"]])])
def test_columns_are_those_that_are_known(work: Work | None, peak: float | None, more: list[list[str]]) -> None:
    assert cells(measured(work, peak)) == TIMES + more


def test_short_times_are_in_microseconds() -> None:
    timing = Timing(original=(sample(2e-3),) * 3, transformed=tuple(map(sample, (4e-8, 3e-7, 2e-6))), warmups=(),
                    threads=1)
    assert cells(replace(measured(None, None), timing=timing)) == [
        ["", "original", "polysched"], ["median us", "2000.000", "0.300"], ["least us", "2000.000", "0.040"],
        ["largest us", "2000.000", "2.000"]]


@pytest.mark.parametrize("stderr", [True, False])
def test_what_goes_to_a_file_is_plain_and_wide(stderr: bool, capsys: pytest.CaptureFixture[str]) -> None:
    own = console(stderr=stderr)
    assert own.width == PLAIN_WIDTH
    own.print("[bold]x[/bold] " + "y" * 300)
    captured = capsys.readouterr()
    assert (captured.err if stderr else captured.out) == f"x {'y' * 300}\n"
    assert (captured.out if stderr else captured.err) == ""


def test_a_terminal_has_its_own_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "77")
    monkeypatch.setattr(tables.sys.stdout, "isatty", lambda: True, raising=False)
    assert console().width == 77
