"""Names of a room that are loaded when they are first used: the modules behind them take time to import."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def loader(room: str, home: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a room's `__init__.py`.

    Parameters
    ----------
    room : the package, its `__name__`.
    home : the module below it that has each name.
    """
    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{room}.{home[name]}"), name)

    return load
