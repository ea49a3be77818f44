"""Steps as they are stored: JSON objects with the step's name and its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from polysched.errors import UsageError
from polysched.scheduling.primitives import STEPS
from polysched.scheduling.primitives.step import Step


def step_from_json(value: Mapping[str, Any]) -> Step:
    """The step that `Step.to_json` wrote.

    Raises
    ------
    UsageError : no such step, it is no object, or has other fields or values of another type.
    """
    if not isinstance(value, Mapping):
        raise UsageError("a stored step is a JSON object", witness=repr(value)[:60],
                         hint='for instance {"step": "parallel", "loop": "i"}')
    name = value.get("step")
    kind = STEPS.get(str(name))
    if kind is None:
        raise UsageError(f"there is no step {name!r}", hint=f"the steps are {', '.join(sorted(STEPS))}")
    arguments = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items() if k != "step"}
    known = {f.name for f in fields(kind)}
    if unknown := set(arguments) - known:
        raise UsageError(f"step {name!r} has no field {sorted(unknown)[0]!r}", hint=f"its fields are {sorted(known)}")
    try:
        return kind(**arguments)
    except TypeError as error:
        raise UsageError(f"step {name!r} is incomplete", witness=str(error), hint=f"its fields are {sorted(known)}"
                         ) from error
