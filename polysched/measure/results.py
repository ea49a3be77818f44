"""Results files: one Measurement per line of JSON (`json_lines`), appended atomically."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polysched.errors import UsageError
from polysched.measure.json_lines import append_line, read_lines
from polysched.measure.measurement import FORMAT_VERSION, Measurement

NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def measurement_to_json(measurement: Measurement) -> dict[str, Any]:
    """The Measurement as JSON values, with what follows from it beside it under `derived`."""
    value = _to_json(measurement)
    assert isinstance(value, dict)
    timing, verification = measurement.timing, measurement.verification
    derived: dict[str, Any] = {"verified": measurement.verified}
    if verification is not None:
        derived |= {"largest_absolute": _to_json(verification.largest_absolute),
                    "largest_relative": _to_json(verification.largest_relative)}
    if timing is not None:
        derived |= {"original_seconds": timing.original_seconds, "transformed_seconds": timing.transformed_seconds,
                    "ratio": timing.ratio, "ratio_interval": _to_json(timing.ratio_interval),
                    "disturbed_pairs": list(timing.disturbed)}
        derived |= {"flop_per_second": measurement.flop_per_second, "share_of_peak": measurement.share_of_peak}
    return value | {"derived": derived}


def measurement_from_json(value: Mapping[str, Any]) -> Measurement:
    """The Measurement that `measurement_to_json` wrote.

    Raises
    ------
    UsageError : it has another format version, or is no measurement.
    """
    version = value.get("format_version")
    if version != FORMAT_VERSION:
        raise UsageError(f"a result has the format version {version}, this program reads {FORMAT_VERSION}",
                         hint="use the version of polysched that wrote it")
    try:
        result = _from_json({k: v for k, v in value.items() if k != "derived"}, Measurement)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"a result is not complete: {error}") from None
    assert isinstance(result, Measurement)
    return result


def append(path: str | Path, measurement: Measurement) -> None:
    """Add one line to a results file, creating it if need be.

    Raises
    ------
    OutputError : the file cannot be written.
    """
    append_line(path, measurement_to_json(measurement))


def read(path: str | Path, *, any_machine: bool = False) -> tuple[Measurement, ...]:
    """All complete results of a file, in the order they were added.

    Parameters
    ----------
    any_machine : accept results of several machines in one file.

    Raises
    ------
    UsageError : the file cannot be read, has another format version, or mixes machines.
    """
    results = tuple(measurement_from_json(value) for _, value in read_lines(path))
    machines = {r.machine.identity: r.machine.cpu for r in results}
    if len(machines) > 1 and not any_machine:
        raise UsageError("the results come from several machines, and their times cannot be compared", where=str(path),
                         witness="; ".join(f"{m.cpu}, {m.cores} cores" for m in {r.machine.identity: r.machine
                                                                                for r in results}.values()),
                         hint="read them with --any-machine if that is meant")
    return results


def _to_json(value: Any) -> Any:
    """Dataclasses become objects, tuples lists, and floats that JSON has no number for become their names."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _to_json(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [_to_json(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _record(value: Mapping[str, Any], kind: Any) -> Any:
    """A dataclass of its fields; one that it does not have is an error."""
    hints = typing.get_type_hints(kind)
    if unknown := set(value) - set(hints):
        raise TypeError(f"unknown fields {sorted(unknown)}")
    return kind(**{name: _from_json(item, hints[name]) for name, item in value.items()})


def _tuple(items: list[Any], kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    """A tuple of these types, or of any length where the last one is an ellipsis."""
    each = kinds[:1] * len(items) if kinds[-1] is Ellipsis else kinds
    return tuple(_from_json(item, kind) for item, kind in zip(items, each, strict=True))


def _from_json(value: Any, kind: Any) -> Any:
    """The inverse of `_to_json` for a type annotation made of dataclasses, tuples, mappings, unions and plain types."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _record(value, kind)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _from_json(value, next(a for a in arguments if a is not type(None)))
    if origin is tuple:
        return _tuple(value, arguments)
    if kind is float:
        return NOT_FINITE[value] if isinstance(value, str) else float(value)
    if origin is Mapping and arguments[0] is int:
        return {int(key): item for key, item in value.items()}
    return dict(value) if isinstance(value, Mapping) else value
