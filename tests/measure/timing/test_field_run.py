"""The child of a field stops where its guards are gone; what else it reports is tested through `measure.field`."""

from __future__ import annotations

from typing import Any

import numpy as np

from polysched.measure.processes.child_side import Reporter
from polysched.measure.programs.inputs import allocate
from polysched.measure.timing.field_run import judge_versions
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
        self.versions = [Program.__new__(Program) for _ in range(2)]
        for version, name in zip(self.versions, ("stray", "right"), strict=True):
            version.name = name
        self.reporter = self.told = Told()

    def run(self, program: Program) -> dict[str, Any]:
        self.memory[self.before] ^= program.name == "stray"
        return {}


def test_nothing_is_judged_behind_a_write_outside_of_an_array():
    session = Made()
    judge_versions(session)
    assert session.told.reports == [{"entry": "stray"}, {"phase": "running the version stray"},
                                    {"out_of_bounds": {"array": "a", "program": "stray"}}, {"done": "stray"}]
