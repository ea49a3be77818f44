"""Several codes of one statement: compared with the original, then timed in alternation, in a process of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polysched.emit_c.alternatives.replacement_check import ReplacementCheck
from polysched.errors import CompileError
from polysched.measure.bit_for_bit.check import LIMITS, ORIGINAL_FLAGS, read_outcome, request_of
from polysched.measure.bit_for_bit.corner_values import SMALL
from polysched.measure.field import Verdict, verdict_of
from polysched.measure.processes.building import compile_shared
from polysched.measure.processes.isolation import ChildEnd, End, Limits, run_isolated
from polysched.measure.processes.threads import thread_environment, usable_processors
from polysched.measure.processes.workspace import workspace
from polysched.measure.timing.machine import available_cores
from polysched.records import dataclass
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
    clean : per round whether no other program disturbed the call.
    verdict : what came of it.
    refusal : why it has no time; "" for one that has.
    """

    entry: str
    seconds: tuple[float, ...] = ()
    clean: tuple[bool, ...] = ()
    verdict: Verdict = Verdict.TIMED
    refusal: str = ""


def race(checks: Sequence[ReplacementCheck], *, compiler: Compiler, flags: Sequence[str],
         limits: Limits = LIMITS, rounds: int = ROUNDS) -> tuple[Raced, ...]:
    """Verify and time codes of one statement; the order is that of the checks.

    A code that crashes, hangs or does not compile gets a refusal, and the others run again without it.

    Parameters
    ----------
    rounds : calls of each that are timed, in alternation.
    """
    refused: dict[str, _Refusal] = {}
    timed: dict[str, tuple[tuple[float, ...], tuple[bool, ...]]] = {}
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
                refused |= _without_code(left, compiler=compiler, flags=flags) or dict.fromkeys(
                    texts, (Verdict.NO_CODE, str(error)))
                left = [c for c in left if c.entry not in refused]
                continue
            request = {"original": str(original.path), "replaced": str(replaced.path), "rounds": rounds,
                       "checks": [request_of(c) for c in left], "quiet": SMALL,
                       "shares_cores": available_cores() > len(usable_processors())}
            ended = run_isolated(CHILD_MODULE, request, folder=folder, limits=limits,
                                 environment=thread_environment(available_cores(), pin=False))
        refused |= _wrong(ended)
        if ended.end is End.FINISHED:
            timed = _times(ended)
            break
        culprit = next((str(r["entry"]) for r in reversed(ended.reports) if "entry" in r), left[0].entry)
        refused[culprit] = verdict_of(ended.end), f"the process {ended.describe()}"
        left = [c for c in left if c.entry not in refused]
    return tuple(_raced(c.entry, timed, refused) for c in checks)


_Refusal = tuple[Verdict, str]


def _raced(entry: str, timed: Mapping[str, tuple[tuple[float, ...], tuple[bool, ...]]],
           refused: Mapping[str, _Refusal]) -> Raced:
    """What came of one code."""
    seconds, clean = timed.get(entry, ((), ()))
    if seconds and entry not in refused:
        return Raced(entry=entry, seconds=seconds, clean=clean)
    verdict, refusal = refused.get(entry, (Verdict.FAILED, "its process told nothing of it"))
    return Raced(entry=entry, verdict=verdict, refusal=refusal)


def _without_code(checks: Sequence[ReplacementCheck], *, compiler: Compiler,
                  flags: Sequence[str]) -> dict[str, _Refusal]:
    """The codes that the compiler refuses alone, and its words."""
    found: dict[str, _Refusal] = {}
    for check in checks:
        with workspace() as folder:
            try:
                compile_shared(check.replaced_text, name="replaced", folder=folder, compiler=compiler, flags=flags,
                               what="the plan")
            except CompileError as error:
                found[check.entry] = Verdict.NO_CODE, str(error)
    return found


def _wrong(ended: ChildEnd) -> dict[str, _Refusal]:
    """The codes that were found to compute something else."""
    found: dict[str, _Refusal] = {}
    entry = ""
    for report in ended.reports:
        entry = str(report.get("entry", entry))
        if "difference" in report or "stray" in report:
            outcome = read_outcome([report], failure="")
            found[entry] = Verdict.WRONG, str(outcome.difference or outcome.failure)
        elif "skipped" in report:
            found[entry] = Verdict.FAILED, "it leaves these sizes to ordinary code"
    return found


def _times(ended: ChildEnd) -> dict[str, tuple[tuple[float, ...], tuple[bool, ...]]]:
    """Per code its seconds, and which of them nothing disturbed."""
    reports: list[Mapping[str, float]] = [r for r in ended.reports if "timed" in r]
    entries = dict.fromkeys(str(r["timed"]) for r in reports)
    own = {e: [r for r in reports if str(r["timed"]) == e] for e in entries}
    return {e: (tuple(r["seconds"] for r in rs), tuple(bool(r["clean"]) for r in rs)) for e, rs in own.items()}
