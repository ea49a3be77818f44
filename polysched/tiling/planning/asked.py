"""What steps by hand ask of tiling: bands of their loops, register blocks, copies, split tiles."""

from __future__ import annotations

from polysched.errors import UsageError
from polysched.scheduling.bands_by_hand import with_bands
from polysched.scheduling.primitives.requests import BandStep, Pack, RegisterBlock, SplitTiles
from polysched.scheduling.schedule import Schedule
from polysched.tiling.options import TilingOptions


def as_asked(schedule: Schedule, options: TilingOptions) -> tuple[Schedule, TilingOptions]:
    """The schedule with the bands that its steps name, and the options with what they ask for them.

    Raises
    ------
    UsageError, IllegalScheduleError : the loops make no band that can be tiled.
    """
    schedule, asked = with_bands(schedule)
    _refuse_contradictions(schedule, [(number, step) for number, step in asked if type(step) is not BandStep])
    for number, step in asked:
        match step:
            case RegisterBlock(rows=0):
                options = options.with_band(number, register=False)
            case RegisterBlock():
                options = options.with_band(number, register=(step.rows, step.columns))
            case Pack():
                options = options.with_band(number, packed=step.arrays)
            case SplitTiles():
                options = options.with_band(number, split=True)
    return schedule, options


def _refuse_contradictions(schedule: Schedule, asked: list[tuple[int, BandStep]]) -> None:
    """Refuse two steps of one kind for one band, and copies of arrays that are not there."""
    seen: set[tuple[int, str]] = set()
    known = {array.name for array in schedule.scop.arrays}
    for number, step in asked:
        if (number, step.NAME) in seen:
            raise UsageError(f"two steps {step.NAME} are for one band", witness=f"band {number}", hint="keep one")
        seen.add((number, step.NAME))
        missing = [array for array in step.arrays if array not in known] if isinstance(step, Pack) else []
        if missing:
            raise UsageError(f"there is no array {missing[0]!r} to copy", where=f"step {step.NAME}",
                             hint=f"there are {', '.join(sorted(known))}")
