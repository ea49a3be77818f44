"""Names of a room that are loaded when they are first used: the modules behind them take time to import."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def loader(room: str, home: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a room's `__init__.py`, which lists its names in `__all__`.

    Parameters
    ----------
    room : the package, its `__name__`.
    home : the module below it that has each name.
    """
    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{room}.{home[name]}"), name)

    def names() -> list[str]:
        return sorted(sys.modules[room].__all__)

    return load, names
