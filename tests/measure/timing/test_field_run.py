"""The child of a field stops where its guards are gone; what else it reports is tested through `measure.field`."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from polysched.measure.processes.child_side import Reporter
from polysched.measure.programs.inputs import allocate
from polysched.measure.timing.field_run import answer_questions
from polysched.measure.timing.paired_run import Place, Program, Session


class Told(Reporter):
    """Keeps what is reported."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []

    def report(self, **values: Any) -> None:
        self.reports.append(values)


class Made(Session):
    """Two versions that are right, the first of which writes outside of its array."""

    def __init__(self) -> None:
        guarded = allocate("float64", (4,))
        self.places = [Place("a", "float64", "argument", None, None, guarded, {}, np.zeros(4))]
        self.memory, self.before = guarded.memory, guarded.start - 1
        self.original = self.added("original", "")
        self.reporter = self.told = Told()
        self.request = {"shares_cores": True, "questions": asked([{
            "versions": {"stray": "", "right": ""}, "against": ["original", ""], "slow_ratio": 0.0, "pairs": 1}])}

    def added(self, name: str, path: str) -> Program:
        made = Program.__new__(Program)
        made.name = name
        return made

    def run(self, program: Program) -> dict[str, Any]:
        self.memory[self.before] ^= program.name == "stray"
        return {"wall_seconds": 1e-3, "process_cpu_seconds": 1e-3}


def asked(questions: list[dict[str, Any]]) -> int:
    """A file descriptor that the questions are read from."""
    there, here = os.pipe()
    with os.fdopen(here, "w") as lines:
        lines.writelines(f"{json.dumps(question)}\n" for question in questions)
    return there


def test_nothing_is_judged_behind_a_write_outside_of_an_array():
    session = Made()
    answer_questions(session)
    assert session.told.reports == [{"entry": "stray"}, {"phase": "running the version stray"},
                                    {"out_of_bounds": {"array": "a", "program": "stray"}}, {"done": "stray"}]
