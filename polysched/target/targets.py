"""The targets that have a name, and targets as files.  A new one is one line in `TARGETS`."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from polysched.errors import UsageError
from polysched.target.costs import Costs
from polysched.target.target import CacheLevel, CorePorts, Target, host

TARGETS: Mapping[str, Callable[[], Target]] = {"host": host, "generic": Target}
"""How each is made, by name: `host` reads this machine, `generic` is a small x86-64 core."""

STANDARD_INPUT = "-"


def find_target(name: str) -> Target:
    """The target of a name in `TARGETS`, or of a JSON file; `-` reads standard input.

    Raises
    ------
    UsageError : there is neither, or the file describes no target.
    """
    if name in TARGETS:
        return TARGETS[name]()
    try:
        value = json.loads(sys.stdin.read() if name == STANDARD_INPUT else Path(name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"no target {name}", hint=f"one of {', '.join(TARGETS)}, or a JSON file") from None
    except (OSError, ValueError) as error:
        raise UsageError("the target cannot be read", where=name, witness=str(error)) from None
    return target_from_json(value, where=name)


def target_to_json(target: Target) -> dict[str, Any]:
    """A target as JSON values; `target_from_json` reads them."""
    value = dataclasses.asdict(target)
    return {**value, "features": sorted(target.features), "bandwidth_bytes_per_second": {
        str(level): rate for level, rate in target.bandwidth_bytes_per_second.items()}}


def target_from_json(value: Any, *, where: str) -> Target:
    """The target of JSON values: its fields, or an object with them under `target`; what is left out is generic.

    Raises
    ------
    UsageError : a field that no target has, or a value that it cannot have.
    """
    fields = value.get("target", value) if isinstance(value, dict) else None
    if not isinstance(fields, dict):
        raise UsageError("this is no target", where=where, hint="an object with the fields of `Target`")
    known = [field.name for field in dataclasses.fields(Target)]
    if unknown := sorted(set(fields) - set(known)):
        raise UsageError(f"a target has no {unknown[0]!r}", where=where, hint=f"its fields are {', '.join(known)}")
    made = dict(fields)
    try:
        if "features" in fields:
            made["features"] = frozenset(fields["features"])
        if "caches" in fields:
            made["caches"] = tuple(CacheLevel(**cache) for cache in fields["caches"])
        if "ports" in fields:
            made["ports"] = CorePorts(**fields["ports"])
        if "costs" in fields:
            made["costs"] = Costs(**fields["costs"])
        if "bandwidth_bytes_per_second" in fields:
            made["bandwidth_bytes_per_second"] = {
                int(level): rate for level, rate in fields["bandwidth_bytes_per_second"].items()}
        return Target(**made)
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError("the target has a value that it cannot have", where=where, witness=str(error)) from None
