"""What steps by hand ask of tiling: bands of their loops, register blocks, copies, split tiles."""

from __future__ import annotations

from dataclasses import replace

from polysched.scheduling.bands_by_hand import with_bands
from polysched.scheduling.primitives.requests import Pack, RegisterBlock, SplitTiles
from polysched.scheduling.schedule import Schedule
from polysched.tiling.options import TilingOptions


def as_asked(schedule: Schedule, options: TilingOptions) -> tuple[Schedule, TilingOptions]:
    """The schedule with the bands that its steps name, and the options with what they ask for them.

    Raises
    ------
    UsageError, IllegalScheduleError : the loops make no band that can be tiled.
    """
    schedule, asked = with_bands(schedule)
    for number, step in asked:
        match step:
            case RegisterBlock(rows=0):
                options = options.with_band(number, register=False)
            case RegisterBlock():
                options = options.with_band(number, register=(step.rows, step.columns))
            case Pack():
                options = options.with_band(number, packed=step.arrays)
            case SplitTiles():
                options = replace(options, split=True)
    return schedule, options
