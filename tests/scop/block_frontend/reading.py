"""Block programs from functions, for the tests of the front end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polysched.scop.block_frontend import loops_of, read_block_program


def run(function: Callable[..., Any], *arguments: Any, **constants: int) -> str:
    """Run a program's loops as Python; their text."""
    loops = loops_of(read_block_program(function, constants))
    scope: dict[str, Any] = {"np": np}
    exec(loops.text, scope)
    scope[function.__name__](*arguments)
    return loops.text
