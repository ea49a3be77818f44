"""What the names of a Python function mean at a point of it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from polysched.records import dataclass, whole
from polysched.scop.dtypes import DType
from polysched.scop.python_frontend.operands import Operand, TupleValue, View


@dataclass(frozen=True, eq=False)
class Stored:
    """A scalar variable with storage: a 0-dimensional array of the Scop.

    Parameters
    ----------
    weak : its values are Python numbers, which take the type of the NumPy value that they meet.
    """

    array: str
    dtype: DType
    weak: bool


@dataclass(frozen=True, eq=False)
class Stale:
    """A name that has one meaning on one way to this point and another on another way."""

    was_array: bool


Binding: TypeAlias = "Operand | Stored | Stale"
Environment: TypeAlias = dict[str, Binding]
BUILTINS: Mapping[str, Any] = vars(builtins)


class Restart(Exception):
    """A name turned out to need storage, or a wider type: the function is lowered again with that known."""


def assigned_names(nodes: Iterable[ast.stmt]) -> list[str]:
    """Every name that statements assign, in order of first appearance."""
    names = [n.id for statement in nodes for n in ast.walk(statement)
             if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(names))


def is_array(binding: Binding | None) -> bool:
    """Whether a name stands for an array or a tuple, which have no scalar storage."""
    return isinstance(binding, (View, TupleValue)) or (isinstance(binding, Stale) and binding.was_array)


def after_loop(before: Environment, inside: Environment, assigned: Iterable[str]) -> Environment:
    """The meaning of names behind a loop that may have run any number of times."""
    result = dict(before)
    for name in assigned:
        now, old = inside.get(name), before.get(name)
        if now is None:
            continue
        if isinstance(now, Stored) and (old is None or old is now):
            result[name] = now
        else:
            result[name] = Stale(is_array(now))
    return result


def at_loop_entry(env: Environment, assigned: Iterable[str]) -> Environment:
    """The meaning of names at the top of a loop body that assigns some of them."""
    result = dict(env)
    for name in assigned:
        old = env.get(name)
        if old is not None and not isinstance(old, Stored):
            result[name] = Stale(is_array(old))
    return result


def outer_value(function: Callable[..., Any], path: str) -> Any:
    """What a name means to a function beyond its own names at this moment, `math.pi` as its part; None without one."""
    function = getattr(function, "__wrapped__", function)
    name, *parts = path.split(".")
    code = getattr(function, "__code__", None)
    cells = getattr(function, "__closure__", None) or ()
    if code is not None and name in code.co_freevars:
        try:
            found = cells[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return None
    else:
        names = getattr(function, "__globals__", {})
        found = names[name] if name in names else BUILTINS.get(name)
    for part in parts:
        found = getattr(found, part, None)
    return found


def is_unchanged(before: Any, now: Any) -> bool:
    """Whether two values of an outer name mean the same in a kernel: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    return now is before or (type(now) is type(before) and not callable(now) and whole(now) == whole(before))


class OuterNames:
    """Names beyond a function's own, with what they stood for: asks quickly whether they still do.

    Parameters
    ----------
    captured : by name, `math.pi` too.
    """

    def __init__(self, function: Callable[..., Any], captured: Mapping[str, Any]) -> None:
        inner = getattr(function, "__wrapped__", function)
        code = getattr(inner, "__code__", None)
        free = code.co_freevars if code is not None else ()
        split = {path: path.split(".") for path in captured}
        self._function = function
        self._globals: Mapping[str, Any] = getattr(inner, "__globals__", {})
        self._of_globals = tuple((name, tuple(parts), captured[path]) for path, (name, *parts) in split.items()
                                 if name not in free)
        self._others = tuple((path, captured[path]) for path, (name, *_) in split.items() if name in free)

    def are_unchanged(self) -> bool:
        """Whether all of them mean what they meant."""
        names = self._globals
        for name, parts, before in self._of_globals:
            now = names[name] if name in names else BUILTINS.get(name)
            for part in parts:
                now = getattr(now, part, None)
            if now is not before and not is_unchanged(before, now):
                return False
        return not self._others or all(
            is_unchanged(before, outer_value(self._function, name)) for name, before in self._others)


def identity(value: Any) -> str:
    """A text that says which object an outer name stands for, the same in every process."""
    name = getattr(value, "__qualname__", getattr(value, "__name__", None))
    if name is None:
        return whole(value)
    return f"{type(value).__name__} {getattr(value, '__module__', None)}.{name}"


def outer_names(function: Callable[..., Any]) -> dict[str, Any]:
    """What a function sees beyond its own names: builtins, globals, and the variables it closes over."""
    function = getattr(function, "__wrapped__", function)
    names = dict(BUILTINS)
    names.update(getattr(function, "__globals__", {}))
    code = getattr(function, "__code__", None)
    cells = getattr(function, "__closure__", None) or ()
    if code is not None:
        for name, cell in zip(code.co_freevars, cells, strict=True):
            try:
                names[name] = cell.cell_contents
            except ValueError:
                continue
    return names
