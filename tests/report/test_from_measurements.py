"""Entries of measurements: labels say in what they differ, and tiles of one kernel come together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from polysched.measure.measurement import Measurement
from polysched.measure.timing.statistics import Sample
from polysched.report.from_measurements import entries_of_measurements, make_variant
from tests.report.made_results import measured


def labels(*measurements: Measurement) -> list[str]:
    return [e.label for e in entries_of_measurements(measurements)]


@pytest.mark.parametrize(("first", "second", "expected"), [
    ({}, {}, ["", ""]), ({"sizes": {"n": 5, "m": 2}}, {"sizes": {"n": 5, "m": 3}}, ["n=5, m=2", "n=5, m=3"]),
    ({"threads": 1}, {"threads": 4}, ["1 thread", "4 threads"]),
    ({"cold_cache": True}, {}, ["cold cache", "warm cache"]),
    ({"options": {"tile": [8, 4]}}, {"options": {"tile": "auto"}}, ["tile 8x4", "tile auto"]),
    ({"options": {"tile": [8], "iss": True}}, {"options": {"tile": [8]}}, ["iss True", ""]),
    ({"threads": 1, "sizes": {"n": 1}}, {"sizes": {"n": 2}}, ["n=1; 1 thread", "n=2; 2 threads"])])
def test_a_label_is_what_differs(first: dict[str, Any], second: dict[str, Any], expected: list[str]) -> None:
    assert labels(measured("gemm", **first), measured("gemm", **second)) == expected


def test_kernels_of_one_name_in_two_files_are_two() -> None:
    apart = measured("gemm", threads=1), measured("gemm", source="other.c", threads=4), measured("lu")
    assert labels(*apart) == [""] * 3
    build = replace(measured("gemm").transformed, flags=("-O2",))
    first, second = labels(measured("gemm"), measured("gemm", transformed=build))
    assert first != second == f"{build.compiler} -O2"


def test_tiles_of_one_kernel_stand_in_its_first_entry() -> None:
    edges = [[8, 8], [32, 4], [16, 16]]
    own = [measured("gemm", seconds=float(n + 1), options={"tile": e, "fusion": "max"}) for n, e in enumerate(edges)]
    others = [measured("gemm", options={"tile": "auto", "fusion": "max"}), measured("gemm", options={"tile": [2, 2]}),
              measured("gemm", threads=1, options={"tile": [4, 4], "fusion": "max"}),
              measured("gemm", timing=None, failure="crashed", verification=None, options={"tile": [64, 64],
                                                                                         "fusion": "max"})]
    first, *rest = entries_of_measurements([own[0], *others, *own[1:]])
    assert [t.edges for t in first.tiles] == [(8, 8), (32, 4), (16, 16)]
    assert [round(t.seconds) for t in first.tiles] == [1, 2, 3]
    assert not any(e.tiles for e in rest)


def test_a_measurement_without_times_says_why() -> None:
    (entry,) = entries_of_measurements([measured("gemm", timing=None, verification=None, failure="it crashed")])
    assert entry.variants == ()
    assert "it crashed" in entry.problem
    (timed,) = entries_of_measurements([measured("gemm", ratio=3.0)])
    original, ours = timed.variants
    assert (original.name, ours.name, timed.problem) == ("original", "polysched", "")
    assert ours.speed_up == pytest.approx(3.0, rel=0.05)
    assert original.speed_up is None
    assert timed.provenance.command == "polysched run gemm.c"


def test_a_variant_is_its_samples() -> None:
    samples = [Sample(wall_seconds=w, thread_cpu_seconds=w / (1 + (w > 2)), process_cpu_seconds=w / (1 + (w > 2)),
                      involuntary_switches=0, counters={"cycles": int(10 * w)}) for w in (3.0, 1.0, 2.0, 2.0)]
    found = make_variant("a", samples, note="known")
    assert (found.seconds, found.least, found.largest, found.repeats, found.disturbed) == (2.0, 1.0, 3.0, 4, 1)
    assert (dict(found.counters), found.note) == ({"cycles": 20}, "known")
    assert make_variant("a", samples, seconds=7.0).seconds == 7.0
