"""What a measurement shows: a dot per repeat, hollow when disturbed, and no time without verification."""

import dataclasses
import xml.etree.ElementTree as ElementTree

from polysched.measure.summary import measurement_html, measurement_text, ratio_line, times_svg, verification_line
from polysched.measure.timing.statistics import Sample, Timing
from tests.html_reader import Page
from tests.measure.test_results import MEASUREMENT

SVG = "{http://www.w3.org/2000/svg}"


def sample(wall: float, cpu: float | None = None) -> Sample:
    spent = wall if cpu is None else cpu
    return Sample(wall_seconds=wall, thread_cpu_seconds=spent, process_cpu_seconds=spent, involuntary_switches=0)


TIMED = dataclasses.replace(MEASUREMENT, timing=Timing(
    original=(sample(0.4), sample(0.5, cpu=0.1), sample(0.8)), transformed=(sample(0.2), sample(0.1), sample(0.1)),
    warmups=(), threads=2))


def test_one_dot_per_repeat_and_hollow_ones_for_disturbed_repeats():
    dots = ElementTree.fromstring(times_svg(TIMED)).findall(f".//{SVG}circle")
    assert len(dots) == 6
    assert [dot.get("fill") for dot in dots].count("none") == 1
    places = [float(dot.get("cx")) for dot in dots[:3]]
    assert places == sorted(places)
    assert max(float(d.get("cx")) for d in dots) == places[2]


def test_page_holds_the_table_the_dots_and_the_provenance():
    page = Page(TIMED._repr_html_())
    assert page.counts["circle"] == 6
    for expected in (verification_line(TIMED), ratio_line(TIMED), "0.500000", "gcc 12", "schedule: pluto"):
        assert expected in page.text


def test_text_has_the_same_numbers():
    lines = measurement_text(TIMED).splitlines()
    assert lines[0] == "f of f.c with n = 3"
    assert lines[3].split() == ["original", "0.500000", "0.400000", "0.800000", "0.00", "25.0%"]
    assert lines[4].split()[:2] == ["polysched", "0.100000"]
    assert str(TIMED) == measurement_text(TIMED)


def test_times_below_a_microsecond_are_not_zero():
    short = Timing(original=(sample(9e-4),) * 3, transformed=(sample(4.2e-7),) * 3, warmups=(), threads=1)
    lines = measurement_text(dataclasses.replace(MEASUREMENT, timing=short)).splitlines()
    assert lines[2].split()[:2] == ["median", "us"]
    assert [line.split()[1] for line in lines[3:5]] == ["900.000", "0.420"]


def test_an_unverified_measurement_shows_no_time():
    failed = dataclasses.replace(MEASUREMENT, verification=None, timing=None, failure="killed by signal 11")
    assert "not verified: killed by signal 11" in measurement_text(failed)
    page = Page(measurement_html(failed))
    assert page.counts["svg"] == 0
    assert "median s" not in page.text
    assert times_svg(failed) == ""


def test_counters_are_shown_as_medians_per_call():
    counted = [dataclasses.replace(sample(0.1), counters={"page_faults": n, "task_clock_ns": 1000}) for n in (3, 9, 4)]
    timing = Timing(original=tuple(counted), transformed=tuple(counted[:1] * 3), warmups=(), threads=1)
    measurement = dataclasses.replace(MEASUREMENT, timing=timing)
    assert ["page", "faults", "4", "3"] in [line.split() for line in measurement_text(measurement).splitlines()]
    assert "task clock ns" in Page(measurement_html(measurement)).text
    assert "performance counters" not in measurement_html(TIMED)
