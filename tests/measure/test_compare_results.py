"""Comparing two results files: beyond noise, by ratios, and never across machines by accident."""

import dataclasses

import pytest

from polysched.errors import UsageError
from polysched.measure.compare_results import Change, Verdict, compare_results
from polysched.measure.measurement import Measurement
from polysched.measure.timing.statistics import Sample, Timing
from tests.measure.test_results import MEASUREMENT


def sample(wall: float) -> Sample:
    return Sample(wall_seconds=wall, thread_cpu_seconds=wall, process_cpu_seconds=wall, involuntary_switches=0)


def result(ratios: list[float], *, function: str = "f", scale: float = 1.0) -> Measurement:
    timing = Timing(original=tuple(sample(scale * r) for r in ratios), transformed=(sample(scale),) * len(ratios),
                    warmups=(), threads=2)
    return dataclasses.replace(MEASUREMENT, timing=timing, function=function)


def around(middle: float, *, noise: float = 0.02) -> list[float]:
    return [middle * (1 + noise * (i - 10) / 10) for i in range(21)]


FAILED = dataclasses.replace(MEASUREMENT, timing=None, failure="crashed")


def only(changes: tuple[Change, ...]) -> Change:
    (change,) = changes
    return change


@pytest.mark.parametrize(("before", "after", "verdict"), [
    (2.0, 2.02, Verdict.SAME), (2.0, 3.0, Verdict.FASTER), (2.0, 1.5, Verdict.SLOWER)])
def test_a_change_beyond_noise_counts(before: float, after: float, verdict: Verdict) -> None:
    change = only(compare_results([result(around(before))], [result(around(after))]))
    assert change.verdict is verdict
    assert change.change == pytest.approx(after / before)
    assert change.is_worse is (verdict is Verdict.SLOWER)


def test_overlapping_intervals_are_noise() -> None:
    noisy = [result(around(2.0, noise=0.9))], [result(around(1.8, noise=0.9))]
    assert only(compare_results(*noisy)).verdict is Verdict.SAME


def test_small_changes_do_not_matter_however_sure() -> None:
    sure = [result(around(2.0, noise=1e-4))], [result(around(1.95, noise=1e-4))]
    assert only(compare_results(*sure)).verdict is Verdict.SAME
    assert only(compare_results(*sure, threshold=0.01)).verdict is Verdict.SLOWER


def test_a_slower_machine_state_cancels_out() -> None:
    assert only(compare_results([result(around(2.0))], [result(around(2.0), scale=1.7)])).verdict is Verdict.SAME


def test_times_are_compared_when_the_original_changed() -> None:
    after = result(around(2.0), scale=1.7)
    after = dataclasses.replace(after, original=dataclasses.replace(after.original, source_sha256="11"))
    change = only(compare_results([result(around(2.0))], [after]))
    assert (change.verdict, change.by_time) == (Verdict.SLOWER, True)
    slower_compiler = dataclasses.replace(MEASUREMENT, original=dataclasses.replace(
        MEASUREMENT.original, compile_seconds=9.0))
    assert not only(compare_results([MEASUREMENT], [slower_compiler])).by_time


def test_verification_counts() -> None:
    good = result(around(2.0))
    assert only(compare_results([good], [FAILED])).verdict is Verdict.BROKEN
    assert only(compare_results([good], [FAILED])).is_worse
    assert only(compare_results([FAILED], [good])).verdict is Verdict.REPAIRED
    assert only(compare_results([FAILED], [FAILED])).verdict is Verdict.FAILED


def test_results_without_a_partner_are_listed_and_the_last_of_each_counts() -> None:
    changes = compare_results([result(around(2.0)), result(around(1.0), function="g")],
                              [result(around(9.0)), result(around(2.0)), result(around(1.0), function="h")])
    assert [(c.name.split(": ")[1][0], c.verdict) for c in changes] == [
        ("f", Verdict.SAME), ("g", Verdict.GONE), ("h", Verdict.NEW)]


def test_results_of_several_options_in_one_file_are_kept_apart() -> None:
    """The last one stood for all of them, and hid what became slower before it."""
    def tiled(ratio: float, tile: object) -> Measurement:
        return dataclasses.replace(result(around(ratio)), options={"scheduler": "pluto", "tile": tile})
    changes = compare_results([tiled(2.0, "auto"), tiled(3.0, 16)], [tiled(1.0, "auto"), tiled(3.0, 16)])
    assert [(c.name.rsplit(", ", 1)[1], c.verdict) for c in changes] == [
        ("tile auto", Verdict.SLOWER), ("tile 16", Verdict.SAME)]
    assert only(compare_results([tiled(2.0, "auto")], [tiled(3.0, 16)])).verdict is Verdict.FASTER


def test_files_without_anything_in_common_are_refused() -> None:
    with pytest.raises(UsageError, match="no function with the same sizes"):
        compare_results([result(around(1.0))], [result(around(1.0), function="g")])


def test_machines_are_not_mixed_unless_meant() -> None:
    other = dataclasses.replace(MEASUREMENT, machine=dataclasses.replace(MEASUREMENT.machine, cpu="b"))
    with pytest.raises(UsageError, match="the results come from different machines"):
        compare_results([MEASUREMENT], [other])
    assert compare_results([MEASUREMENT], [other], any_machine=True)
