"""What rooms provide for their values: every name of a `PROVIDED` is a method and a function."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import polysched
from polysched.scop.provided import provided

ROOT = Path(polysched.__file__).parent
ROOMS = sorted(path.parent.name for path in ROOT.glob("*/__init__.py") if "\nPROVIDED = " in path.read_text())


def rows() -> Iterator[tuple[str, str]]:
    for room in ROOMS:
        yield from ((room, method) for method in importlib.import_module(f"polysched.{room}").PROVIDED)


@pytest.mark.parametrize(("room", "method"), list(rows()))
def test_a_method_has_its_function(room: str, method: str) -> None:
    function = provided(room, method)
    assert callable(function)
    assert function.__doc__
    assert any(f'provided("{room}", "{method}")' in path.read_text() for path in (ROOT / room).rglob("*.py"))
    taken = next(iter(inspect.signature(function, eval_str=False).parameters.values())).annotation
    assert taken in (method.partition(".")[0], "str"), "the value comes first"


def test_every_method_that_asks_is_provided() -> None:
    asked = {(room, method) for path in ROOT.rglob("*.py") for part in path.read_text().split('provided("')[1:]
             for room, method in [part.partition('")')[0].split('", "')]}
    assert asked == set(rows())


def test_what_is_not_provided_is_an_error() -> None:
    with pytest.raises(KeyError):
        provided("scop", "Scop.nothing")
