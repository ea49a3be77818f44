"""CP-SAT's module without pandas, whose import takes longer than most of the programs that are solved.

`ortools.sat.python.cp_model` names pandas for variables by series, which are not used here.  Where pandas is loaded
already, or the module itself is, that module is taken; otherwise a copy of it for this project alone, so that
others who import it get it whole.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

NAME = "ortools.sat.python.cp_model"


@cache
def cp_sat() -> Any:
    """The module `cp_model`, with `CpModel`, `CpSolver` and the statuses; loaded at the first call.

    In a copy without pandas no index and no series is ever recognised: methods named `*_series` refuse theirs.
    """
    spec = None if NAME in sys.modules or "pandas" in sys.modules else importlib.util.find_spec(NAME)
    code = getattr(spec.loader, "get_code", lambda _: None)(NAME) if spec else None
    if spec is None or code is None:
        return importlib.import_module(NAME)
    module = importlib.util.module_from_spec(spec)
    vars(module)["__builtins__"] = {**vars(builtins), "__import__": _without_pandas(builtins.__import__)}
    exec(code, vars(module))
    return module


def new_model() -> Any:
    """An empty `CpModel`, whose methods have no second names.

    The class gives each of its methods the name that it had before, for every model anew, which takes as long as most
    of the programs that are solved.  Where it does so no more, this is `CpModel()`.
    """
    return _model_class()()


@cache
def _model_class() -> Any:
    def nothing(self: Any) -> None:
        """No names of before."""

    return type("Model", (cp_sat().CpModel,), {"_add_pre_pep8_methods": nothing})


def _without_pandas(load: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
    """`import` as that one module sees it."""
    class Index:
        """No value is one."""

    class Series:
        """No value is one."""

    placeholder = ModuleType("pandas")
    vars(placeholder).update(Index=Index, Series=Series)
    return lambda name, *rest, **named: placeholder if name == "pandas" else load(name, *rest, **named)
