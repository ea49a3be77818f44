"""`read_record`: a frozen record of JSON values; a value of another type than its field is refused with the field.

`read_json`: the value of a file, or of standard input.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from sys import float_info
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")

LARGEST = float_info.max
STANDARD_INPUT = "-"


def read_json(name: str | Path) -> Any:
    """The value of a JSON file; `-` is standard input.

    Raises
    ------
    OSError, ValueError : it cannot be read, or is no JSON.
    """
    text = sys.stdin.read() if str(name) == STANDARD_INPUT else Path(name).read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


def place_of(name: str | Path) -> str:
    """How a message calls that file."""
    return "<stdin>" if str(name) == STANDARD_INPUT else str(name)


def read_record(kind: type[Record], value: object, *, at: str = "") -> Record:
    """The record whose fields a JSON object gives; what is left out has its default.

    Fields may be numbers, truth values, text, further records, and lists and objects of those.  An integer is a
    number, but a number with a fraction, even of zero, is no integer, and a truth value is neither.

    Parameters
    ----------
    at : the place of the object in its file, for messages.

    Raises
    ------
    ValueError : a field that the record has not, one without a default that is left out, or a value of another type;
        with the place of the field, as `caches[0].level`, and the name of a list's item that has one.
    """
    if not isinstance(value, dict):
        raise _wrong(at, value, "object")
    types, known = get_type_hints(kind), {each.name: each for each in fields(kind)}
    for name in value:
        if name not in known:
            raise ValueError(f"{_inside(at, name)}: there is no such field, but {', '.join(known)}")
    for name, each in known.items():
        if name not in value and each.default is MISSING and each.default_factory is MISSING:
            raise ValueError(f"{_inside(at, name)}: this is left out")
    return kind(**{name: _read(types[name], given, _inside(at, name)) for name, given in value.items()})


def _inside(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _wrong(at: str, value: object, what: str) -> ValueError:
    return ValueError(f"{at or 'the whole'}: {value!r} is no {what}")


def _read(kind: Any, value: Any, at: str) -> Any:
    """A value of a type, which a field of a record may have."""
    if isinstance(kind, type) and is_dataclass(kind):
        return read_record(kind, value, at=at)
    if kind in PLAIN:
        what, fits = PLAIN[kind]
        if not fits(value):
            raise _wrong(at, value, what)
        return value
    return CONTAINERS[get_origin(kind)](get_args(kind), value, at)


PLAIN: Mapping[type, tuple[str, Callable[[Any], bool]]] = {
    bool: ("truth value", lambda value: isinstance(value, bool)),
    int: ("integer", lambda value: type(value) is int),
    float: ("finite number", lambda value: type(value) in (int, float) and abs(value) <= LARGEST),
    str: ("text", lambda value: isinstance(value, str)),
}


def _tuple(kinds: tuple[Any, ...], value: Any, at: str) -> tuple[Any, ...]:
    """A list of any length with items of one type, or of as many items as there are types."""
    if not isinstance(value, list):
        raise _wrong(at, value, "list")
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    if len(kinds) != len(value):
        raise _wrong(at, value, f"list of {len(kinds)}")
    return tuple(_read(kind, item, f"{at}[{_label(item, place)}]")
                 for place, (kind, item) in enumerate(zip(kinds, value, strict=True)))


def _label(item: Any, place: int) -> str:
    """The name of an item that has one, else its place."""
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else str(place)


def _frozenset(kinds: tuple[Any, ...], value: Any, at: str) -> frozenset[Any]:
    return frozenset(_tuple((*kinds, Ellipsis), value, at))


def _mapping(kinds: tuple[Any, ...], value: Any, at: str) -> dict[Any, Any]:
    """An object whose keys are text, or spell integers."""
    if not isinstance(value, dict):
        raise _wrong(at, value, "object")
    key_kind, item_kind = kinds
    for key in value:
        if key_kind is int and not (key.isascii() and key.isdigit()):
            raise _wrong(_inside(at, key), key, "integer")
    return {key_kind(key): _read(item_kind, item, _inside(at, key)) for key, item in value.items()}


CONTAINERS: Mapping[Any, Callable[[tuple[Any, ...], Any, str], Any]] = {
    tuple: _tuple, frozenset: _frozenset, Mapping: _mapping}
