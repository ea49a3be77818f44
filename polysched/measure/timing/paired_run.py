"""The child process that verifies one function against another and then times both, in alternation.

Started by `measure.processes.isolation.run_isolated` as
`python -m polysched.measure.timing.paired_run REQUEST REPORTS`;
the request is made by `measure.compare_and_time`.  Both functions work on the same memory, so that neither has the
better pages.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, field
from functools import partial
from typing import Any

import numpy as np

from polysched.measure.processes.child_side import Reporter, serve
from polysched.measure.processes.perf_counters import PerfCounters, counted
from polysched.measure.programs.comparison import ArrayComparison, ReferenceFacts, compare, facts_of
from polysched.measure.programs.inputs import (
    FLOATS,
    STORAGE_TYPES,
    GuardedArray,
    NDArray,
    allocate,
    fill,
    perturb,
    set_elements,
)
from polysched.measure.timing.cold_cache import FlushMemory, flush_from
from polysched.measure.timing.race import pairs as alternating
from polysched.records import dataclass

PERTURBATION_ROUNDOFFS = 8.0


@dataclass(frozen=True, eq=False)
class Place:
    """One value that the functions read or write: an argument, a global, or the result."""

    name: str
    dtype: str
    origin: str
    index_extent: int | None
    value: int | float | None
    guarded: GuardedArray | None
    work: dict[str, NDArray]
    pristine: NDArray
    kept: bool = False
    elements: list[tuple[list[int], int]] = field(default_factory=list)

    @property
    def filled(self) -> bool:
        return self.value is None and self.origin != "result" and not self.kept


class Program:
    """One of the shared objects."""

    def __init__(self, name: str, path: str, timer: ctypes.CDLL) -> None:
        self.name = name
        self._library = ctypes.CDLL(path)
        self._library.polysched_address.restype = ctypes.c_void_p
        self._timed = timer.polysched_timed
        self._call = ctypes.cast(self._library.polysched_call, ctypes.c_void_p)
        self._slots: Any = None

    def address(self, index: int) -> int:
        """Where the global number `index` stands."""
        return int(self._library.polysched_address(ctypes.c_int(index)))

    def bind(self, places: list[Place]) -> None:
        """Use these places as the slots of every call."""
        self._slots = (ctypes.c_void_p * max(1, len(places)))(*(p.work[self.name].ctypes.data for p in places))

    def run(self, counters: PerfCounters) -> dict[str, Any]:
        """Call once; the fields of a `measure.timing.statistics.Sample`."""
        out = (ctypes.c_double * 3)()
        switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
        before = counters.read()
        self._timed(self._call, self._slots, out)
        after = counters.read()
        return {"wall_seconds": out[0], "thread_cpu_seconds": out[1], "process_cpu_seconds": out[2],
                "involuntary_switches": resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - switches,
                "counters": counted(before, after)}


def make_places(described: list[dict[str, Any]], programs: list[Program]) -> list[Place]:
    """Memory for every place; globals stay where each program has them."""
    places: list[Place] = []
    for index, item in enumerate(described):
        shape, dtype, origin = tuple(item["shape"]), item["dtype"], item["origin"]
        guarded, kept = None, False
        if origin == "global":
            work = {p.name: _view(p.address(item["global_index"]), dtype, shape) for p in programs}
            first = work[programs[0].name]
            kept = item["value"] is None and (item["constant"] or bool(first.any()))
        else:
            guarded = allocate(dtype, shape)
            work = {p.name: guarded.values for p in programs}
        pristine = next(iter(work.values())).copy()
        assert len(places) == index
        places.append(Place(item["name"], dtype, origin, item["index_extent"], item["value"], guarded, work,
                            pristine, kept, item["elements"]))
    return places


def _view(address: int, dtype: str, shape: tuple[int, ...]) -> NDArray:
    storage = np.dtype(STORAGE_TYPES[dtype])
    byte_count = int(np.prod(shape, dtype=np.int64)) * storage.itemsize
    memory = (ctypes.c_uint8 * byte_count).from_address(address)
    return np.ctypeslib.as_array(memory).view(storage).reshape(shape)


def fill_places(places: list[Place], recipe: str, seed: int) -> None:
    """Give every place its input values: those that are set, others by a recipe."""
    for place in places:
        if place.value is not None:
            place.pristine[...] = place.value
        elif place.filled:
            fill(place.pristine, place.dtype, name=place.name, recipe=recipe, seed=seed,
                 index_extent=place.index_extent)
        set_elements(place.pristine, place.elements)


def restore(places: list[Place], program: Program) -> None:
    """Put the input values back where this program finds them."""
    for place in places:
        work = place.work[program.name]
        if work.flags.writeable and not (place.kept and np.array_equal(work, place.pristine)):
            np.copyto(work, place.pristine)


class Session:
    """Everything of one child: the programs, the places, and the reference's results."""

    def __init__(self, request: dict[str, Any], reporter: Reporter) -> None:
        self.request = request
        self.reporter = reporter
        self._timer = timer = ctypes.CDLL(request["timer"])
        self.counters = PerfCounters()
        reporter.phase("loading the compiled code")
        self.original = Program("original", request["original"], timer)
        self.candidate = Program("transformed", request["transformed"], timer)
        programs = [self.original, self.candidate]
        reporter.phase("allocating the arrays")
        self.places = make_places(request["places"], programs)
        self.reference: list[NDArray] = [np.empty_like(p.pristine) for p in self.places]
        self.facts: list[ReferenceFacts] = []
        flush = flush_from(request["flush"].split())
        self.cold = FlushMemory(flush) if flush is not None else None
        for program in programs:
            program.bind(self.places)

    def added(self, name: str, path: str) -> Program:
        """A further program on the same places."""
        program = Program(name, path, self._timer)
        for place, item in zip(self.places, self.request["places"], strict=True):
            place.work[name] = place.guarded.values if place.guarded is not None else _view(
                program.address(item["global_index"]), item["dtype"], tuple(item["shape"]))
        program.bind(self.places)
        return program

    def run(self, program: Program) -> dict[str, Any]:
        """Restore the inputs, call, and check that nothing around the arrays was overwritten."""
        restore(self.places, program)
        if self.cold is not None:
            self.cold.walk()
        return program.run(self.counters)

    def checked_run(self, program: Program) -> None:
        """Run once outside any timing; report a write outside an array and stop."""
        self.reporter.phase(f"running the {program.name} code")
        self.run(program)
        overwritten = self.overwritten()
        if overwritten is not None:
            self.reporter.report(out_of_bounds={"array": overwritten, "program": program.name})
            self.reporter.report(end="finished")
            sys.exit(0)

    def overwritten(self) -> str | None:
        """The first array outside of which something was written."""
        return next((place.name for place in self.places
                     if place.guarded is not None and not place.guarded.guards_intact()), None)

    def prepare(self) -> dict[str, Any]:
        """Choose the first recipe under which the reference changes something, finite, and amplifies no rounding.

        When none is, the one that amplifies least is used, and the numbers say so.
        """
        has_floats = any(p.dtype in FLOATS and p.filled for p in self.places)
        tried: list[dict[str, Any]] = []
        for recipe in self.request["recipes"]:
            conditioning = self._try_recipe(recipe, has_floats=has_floats)
            tried.append(conditioning)
            if conditioning["suits"]:
                return conditioning
        best = min(tried, key=lambda c: (not c["changes"], c["not_finite"], c["amplified"]))
        if best is not tried[-1]:
            self._try_recipe(best["recipe"], has_floats=has_floats)
        return best

    def _try_recipe(self, recipe: str, *, has_floats: bool) -> dict[str, Any]:
        """Fill by a recipe, run the reference, keep its results, and see what a tiny change of the inputs does."""
        fill_places(self.places, recipe, self.request["seed"])
        self.checked_run(self.original)
        self._keep_results()
        amplified = 0.0
        left = self.compare_with("original")
        not_finite, changes_any = sum(c.not_finite for c in left), any(c.changed for c in left)
        if has_floats and not not_finite:
            kept = [p.pristine.copy() if p.dtype in FLOATS and p.filled else None for p in self.places]
            for place, copy in zip(self.places, kept, strict=True):
                if copy is not None:
                    perturb(place.pristine, place.dtype, name=place.name, seed=self.request["seed"],
                            roundoffs=PERTURBATION_ROUNDOFFS)
            self.checked_run(self.original)
            changes = self.compare_with("original")
            amplified = max((c.largest_relative for c in changes), default=0.0)
            suits = not any(c.mismatches for c in changes)
            for place, copy in zip(self.places, kept, strict=True):
                if copy is not None:
                    np.copyto(place.pristine, copy)
        else:
            suits = not not_finite
        return {"recipe": recipe, "suits": suits and changes_any, "changes": changes_any, "not_finite": not_finite,
                "amplified": amplified}

    def _keep_results(self) -> None:
        """Take what the original left as the reference."""
        for place, result in zip(self.places, self.reference, strict=True):
            np.copyto(result, place.work["original"])
        self.facts = [facts_of(place.dtype, reference=result, pristine=place.pristine)
                      for place, result in zip(self.places, self.reference, strict=True)]

    def compare_with(self, program_name: str) -> list[ArrayComparison]:
        """Compare what a program left in every place with the reference."""
        return [compare(place.name, place.dtype, reference=reference, result=place.work[program_name],
                        pristine=place.pristine, tolerance=self.request["tolerance"], known=facts)
                for place, reference, facts in zip(self.places, self.reference, self.facts, strict=True)
                if place.origin == "result" or place.value is None]

    def verify(self, *, when: str) -> bool:
        """Run the candidate and report the comparison; whether it passed."""
        self.checked_run(self.candidate)
        self.reporter.phase("comparing the results")
        return self.is_right(self.candidate, when=when)

    def is_right(self, program: Program, **told: str) -> bool:
        """Report how what a program left compares with the reference; whether it is the same."""
        compared = self.compare_with(program.name)
        self.reporter.report(compared=[asdict(c) for c in compared], **told)
        return not any(c.mismatches for c in compared)

    def time_pairs(self) -> None:
        """Alternate the two programs; pairs with numbers below 0 warm up."""
        pairs, budget, least = (self.request[k] for k in ("pairs", "budget_seconds", "least_pairs"))
        self.reporter.phase("timing")
        started = time.monotonic()
        begin = -self.request["warmups"]
        for number, pair in enumerate(alternating(partial(self.run, self.original), partial(self.run, self.candidate),
                                                  most=pairs, begin=begin), begin):
            samples = {self.original.name: pair.first, self.candidate.name: pair.own}
            self.reporter.report(warmup=number < 0, samples=samples)
            if number + 1 >= least and time.monotonic() - started > budget:
                break


def run_session(work: Callable[[Session], None]) -> None:
    """Take the request of this child, do its work, and say how it ended."""
    def in_session(request: dict[str, Any], reporter: Reporter) -> None:
        if request["cpus"]:
            os.sched_setaffinity(0, request["cpus"])
        session = Session(request, reporter)
        reporter.report(conditioning=session.prepare())
        work(session)

    serve(in_session, sys.argv)


def verify_and_time(session: Session) -> None:
    """Verify, then time, then verify again."""
    right = session.verify(when="first run") and session.verify(when="with threads running")
    if right and session.request["pairs"]:
        session.time_pairs()
        session.verify(when="after the timing")


if __name__ == "__main__":
    run_session(verify_and_time)
