"""`dataclass` for records that show themselves in one line, and that leaves its work to the first use of a class.

A record stands inside another one, in a traceback, in a debugger: its `repr` is one line of at most 300 characters,
however much it holds.  Fields are shown as `dataclasses` does; where that is too long every field is cut, and at last
the line.  Keys are made of everything that a record holds, by `whole`.

`dataclasses.dataclass` reads the annotations of every class that is imported, and compiles `__init__`, `__repr__`,
`__eq__` and `__hash__`: a millisecond of processor time, hundreds of times.  A program uses a few of these classes.
Here a class gets placeholders.  The first lookup of one has `dataclasses` make what it stands for, of a twin with the
same fields, and puts that in its place.  But for the line, what is seen of a class and its values is as the standard
library has it, except that no class is given a docstring, and that what is wrong with a definition is said at the first
use, or by mypy alone.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Mapping
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["LONGEST", "LONGEST_FIELD", "dataclass", "shortened", "whole"]

LONGEST = 300
"""Characters of the line that a record is shown as."""
LONGEST_FIELD = 40
"""Characters of a field's value where the line is too long."""

_METHODS = {"__init__": {"init": True}, "__eq__": {"eq": True}, "__hash__": {"unsafe_hash": True}}
"""The methods, and what makes `dataclasses` generate each of them."""
_FIELDS = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")
"""What `dataclasses` keeps of the fields."""
_NONE = {"init": False, "repr": False, "eq": False}

_AT_ONCE = ("__setattr__", "__delattr__", "__match_args__")
"""Of a class that has one of these itself, `dataclasses` decides what it means."""

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    def dataclass(cls=None, /, *, repr=True, eq=True, frozen=False, kw_only=False, **others):
        """As `dataclasses.dataclass`, which does its work at once where there are other options than these four."""
        if cls is None:
            return lambda made: dataclass(made, repr=repr, eq=eq, frozen=frozen, kw_only=kw_only, **others)
        if repr and "__repr__" not in vars(cls):
            cls.__repr__ = _one_line
        own = dict(vars(cls))
        if others or any(name in own for name in _AT_ONCE):
            return dataclasses.dataclass(cls, repr=repr, eq=eq, frozen=frozen, kw_only=kw_only, **others)
        return _postponed(cls, own, repr=repr, eq=eq, frozen=frozen, kw_only=kw_only)


@recursive_repr()
def _one_line(record: Any) -> str:
    """What `repr` says of a record."""
    shown: list[tuple[str, str]] = []
    for field in dataclasses.fields(record):   # a comprehension, or `repr`, is one more call inside the other
        if field.repr:
            shown.append((field.name, f"{getattr(record, field.name, ...)!r}".replace("\n", " ")))
    line = _line(type(record).__qualname__, shown)
    if len(line) > LONGEST:
        line = _line(type(record).__qualname__, [(name, _cut(value, LONGEST_FIELD)) for name, value in shown])
    return shortened(line)


def shortened(line: str) -> str:
    """A line of at most so many characters; of a longer one the beginning, and its last character."""
    line = line.replace("\n", " ")
    return line if len(line) <= LONGEST else f"{line[:LONGEST - 4]}...{line[-1]}"


def _line(name: str, shown: list[tuple[str, str]]) -> str:
    return f"{name}({', '.join(f'{field}={value}' for field, value in shown)})"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest - 3] + "..."


def whole(value: object, around: set[int] | None = None) -> str:
    """The value with everything that it holds, for keys; equal texts only for equal records.

    Parameters
    ----------
    around : the ids of what it stands in, which is `...` where it comes again.
    """
    around = set() if around is None else around
    if id(value) in around:
        return "..."
    around.add(id(value))
    parts: list[str] = []   # filled by loops, as in `_one_line`
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            if field.repr:
                parts.append(f"{field.name}={whole(getattr(value, field.name), around)}")
        text = f"{type(value).__qualname__}({', '.join(parts)})"
    elif isinstance(value, Mapping):
        for k, v in value.items():
            parts.append(f"{whole(k, around)}: {whole(v, around)}")
        text = f"{{{', '.join(parts)}}}"
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            parts.append(whole(each, around))
        if isinstance(value, set | frozenset):
            parts.sort()
        begin, end = ("(", ",)") if isinstance(value, tuple) else ("[", "]") if isinstance(value, list) else ("{", "}")
        text = f"{begin}{', '.join(parts)}{end}"
    else:
        text = repr(value)
    around.remove(id(value))
    return text


