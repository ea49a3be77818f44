"""Tables for people on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from polysched.measure.measurement import Measurement
    from polysched.measure.timing.statistics import Sample

PLAIN_WIDTH = 110


def console(*, stderr: bool = False) -> Console:
    """Where results are printed: coloured on a terminal unless NO_COLOR is set, plain and wide elsewhere."""
    from rich.console import Console
    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, width=None if terminal else PLAIN_WIDTH, highlight=False, soft_wrap=True)


def times_table(measurement: Measurement) -> Table:
    """Original and transformed side by side, with the ratio."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from polysched.measure.summary import time_unit
    timing = measurement.timing
    assert timing is not None
    unit = time_unit(timing)
    flops = measurement.work.flop_count if measurement.work else 0
    table = Table(box=SIMPLE_HEAD)
    for heading in ("", *unit.headings()):
        table.add_column(heading, justify="right" if heading else "left")
    if flops:
        table.add_column("GFLOP/s", justify="right")
    peak = measurement.peak_flop_per_second
    if flops and peak:
        table.add_column("of peak", justify="right")
    for name, samples, median in (("original", timing.original, timing.original_seconds),
                                  ("polysched", timing.transformed, timing.transformed_seconds)):
        row = [name, *map(unit.text, (median, _least(samples), _largest(samples)))]
        if flops:
            row.append(f"{flops / median / 1e9:.2f}")
        if flops and peak:
            row.append(f"{flops / median / peak:.1%}")
        table.add_row(*row)
    return table


def _least(samples: tuple[Sample, ...]) -> float:
    return min(s.wall_seconds for s in samples)


def _largest(samples: tuple[Sample, ...]) -> float:
    return max(s.wall_seconds for s in samples)
