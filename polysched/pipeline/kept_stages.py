"""Analyses and schedules of one program that are made once while many codes of it are compared."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Any, TypeVar

from polysched.pipeline.limits import LIMITS
from polysched.records import dataclass

Value = TypeVar("Value")


@dataclass(eq=False)
class KeptStages:
    """Values of stages on one machine, by what they were made of; those that were not asked for longest are dropped.

    With each stands the program that it was made of, whose identity is its own for so long.
    """

    values: dict[Hashable, tuple[object, Any]] = field(default_factory=dict)


_KEPT: ContextVar[KeptStages | None] = ContextVar("kept stages", default=None)


@contextmanager
def keeping(stages: KeptStages) -> Iterator[None]:
    """Look values up in `stages` as long as this lasts, and keep there what is made."""
    token = _KEPT.set(stages)
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept(make: Callable[[], Value], of: object, *parts: Hashable) -> Value:
    """The value of a stage: the one that is kept of the same parts, or a new one.

    Parameters
    ----------
    of : the program that it is made of, which counts by its identity.
    parts : all else that decides it, but for the machine.
    """
    stages = _KEPT.get()
    if stages is None:
        return make()
    key = (id(of), *parts)
    value: Value = stages.values.pop(key)[1] if key in stages.values else make()
    stages.values[key] = (of, value)   # behind all others
    if len(stages.values) > LIMITS.kept_values:
        del stages.values[next(iter(stages.values))]
    return value
