"""The child process that compares models of one graph with what is wanted, and times those that are right.

Started by `measure.processes.isolation.run_isolated` as `python -m polysched.model.plan_race_worker REQUEST REPORTS`;
the request is made by `model.measured_plans`.
"""

from __future__ import annotations

import ctypes
import sys
import time
from functools import partial
from typing import Any

import numpy as np

from polysched.graph.planning.memory import ALIGNMENT
from polysched.measure.processes.child_side import Reporter, serve
from polysched.measure.timing.disturbance import Watch, watch
from polysched.measure.timing.race import in_turn
from polysched.model.driver import ENTRY
from polysched.model.verification import differences


class Racer:
    """A model that is called by its library alone.

    Parameters
    ----------
    item : of the request.
    inputs : arrays, in the order of the graph's.
    """

    def __init__(self, item: dict[str, Any], inputs: list[np.ndarray]) -> None:
        constants, wanted = _arrays(item["constants"]), _arrays(item["wanted"])
        self.wanted = dict(zip(item["outputs"], wanted, strict=True))
        self.found = {name: np.empty_like(a) for name, a in self.wanted.items()}
        arena = np.empty(item["arena"] + ALIGNMENT, np.uint8)
        self.kept = (inputs, constants, arena)
        self.function = getattr(ctypes.CDLL(item["library"]), ENTRY)
        self.function.restype, self.function.argtypes = ctypes.c_int, [ctypes.c_void_p] * 7
        first = arena.ctypes.data
        self.arguments = (_pointers(inputs), _pointers(list(self.found.values())), _pointers(constants), None, None,
                          first + -first % ALIGNMENT, None)
        self.repetitions = 1

    def refusal(self) -> str:
        """Why the model is not right; empty where it is."""
        for array in self.found.values():
            array.view(np.uint8).fill(0xAB)
        status = self.function(*self.arguments)
        if status:
            return f"it returned {status}"
        for each in differences(self.found, self.wanted):
            if each.place is not None:
                return f"output {each.output!r}: {each.witness}"
        return ""

    def called(self, looking: Watch) -> tuple[float, bool]:
        """The seconds of one call, the mean of some, and whether no other program disturbed them."""
        processor = time.process_time()
        looking.begin()
        started = time.perf_counter()
        for _ in range(self.repetitions):
            self.function(*self.arguments)
        seconds = time.perf_counter() - started
        clean = looking.undisturbed({"wall_seconds": seconds, "process_cpu_seconds": time.process_time() - processor})
        return seconds / self.repetitions, clean


def _arrays(path: str) -> list[np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        return [np.ascontiguousarray(file[name]) for name in file.files]


def _pointers(arrays: list[np.ndarray]) -> Any:
    return (ctypes.c_void_p * max(len(arrays), 1))(*(a.ctypes.data for a in arrays))


def race(request: dict[str, Any], reporter: Reporter) -> None:
    """Compare every model, then time those that are right in alternation."""
    inputs = _arrays(request["inputs"])
    right: dict[str, Racer] = {}
    for name, item in request["models"].items():
        reporter.report(entry=name, phase=f"calling {name}")
        racer = Racer(item, inputs)
        if reason := racer.refusal():
            reporter.report(refused=name, reason=reason)
        else:
            right[name] = racer
    if not right:
        return
    looking = watch(shares_cores=False)

    def sampled(name: str) -> tuple[float, bool]:
        reporter.report(entry=name, phase=f"timing {name}")
        return right[name].called(looking)

    first = next(iter(right))
    once = max(min(sampled(first)[0] for _ in range(3)), 1e-9)
    for racer in right.values():
        racer.repetitions = max(1, round(request["least_seconds"] / once))
    for number in range(request["rounds"]):
        reporter.report(round=in_turn({name: partial(sampled, name) for name in right}, number))


if __name__ == "__main__":
    serve(race, sys.argv)
