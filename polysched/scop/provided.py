"""What a room provides for its values: texts, pictures and questions that are computed by later modules of the room.

A value shows itself (`print`, a notebook), but it does not import what shows it.  The `__init__.py` of its room has a
plain dict `PROVIDED`: the method's name, and the function behind it as `module:name`.  It is loaded when it is called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

PACKAGE = "polysched"


def provided(room: str, method: str) -> Callable[..., Any]:
    """The function behind a method, `Class.name`.

    Parameters
    ----------
    room : the package below `polysched` whose `PROVIDED` names it, for instance `scop`.
    """
    module, _, name = sys.modules[f"{PACKAGE}.{room}"].PROVIDED[method].partition(":")
    function: Callable[..., Any] = getattr(import_module(f"{PACKAGE}.{room}.{module}"), name)
    return function
