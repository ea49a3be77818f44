"""Standard input as a file that can be read more than once."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from polysched.cli.shown import input as tested
from polysched.cli.shown.input import as_files
from polysched.errors import UsageError

BYTES = b"{\r\n\xff\x00}"


@pytest.fixture(autouse=True)
def standard(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    stream = io.BytesIO(BYTES)
    monkeypatch.setattr(tested.sys, "stdin", SimpleNamespace(buffer=stream))
    return stream


def test_files_are_themselves_and_standard_input_is_left_alone(standard: io.BytesIO) -> None:
    with as_files(["a.json", "./-"]) as names:
        assert names == ["a.json", "./-"]
    assert standard.read() == BYTES


def test_every_dash_is_one_copy_byte_for_byte_which_goes_with_the_body() -> None:
    with as_files(["-", "a.json", "-"]) as names:
        first, other, last = names
        assert (first, other) == (last, "a.json")
        assert Path(first).read_bytes() == Path(first).read_bytes() == BYTES
    assert not Path(first).exists()


def test_the_copy_goes_where_the_body_fails() -> None:
    kept: list[str] = []
    with pytest.raises(KeyError):
        fail_with(kept)
    assert not Path(kept[0]).exists()


def fail_with(kept: list[str]) -> None:
    with as_files(["-"]) as names:
        kept += names
        raise KeyError


def test_a_refusal_of_the_copy_calls_it_standard_input() -> None:
    with pytest.raises(UsageError, match=r"^<stdin>:3: no\n  witness: in <stdin>$"), as_files(["-"]) as (name,):
        raise UsageError("no", where=f"{name}:3", witness=f"in {name}")
    with pytest.raises(UsageError, match=r"^b.json: no$"), as_files(["-", "b.json"]):
        raise UsageError("no", where="b.json")
