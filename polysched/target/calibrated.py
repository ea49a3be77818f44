"""`Calibrated`: costs that were measured on one machine, as `polysched machine --calibrate` writes them to a file."""

from __future__ import annotations

import logging
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.target.constant import constants
from polysched.target.costs import MAY_BE_NOTHING, SHIPPED
from polysched.target.json_record import place_of, read_json, read_record
from polysched.target.target import Target

logger = logging.getLogger(__name__)
FORMAT_VERSION = 1
HINT = "polysched machine --calibrate FILE writes one"
CLOCK = "frequency_hz"
"""The figure that is a field of `Target`: all cycles are its."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured cost.

    Parameters
    ----------
    name : a field of `Costs`, or `frequency_hz`; `line_L1`, `line_memory` and so on for what a line takes out of a
        cache or memory.
    value : the median of the trials.
    least, most : of the trials.
    unit : of all three.
    shipped : the value without calibration.
    """

    name: str
    value: float
    least: float
    most: float
    unit: str
    shipped: float


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """What was measured, and where.

    Parameters
    ----------
    machine : the processor as it calls itself.
    compiler : that compiled the programs.
    disturbed : other programs may have used the cores.
    figures : one per cost.
    bandwidth : bytes per second of one core out of each cache level; memory is level 0.
    """

    machine: str
    compiler: str
    disturbed: bool
    figures: tuple[Figure, ...]
    bandwidth: tuple[tuple[int, float], ...]

    def of_target(self, target: Target) -> Target:
        """The target with the measured costs instead of the shipped ones."""
        known = {c.name for c in constants(SHIPPED)}
        measured: dict[str, Any] = {f.name: f.value for f in self.figures if f.name in known}
        clock = next((f.value for f in self.figures if f.name == CLOCK), target.frequency_hz)
        return replace(target, costs=replace(target.costs, **measured), frequency_hz=clock,
                       bandwidth_bytes_per_second={**target.bandwidth_bytes_per_second, **dict(self.bandwidth)})

    def as_json(self) -> dict[str, Any]:
        """The value of the file."""
        return {"format_version": FORMAT_VERSION} | asdict(self)


def read_calibrated(path: Path | str) -> Calibrated:
    """The value of a file, `-` for standard input; a warning where it was measured beside other programs.

    Raises
    ------
    UsageError : it cannot be read, is of another version, or holds values of other types or no positive numbers; with
        the name of the cost.
    """
    try:
        value = read_json(path)
    except (OSError, ValueError) as error:
        raise UsageError("the costs of the machine cannot be read", where=place_of(path), witness=str(error),
                         hint=HINT) from error
    if not isinstance(value, dict) or value.get("format_version") != FORMAT_VERSION:
        raise UsageError("the file holds no costs of a machine, or those of another version", where=place_of(path),
                         hint=HINT)
    try:
        found = read_record(Calibrated, {name: given for name, given in value.items() if name != "format_version"})
    except ValueError as error:
        raise UsageError("the file holds no costs of a machine", where=place_of(path), witness=str(error),
                         hint=HINT) from None
    _check(found, path)
    if found.disturbed:
        logger.warning("%s: these costs were measured while other programs used the cores", place_of(path))
    return found


def _check(found: Calibrated, path: Path | str) -> None:
    """Refuse costs that there are not, and those that are no positive numbers."""
    known = {CLOCK} | {c.name for c in constants(SHIPPED)}
    rates = ((f"level {level}", rate) for level, rate in found.bandwidth)
    for name, number in [*((f.name, f.value) for f in found.figures), *rates]:
        least = 0.0 if name in MAY_BE_NOTHING else 1e-15
        if number < least:
            raise UsageError("a cost is no positive number", where=place_of(path), witness=f"{name}: {number!r}",
                             hint=HINT)
        if name not in known and not name.startswith(("line_", "level ")):
            raise UsageError("no such cost", where=place_of(path), witness=name,
                             hint=f"one of {', '.join(sorted(known))}")
