"""Results files: every field survives, writers do not disturb each other, and machines are not mixed."""

import dataclasses
import json
import math
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from polysched.errors import OutputError, UsageError
from polysched.measure.measurement import Build, Listing, Measurement, Verification, Work
from polysched.measure.programs.comparison import ArrayComparison
from polysched.measure.results import append, measurement_from_json, measurement_to_json, read
from polysched.measure.timing.machine import Conditions, Machine, describe_machine, versions
from polysched.measure.timing.peak import Peaks
from polysched.measure.timing.statistics import Sample, Timing

SAMPLE = Sample(wall_seconds=0.25, thread_cpu_seconds=0.25, process_cpu_seconds=0.5, involuntary_switches=1,
                counters={"cycles": 10**9})
COMPARISON = ArrayComparison(array="A", dtype="float64", elements=6, mismatches=0, not_finite=0, changed=True,
                             largest_absolute=1e-17, largest_relative=2e-16, tolerance=1e-9, worst_index=(1, 2),
                             expected=1.0, got=1.0)
BUILD = Build(compiler="gcc", version="gcc 12", flags=("-O3",), source_sha256="00", compile_seconds=0.1)
MEASUREMENT = Measurement(
    experiment="e", source="f.c", function="f", sizes={"n": 3}, threads=2, cold_cache=False,
    options={"tile": [32, 32], "scheduler": "pluto"},
    steps=("schedule: pluto",),
    original=BUILD, transformed=BUILD,
    verification=Verification(arrays=(COMPARISON,), recipe="dominant", seed=1, amplification=1e-15,
                              well_conditioned=True),
    timing=Timing(original=(SAMPLE,) * 3, transformed=(SAMPLE,) * 3, warmups=((SAMPLE, SAMPLE),), threads=2,
                  cpus=(0, 1)),
    failure="", work=Work(flop_count=18, bytes_moved=96), peak_flop_per_second=144.0,
    machine=Machine(cpu="a", isa=("avx2",), cores=2, caches={"L1d": 32768}, memory_bytes=1 << 30, system="Linux"),
    conditions=Conditions(governor="performance", load=0.5), libraries={"islpy": "1"}, git_revision="abc",
    started="2026-01-01T00:00:00+00:00",
    peaks=Peaks(one_core={"float64": 72.0}, all_cores={"float64": 144.0}, bandwidth={1: 500.0, 0: 12.0},
                memory_all_cores=20.0, threads=2, compiler="gcc 12"),
    listings=(Listing(line=3, original="A[i] = 0;\n", schedule="band\n", transformed="A[c0] = 0;\n"),))


def test_every_field_survives() -> None:
    assert measurement_from_json(json.loads(json.dumps(measurement_to_json(MEASUREMENT)))) == MEASUREMENT


def test_the_share_of_the_peak_follows() -> None:
    assert MEASUREMENT.flop_per_second == 18 / 0.25
    assert MEASUREMENT.share_of_peak == 0.5
    assert measurement_to_json(MEASUREMENT)["derived"]["share_of_peak"] == 0.5
    assert dataclasses.replace(MEASUREMENT, peak_flop_per_second=None).share_of_peak is None


def test_a_failed_result_survives_and_has_no_time() -> None:
    failed = dataclasses.replace(MEASUREMENT, verification=None, timing=None, failure="crashed", work=None)
    value = measurement_to_json(failed)
    assert measurement_from_json(value) == failed
    assert value["derived"] == {"verified": False}


def test_an_unverified_result_cannot_have_a_time() -> None:
    wrong = dataclasses.replace(COMPARISON, mismatches=1)
    assert MEASUREMENT.verification is not None
    with pytest.raises(ValueError, match="an unverified result has no time"):
        dataclasses.replace(MEASUREMENT, verification=dataclasses.replace(MEASUREMENT.verification, arrays=(wrong,)))
    with pytest.raises(ValueError, match="an unverified result has no time"):
        dataclasses.replace(MEASUREMENT, failure="crashed")


