"""Analyses and schedules of one program that are made once while many codes of it are compared."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

Value = TypeVar("Value")


@dataclass(eq=False)
class KeptStages:
    """Values of stages by what they were made of; the latter is kept alive, so that its identity is its own."""

    values: dict[Hashable, Any] = field(default_factory=dict)
    alive: list[object] = field(default_factory=list)


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
    parts : all else that decides it.
    """
    stages = _KEPT.get()
    if stages is None:
        return make()
    key = (id(of), *parts)
    if key not in stages.values:
        stages.values[key] = make()
        stages.alive.append(of)
    value: Value = stages.values[key]
    return value
