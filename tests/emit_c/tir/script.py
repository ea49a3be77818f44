"""TVMScript run as Python, line by line as it stands: loops are ranges, buffers NumPy arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np


def _typed(name: str) -> Any:
    return lambda value: np.dtype(name).type(float(value) if isinstance(value, str) else value)


T = SimpleNamespace(
    serial=range, int64=int, max=max, min=min, prim_func=lambda function: function, Buffer=lambda *_: None,
    Cast=lambda name, value: np.dtype(name).type(value), Not=lambda a: not a, bool=bool,
    And=lambda a, b: a and b, Or=lambda a, b: a or b, if_then_else=lambda c, a, b: a if c else b,
    truncdiv=lambda a, b: type(a)(int(a / b)), truncmod=lambda a, b: type(a)(math.fmod(a, b)), evaluate=lambda _: None,
    **{name: _typed(name) for name in ("float32", "float64", "int8", "int16", "int32", "uint8", "uint32")},
    **{name: getattr(np, name) for name in ("exp", "sqrt", "log", "tanh", "fabs", "floor")})


def run(text: str, sizes: Mapping[str, int], arrays: Mapping[str, np.ndarray]) -> None:
    """Run the only function in place: sizes and arrays by the names of its arguments."""
    scope: dict[str, Any] = {"T": T}
    exec("from __future__ import annotations\n" + text, scope)
    (function,) = [value for name, value in scope.items() if name not in ("T", "annotations", "__builtins__")]
    names = function.__code__.co_varnames[:function.__code__.co_argcount]
    function(*({**sizes, **arrays}[name] for name in names))
