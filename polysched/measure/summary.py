"""A measurement as text and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polysched.measure.timing.statistics import median_counters, ratio_text
from polysched.records import dataclass
from polysched.scop.html import card, drawing, folded, paragraph, table
from polysched.scop.picture import svg_document

if TYPE_CHECKING:
    from polysched.measure.measurement import Measurement
    from polysched.measure.timing.statistics import Sample, Timing

STRIP_WIDTH, STRIP_HEIGHT, STRIP_MARGIN = 460, 110, 90
COLOURS = ("#ee6677", "#4477aa")


def verification_line(measurement: Measurement) -> str:
    """Whether the results agree, and how far they are apart."""
    verification = measurement.verification
    if measurement.failure:
        return f"not verified: {measurement.failure}"
    if verification is None:
        return "not verified: the results were not compared"
    if verification.problem:
        return f"not verified: {verification.problem}"
    difference = (f"largest difference {verification.largest_absolute:.3g} "
                  f"(relative {verification.largest_relative:.3g})")
    if verification.passed:
        elements = sum(c.elements for c in verification.arrays)
        return f"verified: {difference} over {elements:,} elements"
    worst = max(verification.arrays, key=lambda c: (c.mismatches > 0, c.largest_relative))
    index = "".join(f"[{i}]" for i in worst.worst_index or ())
    text = (f"WRONG RESULT: {verification.mismatches:,} elements differ; {worst.array}{index} is {worst.got!r} "
            f"instead of {worst.expected!r}; {difference}")
    if not verification.well_conditioned:
        text += (f"; but the original itself changes by {verification.amplification:.3g} "
                 "when its inputs change by rounding errors")
    return text


def ratio_line(measurement: Measurement) -> str:
    """The ratio with its interval and the circumstances."""
    timing = measurement.timing
    assert timing is not None
    interval = timing.ratio_interval
    text = (f"{ratio_text(timing.ratio)} times as fast as the original "
            f"(median of {len(timing.ratios)} alternating pairs, "
            f"{100 * interval.coverage:.0f}% interval {ratio_text(interval.low)} to {ratio_text(interval.high)}, "
            f"{timing.threads} thread{'s' if timing.threads > 1 else ''})")
    if timing.disturbed:
        text += f"; {len(timing.disturbed)} of the pairs were disturbed by other work on the machine"
    return text


def measurement_text(measurement: Measurement) -> str:
    """What was measured, whether the results agree, and the times if they do."""
    lines = [_title(measurement), verification_line(measurement)]
    if measurement.timing is not None:
        lines += ["  ".join(f"{cell:>12}" for cell in row)
                  for row in [_headings(measurement.timing), *_rows(measurement)]]
        lines.append(ratio_line(measurement))
        lines += ["  ".join(f"{cell:>18}" for cell in row) for row in counter_rows(measurement)]
    return "".join(f"{line}\n" for line in lines)


def measurement_html(measurement: Measurement) -> str:
    """The verification, the times in a table and as a strip of dots, and where they come from."""
    pieces = [paragraph(verification_line(measurement))]
    if measurement.timing is not None:
        pieces += [table(_headings(measurement.timing), _rows(measurement)), drawing(times_svg(measurement)),
                   paragraph(ratio_line(measurement))]
        headings, *rows = counter_rows(measurement) or [()]
        pieces += [folded("performance counters", table(headings, rows))] if rows else []
    return card(_title(measurement), *pieces, folded("where and how", table(("", ""), _provenance(measurement))))


def counter_rows(measurement: Measurement) -> list[tuple[str, ...]]:
    """Headings, and per event the medians of both programs; empty where no counter could be read."""
    timing = measurement.timing
    if timing is None:
        return []
    before, after = median_counters(timing.original), median_counters(timing.transformed)
    rows = [(event.replace("_", " "), f"{before[event]:,.0f}", f"{after[event]:,.0f}") for event in before
            if event in after]
    return [("median per call", "original", "polysched"), *rows] if rows else []


def times_svg(measurement: Measurement) -> str:
    """Every repeat as a dot on an axis of seconds from 0, one row per program; the median is a bar.

    Disturbed samples are hollow.  Empty text when nothing was timed.
    """
    timing = measurement.timing
    if timing is None:
        return ""
    longest = max(s.wall_seconds for s in (*timing.original, *timing.transformed))
    parts = []
    for row, (name, samples, median) in enumerate((("original", timing.original, timing.original_seconds),
                                                   ("polysched", timing.transformed, timing.transformed_seconds))):
        y = 28 + 34 * row
        parts.append(f'<text x="{STRIP_MARGIN - 10}" y="{y + 4}" text-anchor="end">{name}</text>')
        parts += [_dot(s, y, longest, COLOURS[row]) for s in samples]
        x = _place(median, longest)
        parts.append(f'<line x1="{x:.1f}" y1="{y - 11}" x2="{x:.1f}" y2="{y + 11}" stroke="#222" stroke-width="2"/>')
    axis = STRIP_HEIGHT - 24
    parts.append(f'<line x1="{STRIP_MARGIN}" y1="{axis}" x2="{STRIP_WIDTH - 20}" y2="{axis}" stroke="#777"/>')
    parts += [f'<text x="{_place(at, longest):.1f}" y="{axis + 15}" text-anchor="middle" fill="#777">{at:.3g} s</text>'
              for at in (0.0, longest / 2, longest)]
    return svg_document("".join(parts), width=STRIP_WIDTH, height=STRIP_HEIGHT)


def _place(seconds: float, longest: float) -> float:
    return STRIP_MARGIN + (STRIP_WIDTH - 20 - STRIP_MARGIN) * seconds / max(longest, 1e-12)


def _dot(sample: Sample, y: int, longest: float, colour: str) -> str:
    fill = "none" if sample.is_disturbed else colour
    return (f'<circle cx="{_place(sample.wall_seconds, longest):.1f}" cy="{y}" r="4" fill="{fill}" fill-opacity="0.5" '
            f'stroke="{colour}"><title>{sample.wall_seconds:.4g} s</title></circle>')


SHORT_SECONDS = 1e-3
"""Where a program takes less, its times are told in microseconds."""


@dataclass(frozen=True)
class TimeUnit:
    """The unit of a table of times.

    Parameters
    ----------
    seconds : of one of it.
    digits : behind the point.
    """

    name: str
    seconds: float
    digits: int

    def headings(self) -> tuple[str, str, str]:
        """Of the columns of times."""
        return f"median {self.name}", f"least {self.name}", f"largest {self.name}"

    def text(self, seconds: float) -> str:
        """A time, without the unit."""
        return f"{seconds / self.seconds:.{self.digits}f}"


SECONDS, MICROSECONDS = TimeUnit("s", 1.0, 6), TimeUnit("us", 1e-6, 3)


def time_unit(timing: Timing) -> TimeUnit:
    """The unit in which both programs' times can be read."""
    shortest = min(timing.original_seconds, timing.transformed_seconds)
    return MICROSECONDS if shortest < SHORT_SECONDS else SECONDS


