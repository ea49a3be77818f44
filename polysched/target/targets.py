"""The targets that have a name, and targets as files.  A new one is one line in `TARGETS`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from polysched.errors import UsageError
from polysched.target.json_record import place_of, read_json, read_record
from polysched.target.target import Target, host

TARGETS: Mapping[str, Callable[[], Target]] = {"host": host, "generic": Target}
"""How each is made, by name: `host` reads this machine, `generic` is a small x86-64 core."""


def find_target(name: str) -> Target:
    """The target of a name in `TARGETS`, or of a JSON file; `-` reads standard input.

    Raises
    ------
    UsageError : there is neither, or the file describes no target.
    """
    if name in TARGETS:
        return TARGETS[name]()
    try:
        value = read_json(name)
    except FileNotFoundError:
        raise UsageError(f"no target {name}", hint=f"one of {', '.join(TARGETS)}, or a JSON file") from None
    except (OSError, ValueError) as error:
        raise UsageError("the target cannot be read", where=place_of(name), witness=str(error)) from None
    return target_from_json(value, where=place_of(name))


def target_to_json(target: Target) -> dict[str, Any]:
    """A target as JSON values; `target_from_json` reads them."""
    value = dataclasses.asdict(target)
    return {**value, "features": sorted(target.features), "caches": list(value["caches"]),
            "bandwidth_bytes_per_second": {
                str(level): rate for level, rate in target.bandwidth_bytes_per_second.items()}}


def target_from_json(value: Any, *, where: str) -> Target:
    """The target of JSON values: its fields, or an object with them under `target`; what is left out is generic.

    Raises
    ------
    UsageError : a field that no target has, or a value that it cannot have, with the place of the field.
    """
    fields = value.get("target", value) if isinstance(value, dict) else None
    if not isinstance(fields, dict):
        raise UsageError("this is no target", where=where, hint="an object with the fields of `Target`")
    known = [field.name for field in dataclasses.fields(Target)]
    if unknown := sorted(set(fields) - set(known)):
        raise UsageError(f"a target has no {unknown[0]!r}", where=where, hint=f"its fields are {', '.join(known)}")
    try:
        return read_record(Target, fields)
    except ValueError as error:
        raise UsageError("the target has a value that it cannot have", where=where, witness=str(error)) from None
