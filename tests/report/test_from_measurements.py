"""Entries of measurements: labels say in what they differ, and tiles of one kernel come together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from polysched.measure.measurement import Measurement
from polysched.measure.timing.statistics import Sample
from polysched.pipeline import PipelineOptions, optimize
from polysched.report.from_measurements import entries_of_measurements, make_variant
from polysched.scop import from_c_text
from polysched.target import Target
from polysched.tiling import TilingOptions
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


@pytest.mark.parametrize(("steps", "edges", "picks"), [
    (("schedule: pluto", "band 0: tiles 64x48x384, member 0 parallel"), [(8, 8), (16, 8), (64, 48, 384)],
     [(64, 48, 384)]),
    (("band 0: tiles 16x8",), [(8, 8), (16, 8)], [(16, 8)]),     # also measured by hand: one cell, the model's time
    (("band 0: tiles off",), [(8, 8), (16, 8)], []),
    (("band 0: tiles 16x8", "band 1: tiles 4x4"), [(8, 8), (16, 8)], []),     # no one pick
    (("band 0: tiles off", "band 1: tiles 16x8, wavefront"), [(8, 8), (16, 8)], [(16, 8)])])
def test_the_pick_of_the_model_is_marked_among_tiles_by_hand(
        steps: tuple[str, ...], edges: list[tuple[int, ...]], picks: list[tuple[int, ...]]) -> None:
    first, *_ = entries_of_measurements([
        measured("gemm", seconds=2.0, options={"tile": [8, 8]}),
        measured("gemm", seconds=3.0, options={"tile": [16, 8]}),
        measured("gemm", seconds=1.0, options={"tile": "auto"}, steps=steps)])
    assert [t.edges for t in first.tiles] == edges
    assert [t.edges for t in first.tiles if t.is_pick] == picks
    assert [round(t.seconds) for t in first.tiles if t.is_pick] == [1 for _ in picks]


def test_the_pick_is_read_from_what_a_transformation_tells() -> None:
    scop = from_c_text("void f(int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n]) {\n"
                       "#pragma scop\nfor (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
                       "for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}\n")
    made = optimize(scop, PipelineOptions(tensorize=None, tiling=TilingOptions(target=Target())))
    first, *_ = entries_of_measurements([
        measured("f", options={"tile": [8, 8, 8]}), measured("f", options={"tile": [8, 8, 16]}),
        measured("f", options={"tile": "auto"}, steps=made.steps())])
    assert [t.edges for t in first.tiles if t.is_pick] == [made.tiled.bands[0].sizes]


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
