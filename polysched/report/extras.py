"""Packages that only reports need: those of the optional extra `report`."""

from __future__ import annotations

import importlib
from types import ModuleType

from polysched.errors import UsageError

PACKAGES = ("jinja2", "matplotlib", "pandas", "pygments")


def required(name: str) -> ModuleType:
    """A package of the extra.

    Raises
    ------
    UsageError : it is not installed; the hint says how to install it.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        raise UsageError(f"a report needs {name}", hint="python -m pip install 'polysched[report]'") from None
