"""Compile checks of replaced statements and run them in isolation: equal, or one element that differs, as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import Any

from polysched.emit_c.alternatives.replacement_check import ReplacementCheck
from polysched.errors import CompileError
from polysched.measure.processes.building import DEFAULT_FLAGS, compile_shared
from polysched.measure.processes.isolation import End, Limits, run_isolated
from polysched.measure.processes.threads import thread_environment
from polysched.measure.processes.workspace import workspace
from polysched.measure.timing.machine import available_cores
from polysched.records import dataclass
from polysched.target import Compiler

STRAYED = "the original code writes beside"   # how failures begin for which the program is to blame
UNREACHED = "no size that was tried reaches the code with the instruction"
CHILD_MODULE = "polysched.measure.bit_for_bit.check_run"
TRIALS = 6
SAMPLED_TRIALS = 2
LIMITS = Limits(seconds=10.0, memory_bytes=4 << 30, cpu_seconds=60)
UNCHANGED = ("-ffp-contract=off",)   # what is written with instructions stays as it is
ORIGINAL_FLAGS = ("-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")   # what C says, overflow wraps


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One element that the code with the instruction computes otherwise than the original.

    Parameters
    ----------
    expected, found : of the original, of the code with the instruction.
    count, elements : how many elements of the array differ, of how many.
    sizes, data : iterations of the loops, and what the arrays were filled with.
    """

    array: str
    index: tuple[int, ...]
    expected: str
    found: str
    count: int
    elements: int
    sizes: str
    data: str

    def __str__(self) -> str:
        at = "".join(f"[{i}]" for i in self.index)
        return (f"{self.array}{at} has to be {self.expected} and is {self.found} "
                f"({self.count} of {self.elements} elements differ; {self.sizes}; {self.data})")


@dataclass(frozen=True, kw_only=True)
class CheckOutcome:
    """What came of the checks of one replaced statement.

    Parameters
    ----------
    sizes : iterations of the loops in every check that found both equal.
    trials : data sets per check.
    difference : the first; None where there is none.
    failure : why there is no answer: a crash, a hang, a refusal of the compiler; "" where there is one.
    """

    sizes: tuple[str, ...]
    trials: int
    difference: Difference | None = None
    failure: str = ""

    @property
    def equal(self) -> bool:
        """Every check ran, and none found a difference."""
        return self.difference is None and not self.failure


def run_checks(checks: Sequence[ReplacementCheck], *, compiler: Compiler, flags: Sequence[str] = DEFAULT_FLAGS,
               limits: Limits = LIMITS) -> CheckOutcome:
    """Run every check; all of them are of one statement and one instruction.

    Parameters
    ----------
    flags : of the code with the instruction; the original is compiled for what C says, with wrapping overflow.
    """
    with workspace() as folder:
        libraries = tuple(dict.fromkeys(f for c in checks for f in c.flags))
        try:
            with ThreadPoolExecutor(max_workers=2) as compiling:
                original, replaced = compiling.map(lambda made: made(), (
                    partial(compile_shared, _texts(c.original_text for c in checks), name="original", folder=folder,
                            compiler=compiler, flags=ORIGINAL_FLAGS, openmp=False, what="the original"),
                    partial(compile_shared, _texts(c.replaced_text for c in checks), name="replaced", folder=folder,
                            compiler=compiler, flags=(*flags, *UNCHANGED, *libraries),
                            what="the code with the instruction")))
        except CompileError as error:
            return CheckOutcome(sizes=(), trials=0, failure=f"{error.problem}: {error.witness}")
        request = {"original": str(original.path), "replaced": str(replaced.path),
                   "checks": [request_of(c) for c in checks]}
        ended = run_isolated(CHILD_MODULE, request, folder=folder, limits=limits,
                             environment=thread_environment(available_cores(), pin=False))
    return read_outcome(ended.reports, failure="" if ended.end is End.FINISHED else f"the process {ended.describe()}")


def _texts(parts: Iterable[str]) -> str:
    """All of them, each once: code for all sizes is that of several checks."""
    return "".join(dict.fromkeys(parts))


def read_outcome(reports: Sequence[Mapping[str, Any]], *, failure: str) -> CheckOutcome:
    """What a child reported.

    Parameters
    ----------
    failure : how it ended, where it did not finish.
    """
    sizes = tuple(str(r["equal"]) for r in reports if "equal" in r)
    difference = next((_difference(r["difference"]) for r in reports if "difference" in r), None)
    stray = next((r["stray"] for r in reports if "stray" in r), None)
    if not failure and difference is None and not sizes:
        failure = UNREACHED
    if stray is not None:
        failure = f"the {stray['which']} code writes beside the array {stray['array']} at {stray['sizes']}"
    return CheckOutcome(sizes=sizes, trials=TRIALS, difference=difference, failure=failure)


def request_of(check: ReplacementCheck) -> dict[str, Any]:
    """What a child needs to know of a check, as JSON values."""
    arrays = [asdict(a) | {"values": a.values.value} for a in check.arrays]
    return {"entry": check.entry, "instruction": check.instruction, "sizes": check.sizes, "arrays": arrays,
            "parameters": list(check.parameters), "equality": check.equality.value, "sampled": check.sampled,
            "trials": SAMPLED_TRIALS if check.sampled else TRIALS}


def _difference(report: Mapping[str, Any]) -> Difference:
    return Difference(array=report["array"], index=tuple(report["index"]), expected=report["expected"],
                      found=report["found"], count=report["count"], elements=report["of"], sizes=report["sizes"],
                      data=report["data"])
