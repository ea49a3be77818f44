"""`OneLine`: a record whose `repr` is one line of at most 300 characters, however much it holds.

A value stands inside another one, in a traceback, in a debugger.  Its fields are shown as `dataclasses` does; where
that is too long every field is cut, and at last the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from reprlib import recursive_repr
from typing import Any, ClassVar

LONGEST = 300
"""Characters of a line."""
LONGEST_FIELD = 40
"""Characters of a field's value where the line is too long."""
_SHOW = "__repr__"


class OneLine:
    """A base of dataclasses; one that defines `__repr__` itself keeps it."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Put the method into the class itself, where `dataclass` keeps it; of an inherited one it makes its own."""
        super().__init_subclass__(**arguments)
        if _SHOW not in vars(cls):
            setattr(cls, _SHOW, OneLine.__repr__)

    @recursive_repr()
    def __repr__(self) -> str:
        shown = [(field.name, repr(getattr(self, field.name, ...)).replace("\n", " "))
                 for field in fields(self) if field.repr]
        line = _line(type(self).__qualname__, shown)
        if len(line) > LONGEST:
            line = _line(type(self).__qualname__, [(name, _cut(value, LONGEST_FIELD)) for name, value in shown])
        return shortened(line)


def shortened(line: str) -> str:
    """A line of at most so many characters; of a longer one the beginning, and its last character."""
    line = line.replace("\n", " ")
    return line if len(line) <= LONGEST else f"{line[:LONGEST - 4]}...{line[-1]}"


def _line(name: str, shown: list[tuple[str, str]]) -> str:
    return f"{name}({', '.join(f'{field}={value}' for field, value in shown)})"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest - 3] + "..."


def whole(value: object) -> str:
    """The value with everything that it holds, for keys; equal texts only for equal records."""
    if is_dataclass(value) and not isinstance(value, type):
        own = [(field.name, whole(getattr(value, field.name))) for field in fields(value) if field.repr]
        return _line(type(value).__qualname__, own)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{whole(k)}: {whole(v)}' for k, v in value.items())}}}"
    if isinstance(value, tuple | list):
        inside = ", ".join(map(whole, value))
        return f"({inside},)" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(whole, value)))}}}"
    return repr(value)
