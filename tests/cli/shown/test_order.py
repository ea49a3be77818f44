"""`--verify-order`: every region is checked, and told, where it was asked for."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

import polysched.measure.programs.instance_trace as instance_trace
from polysched.cli.shown.order import add_verify_order, verify_order_if_asked
from polysched.errors import IllegalScheduleError


def region(name: str, **parameters: str) -> Any:
    """A region whose parameters have C spellings."""
    scop = SimpleNamespace(name=name, parameters=[SimpleNamespace(name=n, spelling=s) for n, s in parameters.items()])
    return SimpleNamespace(scop=scop, tiled=name)


def asked(*words: str, quiet: bool = False) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_verify_order(parser)
    return parser.parse_args(words, argparse.Namespace(quiet=quiet, cc=None))


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The regions that were checked; one named `bad` is wrong."""
    found: list[str] = []

    def verify(tiled: str, *, compiler: object) -> dict[str, int]:
        found.append(tiled)
        if tiled == "bad":
            raise IllegalScheduleError("S0(1) runs too late")
        return {"n": 7, "p0": 3}

    monkeypatch.setattr(instance_trace, "verify_order", verify)
    monkeypatch.setattr(instance_trace, "instance_count", lambda scop, sizes: sum(sizes.values()))
    return found


def test_nothing_is_run_unless_it_was_asked_for(checked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    verify_order_if_asked(asked(), [region("f")])
    assert (checked, capsys.readouterr().err) == ([], "")


def test_every_region_is_told_with_the_names_of_the_source(checked: list[str],
                                                           capsys: pytest.CaptureFixture[str]) -> None:
    verify_order_if_asked(asked("--verify-order"), [region("f", n="n", p0="s->rows"), region("g")])
    assert checked == ["f", "g"]
    assert capsys.readouterr() == ("", "order of f verified: 10 instances at n=7, s->rows=3\n"
                                       "order of g verified: 10 instances at its only size\n")


def test_quiet_checks_as_well(checked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    verify_order_if_asked(asked("--verify-order", quiet=True), [region("f", n="n")])
    assert (checked, capsys.readouterr().err) == (["f"], "")


def test_a_wrong_order_ends_it(checked: list[str]) -> None:
    with pytest.raises(IllegalScheduleError, match="too late"):
        verify_order_if_asked(asked("--verify-order"), [region("f", n="n"), region("bad"), region("g")])
    assert checked == ["f", "bad"]
