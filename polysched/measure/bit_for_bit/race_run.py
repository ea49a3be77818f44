"""The child process that compares several codes of one statement with the original and times those that are right.

Started by `measure.processes.isolation.run_isolated` as
`python -m polysched.measure.bit_for_bit.race_run REQUEST REPORTS`;
the request is made by `bit_for_bit.race`.
"""

from __future__ import annotations

import ctypes
import sys
import time
from functools import partial
from typing import Any

from polysched.measure.bit_for_bit.check_run import Check, judge
from polysched.measure.processes.child_side import Reporter, serve
from polysched.measure.timing.disturbance import Watch, watch
from polysched.measure.timing.race import in_turn


class Racer(Check):
    """A check whose code is timed, too."""

    def __init__(self, item: dict[str, Any], original: ctypes.CDLL, replaced: ctypes.CDLL) -> None:
        super().__init__(item, original, replaced)
        self.timed = getattr(replaced, f"timed_{item['entry']}")
        self.timed.restype = ctypes.c_double

    def share(self, other: Racer, trial: int) -> None:
        """Work on the memory of another racer, so that none has the better pages; constant arrays are packed."""
        self.arrays, self.pristine = other.arrays, other.pristine
        self.fill(trial)
        self.restore()
        self.functions["prepare"](*self.passed())

    def called(self, watch: Watch) -> tuple[float, bool]:
        """The seconds of one call, and whether no other program disturbed it."""
        processor = time.process_time()
        watch.begin()
        seconds = float(self.timed(*self.passed()))
        return seconds, watch.undisturbed({"wall_seconds": seconds,
                                           "process_cpu_seconds": time.process_time() - processor})


def race(request: dict[str, Any], reporter: Reporter) -> None:
    """Compare every code, then time those that are right, and do not leave these sizes to others, in alternation."""
    reporter.phase("loading the compiled code")
    original, replaced = ctypes.CDLL(request["original"]), ctypes.CDLL(request["replaced"])
    right: list[Racer] = []
    for item in request["checks"]:
        reporter.report(entry=item["entry"])
        racer = Racer(item, original, replaced)
        if judge(racer, reporter) and not racer.skipped.value:
            right.append(racer)
            racer.share(right[0], request["quiet"])
    looking = watch(shares_cores=request["shares_cores"])

    def sampled(racer: Racer) -> None:
        reporter.report(entry=racer.item["entry"], phase=f"timing the code {racer.item['entry']}")
        racer.restore()
        seconds, clean = racer.called(looking)
        reporter.report(timed=racer.item["entry"], seconds=seconds, clean=clean)

    codes = {number: partial(sampled, racer) for number, racer in enumerate(right)}
    for number in range(request["rounds"]):
        in_turn(codes, number)


if __name__ == "__main__":
    serve(race, sys.argv)