def _headings(timing: Timing) -> tuple[str, ...]:
    return ("", *time_unit(timing).headings(), "GFLOP/s", "of peak")


def _rows(measurement: Measurement) -> list[tuple[str, ...]]:
    timing = measurement.timing
    if timing is None:
        return []
    return [_row(name, samples, median, measurement) for name, samples, median in (
        ("original", timing.original, timing.original_seconds),
        ("polysched", timing.transformed, timing.transformed_seconds))]


def _row(name: str, samples: Sequence[Sample], median: float, measurement: Measurement) -> tuple[str, ...]:
    assert measurement.timing is not None
    walls, unit = [s.wall_seconds for s in samples], time_unit(measurement.timing)
    reached = measurement.work.flop_count / max(median, 1e-9) if measurement.work else None
    peak = measurement.peak_flop_per_second
    return (name, *map(unit.text, (median, min(walls), max(walls))),
            "" if reached is None else f"{reached / 1e9:.2f}",
            "" if reached is None or not peak else f"{reached / peak:.1%}")


def _title(measurement: Measurement) -> str:
    sizes = ", ".join(f"{name} = {value}" for name, value in measurement.sizes.items())
    return f"{measurement.function} of {measurement.source}" + (f" with {sizes}" if sizes else "")


def _provenance(measurement: Measurement) -> list[tuple[str, str]]:
    build, machine = measurement.transformed, measurement.machine
    return [("machine", f"{machine.cpu}, {machine.cores} cores, {machine.system}"), ("compiler", build.version),
            ("flags", " ".join(build.flags)), ("steps", "; ".join(measurement.steps)),
            ("source hash", build.source_sha256[:16]), ("revision", measurement.git_revision),
            ("libraries", ", ".join(f"{k} {v}" for k, v in measurement.libraries.items())),
            ("started", measurement.started)]
