"""Several codes of one statement: compared with the original, then timed in alternation, in a process of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polysched.emit_c.alternatives.replacement_check import ReplacementCheck
from polysched.errors import CompileError
from polysched.measure.bit_for_bit.check import LIMITS, ORIGINAL_FLAGS, read_outcome, request_of
from polysched.measure.bit_for_bit.corner_values import SMALL
from polysched.measure.processes.building import compile_shared
from polysched.measure.processes.isolation import ChildEnd, End, Limits, run_isolated
from polysched.measure.processes.threads import thread_environment
from polysched.measure.processes.workspace import workspace
from polysched.measure.timing.machine import available_cores
from polysched.target import Compiler

CHILD_MODULE = "polysched.measure.bit_for_bit.race_run"
ROUNDS = 15


@dataclass(frozen=True, kw_only=True)
class Raced:
    """One code of a race.

    Parameters
    ----------
    entry : of its check.
    seconds : per call, one number a round; empty for a code that is wrong or does not end.
    refusal : why it has no time; "" for one that has.
    """

    entry: str
    seconds: tuple[float, ...] = ()
    refusal: str = ""


def race(checks: Sequence[ReplacementCheck], *, compiler: Compiler, flags: Sequence[str],
         limits: Limits = LIMITS) -> tuple[Raced, ...]:
    """Verify and time codes of one statement; the order is that of the checks.

    A code that crashes, hangs or does not compile gets a refusal, and the others run again without it.
    """
    refused: dict[str, str] = {}
    timed: dict[str, tuple[float, ...]] = {}
    left = list(checks)
    while left:
        with workspace() as folder:
            texts = {c.entry: c.replaced_text for c in left}
            try:
                original = compile_shared("".join(c.original_text for c in left), name="original", folder=folder,
                                          compiler=compiler, flags=ORIGINAL_FLAGS, openmp=False, what="the original")
                replaced = compile_shared("".join(texts.values()), name="replaced", folder=folder, compiler=compiler,
                                          flags=flags, what="the plans")
            except CompileError as error:
                refused |= _without_code(left, compiler=compiler, flags=flags) or dict.fromkeys(texts, str(error))
                left = [c for c in left if c.entry not in refused]
                continue
            request = {"original": str(original.path), "replaced": str(replaced.path), "rounds": ROUNDS,
                       "checks": [request_of(c) for c in left], "quiet": SMALL}
            ended = run_isolated(CHILD_MODULE, request, folder=folder, limits=limits,
                                 environment=thread_environment(available_cores(), pin=False))
        refused |= _wrong(ended)
        if ended.end is End.FINISHED:
            timed = _times(ended)
            break
        culprit = next((str(r["entry"]) for r in reversed(ended.reports) if "entry" in r), left[0].entry)
        refused[culprit] = f"the process {ended.describe()}"
        left = [c for c in left if c.entry not in refused]
    return tuple(Raced(entry=c.entry, seconds=timed.get(c.entry, ()), refusal=refused.get(c.entry, "")) for c in checks)


def _without_code(checks: Sequence[ReplacementCheck], *, compiler: Compiler, flags: Sequence[str]) -> dict[str, str]:
    """The codes that the compiler refuses alone, and its words."""
    found: dict[str, str] = {}
    for check in checks:
        with workspace() as folder:
            try:
                compile_shared(check.replaced_text, name="replaced", folder=folder, compiler=compiler, flags=flags,
                               what="the plan")
            except CompileError as error:
                found[check.entry] = str(error)
    return found


def _wrong(ended: ChildEnd) -> dict[str, str]:
    """The codes that were found to compute something else."""
    found: dict[str, str] = {}
    entry = ""
    for report in ended.reports:
        entry = str(report.get("entry", entry))
        if "difference" in report or "stray" in report:
            outcome = read_outcome([report], failure="")
            found[entry] = str(outcome.difference or outcome.failure)
        elif "skipped" in report:
            found[entry] = "it leaves these sizes to ordinary code"
    return found


def _times(ended: ChildEnd) -> dict[str, tuple[float, ...]]:
    reports: list[Mapping[str, float]] = [r for r in ended.reports if "timed" in r]
    entries = dict.fromkeys(str(r["timed"]) for r in reports)
    return {e: tuple(r["seconds"] for r in reports if str(r["timed"]) == e) for e in entries}
