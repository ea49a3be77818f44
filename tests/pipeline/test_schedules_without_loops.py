"""Whoever shows or emits a schedule for which isl's generator finds no loops takes what is left of it."""

import logging
from typing import Any

import pytest

from polysched.emit_c import lowering
from polysched.errors import NoLoopsError
from polysched.fuzz.matches.attempt import _Around
from polysched.notebook.exploration import begin
from polysched.notebook.loop_nest import loop_nest
from tests.notebook.test_comparison import original


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """No loops for the first schedule that is tried."""
    kept, tried = lowering.generate_loops, []

    def generate(*args: Any, **kwargs: Any) -> Any:
        tried.append(args)
        if len(tried) == 1:
            raise NoLoopsError("isl's loops did not visit every instance")
        return kept(*args, **kwargs)
    monkeypatch.setattr(lowering, "generate_loops", generate)


def test_a_nest_is_shown(refused: None, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert loop_nest(original())[0].text == "for (long i = 0; i < n; i++)"
    assert "were given up: isl's loops did not visit every instance" in caplog.text


def test_an_exploration_has_c(refused: None) -> None:
    assert "for (long i = 0; i < n; i++)" in begin(original(), parameters={"n": 10}).c()


def test_a_program_around_an_instruction_has_c(refused: None) -> None:
    assert "for (long i = 0; i < n; i++)" in _Around(original().scop).ordinary.text