def _postponed(cls: Any, own: dict[str, Any], *, repr: bool, eq: bool, frozen: bool, kw_only: bool) -> Any:
    """The class with placeholders, and methods that refuse changes where it is frozen.

    Parameters
    ----------
    own : what the class has itself.
    """
    unfinished = _Unfinished(cls, {"repr": repr, "eq": eq, "frozen": frozen, "kw_only": kw_only}, own)
    hashed = eq and (own.get("__hash__") is None if "__eq__" in own else "__hash__" not in own)
    if hashed:   # by the fields; of what may change by nothing
        cls.__hash__ = _Placeholder(unfinished, "__hash__") if frozen else None
    asked = (*_FIELDS, "__init__", *(["__eq__"] if eq else []))
    for name in asked:
        if name not in own:
            setattr(cls, name, _Placeholder(unfinished, name))
    if frozen:
        _freeze(cls)
    if sys.version_info >= (3, 13) and "__replace__" not in own:
        cls.__replace__ = _replaced
    return cls


class _Unfinished:
    """A class, its options, and what its own fields were given: a default, perhaps an inherited one, or `field(...)`.

    Raises
    ------
    TypeError : a `field(...)` has no annotation, which would not be a field; or one is an `InitVar`, which is not kept.
    """

    __slots__ = ("cls", "given", "options")

    def __init__(self, cls: Any, options: dict[str, bool], own: dict[str, Any]) -> None:
        self.cls, self.options = cls, options
        kinds = inspect.get_annotations(cls)
        values = {name: own[name] if name in own else getattr(cls, name, dataclasses.MISSING) for name in kinds}
        self.given = {name: value for name, value in values.items() if value is not dataclasses.MISSING}
        for name, value in own.items():
            if isinstance(value, dataclasses.Field):
                if name not in kinds:
                    raise TypeError(f"{name!r} is a field but has no type annotation")
                if value.default is dataclasses.MISSING:
                    delattr(cls, name)
                else:
                    setattr(cls, name, value.default)
        if any("InitVar" in str(kind) for kind in kinds.values()):
            raise TypeError(f"{cls.__name__} has an InitVar, which is for dataclasses.dataclass")

    def finish(self, name: str) -> None:
        """Put what a placeholder stands for in its place."""
        if name in _METHODS:
            fields = {field.name: field for field in dataclasses.fields(self.cls)}
            options = {"frozen": self.options["frozen"], **_NONE, **_METHODS[name]}
            setattr(self.cls, name, vars(self._twin(_types(fields), fields, options))[name])
            return
        own = inspect.get_annotations(self.cls)
        inherited = {field.name: field for base in reversed(self.cls.__mro__[1:]) if dataclasses.is_dataclass(base)
                     for field in dataclasses.fields(base)}
        given = {key: field for key, field in inherited.items() if key not in own}
        twin = self._twin(_types(inherited) | own, given | self.given, self.options | _NONE)
        params = vars(twin)["__dataclass_params__"]
        params.init, params.repr, params.eq = True, self.options["repr"], self.options["eq"]
        for each in _FIELDS:
            setattr(self.cls, each, vars(twin)[each])

    def _twin(self, types: dict[str, Any], given: dict[str, Any], options: dict[str, bool]) -> type:
        """A class with these fields that `dataclasses` has done its work on."""
        same = {key: getattr(self.cls, key) for key in ("__module__", "__qualname__", "__post_init__")
                if hasattr(self.cls, key)}
        twin = type(self.cls.__name__, (), {**given, **same, "__annotations__": types, "__doc__": "of the class"})
        return dataclasses.dataclass(**options)(twin)


class _Placeholder:
    """What stands for a method, or for what is known of the fields, until it is looked up."""

    __slots__ = ("name", "unfinished")

    def __init__(self, unfinished: _Unfinished, name: str) -> None:
        self.unfinished, self.name = unfinished, name

    def __get__(self, instance: object, asked: type | None = None) -> Any:
        self.unfinished.finish(self.name)
        found = vars(self.unfinished.cls)[self.name]
        return found.__get__(instance, asked) if self.name in _METHODS else found


def _types(fields: dict[str, dataclasses.Field[Any]]) -> dict[str, Any]:
    return {name: field.type for name, field in fields.items()}


def _replaced(value: Any, /, **changes: Any) -> Any:
    """What `copy.replace` calls."""
    return dataclasses.replace(value, **changes)


def _freeze(cls: Any) -> None:
    """Refuse to change the fields of a value."""
    def refuse(value: object, name: str, what: str) -> None:
        if type(value) is cls or name in (field.name for field in dataclasses.fields(cls)):
            raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")

    def __setattr__(self: Any, name: str, value: object) -> None:
        refuse(self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        refuse(self, name, "delete")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__
