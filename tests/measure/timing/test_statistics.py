"""Medians of paired ratios, their confidence intervals, and disturbed samples."""

import random
import statistics

import pytest

from polysched.measure.timing.statistics import Sample, Timing, median_interval, ratio_text


def sample(wall: float, *, cpu: float | None = None, process: float | None = None, switches: int = 0) -> Sample:
    cpu = wall if cpu is None else cpu
    return Sample(wall_seconds=wall, thread_cpu_seconds=cpu, process_cpu_seconds=cpu if process is None else process,
                  involuntary_switches=switches)


def timing(original: list[float], transformed: list[float]) -> Timing:
    return Timing(original=tuple(map(sample, original)), transformed=tuple(map(sample, transformed)), warmups=(),
                  threads=2)


def test_the_ratio_is_the_median_of_the_pairs() -> None:
    measured = timing([2.0, 4.0, 30.0], [1.0, 1.0, 3.0])
    assert measured.ratios == (2.0, 4.0, 10.0)
    assert measured.ratio == 4.0
    assert (measured.original_seconds, measured.transformed_seconds) == (4.0, 1.0)


def test_the_interval_of_twenty_values_is_the_sixth_to_the_fifteenth() -> None:
    interval = median_interval([float(i) for i in range(1, 21)])
    assert (interval.low, interval.high) == (6.0, 15.0)
    assert interval.coverage == pytest.approx(0.9586, abs=1e-4)


@pytest.mark.parametrize(("count", "coverage"), [(1, 0.0), (2, 0.5), (3, 0.75), (5, 0.9375), (6, 0.96875)])
def test_few_values_cover_less_and_say_so(count: int, coverage: float) -> None:
    values = [float(i) for i in range(count)]
    interval = median_interval(values)
    assert (interval.low, interval.high) == (values[0], values[-1])
    assert interval.coverage == pytest.approx(coverage)


def test_the_interval_holds_the_median_as_often_as_it_says() -> None:
    generator = random.Random(7)
    hits, trials = 0, 4000
    for _ in range(trials):
        interval = median_interval([generator.lognormvariate(0, 1) for _ in range(15)])
        hits += interval.low <= 1.0 <= interval.high
    assert hits / trials == pytest.approx(median_interval([float(i) for i in range(15)]).coverage, abs=0.02)


def test_no_values_have_no_interval() -> None:
    with pytest.raises(ValueError, match="no values"):
        median_interval([])


@pytest.mark.parametrize(("one", "disturbed"), [
    (sample(1.0), False),
    (sample(1.0, cpu=0.9), True),
    (sample(1.0, cpu=0.9, process=1.8), False),
    (sample(1.0, cpu=0.9, process=1.8, switches=3), True),
    (sample(1.0, cpu=0.99, switches=3), False),
    (sample(1e-5, cpu=1e-6), False),
    (sample(1e-5, cpu=1e-5, switches=1), True)])
def test_a_disturbed_sample_is_told_by_its_cpu_time(one: Sample, disturbed: bool) -> None:
    assert one.is_disturbed is disturbed


def test_disturbed_pairs_are_counted_and_kept() -> None:
    measured = Timing(original=(sample(1.0), sample(1.0, cpu=0.5)), transformed=(sample(1.0), sample(1.0)), warmups=(),
                      threads=1)
    assert measured.disturbed == (1,)
    assert len(measured.ratios) == 2


def test_samples_come_in_pairs() -> None:
    with pytest.raises(ValueError, match="pairs"):
        timing([1.0], [])
    with pytest.raises(ValueError, match="pairs"):
        timing([], [])


def test_zero_time_does_not_divide_by_zero() -> None:
    assert timing([1.0], [0.0]).ratio > 0
    assert statistics.median(timing([0.0], [0.0]).ratios) == 0


@pytest.mark.parametrize(("ratio", "text"), [(1.254, "1.25"), (153.668, "153.67"), (0.1, "0.10"), (0.0999, "0.100"),
                                             (0.00196, "0.0020"), (0.0, "0.00")])
def test_small_ratios_are_not_zero(ratio: float, text: str) -> None:
    assert ratio_text(ratio) == text
