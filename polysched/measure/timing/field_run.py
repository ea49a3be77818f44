"""The child process that verifies versions of a function against it and times each in pairs with a reference.

Started by `measure.processes.isolation.run_isolated` as `python -m polysched.measure.timing.field_run REQUEST REPORTS`;
the request is made by `measure.field`.  A version is judged as a whole before the next one is looked at.
"""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import asdict
from typing import Any

from polysched.measure.processes.child_side import Reporter, start
from polysched.measure.timing.paired_run import Program, Session, make_places


class FieldSession(Session):
    """A session with more than one candidate; the reference is `self.candidate`."""

    def __init__(self, request: dict[str, Any], reporter: Reporter) -> None:
        super().__init__(request, reporter)
        timer = ctypes.CDLL(request["timer"])
        self.versions = {name: Program(name, path, timer) for name, path in request["versions"].items()}
        every = [self.original, self.candidate, *self.versions.values()]
        self.places = make_places(request["places"], every)
        for program in every:
            program.bind(self.places)

    def intact(self, program: Program) -> bool:
        """Whether a call wrote nothing outside of the arrays; what it did is reported."""
        for place in self.places:
            if place.guarded is not None and not place.guarded.guards_intact():
                self.reporter.report(out_of_bounds={"array": place.name, "program": program.name})
                return False
        return True

    def are_intact(self) -> bool:
        """Whether nothing outside of the arrays was overwritten."""
        return all(place.guarded is None or place.guarded.guards_intact() for place in self.places)

    def judge(self, program: Program) -> bool:
        """Run a version and report what it left; whether all is right."""
        self.reporter.phase(f"running the version {program.name}")
        self.run(program)
        if not self.intact(program):
            return False
        compared = self.compare_with(program.name)
        self.reporter.report(compared=[asdict(c) for c in compared])
        return not any(c.mismatches for c in compared)

    def time(self, program: Program) -> None:
        """Alternate with the reference, the first of a pair changing from pair to pair."""
        self.reporter.phase(f"timing the version {program.name}")
        slow = self.request["slow_ratio"]
        for number in range(self.request["pairs"]):
            order = [self.candidate, program]
            if number % 2:
                order.reverse()
            seconds = {p.name: self.run(p)["wall_seconds"] for p in order}
            pair = [seconds[self.candidate.name], seconds[program.name]]
            self.reporter.report(pair=pair)
            if slow and pair[1] > slow * pair[0]:
                break

    def all_versions(self) -> None:
        """One version after the other."""
        for name, program in self.versions.items():
            self.reporter.report(entry=name)
            if self.judge(program) and self.judge(program):
                self.time(program)
                self.judge(program)
            self.reporter.report(done=name)
            if not self.are_intact():   # the guards cannot be trusted again
                return


def main() -> None:
    """Verify and time; every step is reported."""
    request, reporter = start(sys.argv)
    if request["cpus"]:
        os.sched_setaffinity(0, request["cpus"])
    try:
        session = FieldSession(request, reporter)
        reporter.report(conditioning=session.prepare())
        session.all_versions()
    except MemoryError:
        reporter.report(end="memory")
        return
    reporter.report(end="finished")
    os._exit(0)


if __name__ == "__main__":
    main()