def test_numbers_that_json_does_not_have_survive() -> None:
    odd = dataclasses.replace(COMPARISON, largest_absolute=math.inf, largest_relative=math.inf, mismatches=1,
                              got=math.nan)
    assert MEASUREMENT.verification is not None
    verification = dataclasses.replace(MEASUREMENT.verification, arrays=(odd,))
    value = json.dumps(measurement_to_json(dataclasses.replace(MEASUREMENT, verification=verification, timing=None)),
                       allow_nan=False)
    result = measurement_from_json(json.loads(value))
    assert result.verification is not None
    assert result.verification.arrays[0].largest_absolute == math.inf
    assert math.isnan(result.verification.arrays[0].got or 0.0)


def test_results_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    for _ in range(3):
        append(path, MEASUREMENT)
    assert read(path) == (MEASUREMENT,) * 3


@pytest.mark.parametrize("tail", [b'{"format_version": 1, "sou', b"{", b"\x00\x00"])
def test_a_line_that_was_cut_off_is_skipped_and_closed(
        tmp_path: Path, tail: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "r.jsonl"
    append(path, MEASUREMENT)
    with path.open("ab") as file:
        file.write(tail)
    assert len(read(path)) == 1
    assert "an unfinished line was skipped" in caplog.text
    append(path, MEASUREMENT)
    assert len(read(path)) == 2


def test_a_first_line_that_was_cut_off_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"format_ver')
    assert read(path) == ()
    append(path, MEASUREMENT)
    assert read(path) == (MEASUREMENT,)


def _append_many(path: Path, count: int) -> None:
    for _ in range(count):
        append(path, MEASUREMENT)


def test_concurrent_writers_do_not_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_many, args=(path, 20)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert read(path) == (MEASUREMENT,) * 60


def test_a_writer_that_is_killed_leaves_a_valid_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    writer = multiprocessing.get_context("spawn").Process(target=_append_many, args=(path, 1_000_000))
    writer.start()
    while not path.exists() or path.stat().st_size < 20_000:
        time.sleep(0.01)
        assert writer.is_alive()
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    append(path, MEASUREMENT)
    assert set(map(str, read(path))) == {str(MEASUREMENT)}


def test_machines_are_not_mixed_unless_meant(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    append(path, MEASUREMENT)
    append(path, dataclasses.replace(MEASUREMENT, machine=dataclasses.replace(MEASUREMENT.machine, cpu="b")))
    with pytest.raises(UsageError, match="the results come from several machines") as refusal:
        read(path)
    assert refusal.value.witness == "a, 2 cores; b, 2 cores"
    assert len(read(path, any_machine=True)) == 2


def test_another_format_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(measurement_to_json(MEASUREMENT) | {"format_version": 99}) + "\n")
    with pytest.raises(UsageError, match="a result has the format version 99, this program reads 2"):
        read(path)


def test_a_result_with_missing_or_unknown_fields_is_refused() -> None:
    value = measurement_to_json(MEASUREMENT)
    for broken in (value | {"surprise": 1}, {k: v for k, v in value.items() if k != "function"}):
        with pytest.raises(UsageError, match="a result is not complete"):
            measurement_from_json(broken)


def test_files_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the results cannot be read"):
        read(tmp_path / "missing")
    with pytest.raises(OutputError, match="the results cannot be written"):
        append(tmp_path / "missing" / "r.jsonl", MEASUREMENT)
    with pytest.raises(OutputError, match="the results cannot be written"):
        append("/dev/full", MEASUREMENT)
    (tmp_path / "list").write_text("[1]\n")
    with pytest.raises(UsageError, match="this is not a results file"):
        read(tmp_path / "list")


def test_this_machine_has_a_description() -> None:
    machine = describe_machine()
    assert machine.cpu
    assert machine.cores >= 1
    assert machine.memory_bytes > 1 << 20
    assert {"python", "islpy", "numpy", "polysched"} <= set(versions())
