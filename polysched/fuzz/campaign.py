"""Many random programs: which of them come out wrong, which are refused, which take too long.

Programs are checked in child processes, some at a time, so that one that hangs, crashes or eats memory is a
finding and not the end.  A program that needs more than its time is counted as slow, with the place where it was then.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from polysched.errors import OutputError
from polysched.fuzz.checking import Finding
from polysched.fuzz.generator import Shape
from polysched.fuzz.kinds import AFFINE, PROGRAM_KINDS
from polysched.fuzz.time_limit import place_of_end
from polysched.measure.processes.chunks import run_chunks
from polysched.measure.processes.isolation import ChildEnd, Limits, Stop, run_isolated
from polysched.records import dataclass

WORKER = "polysched.fuzz.worker"
CHECK_FACTOR = 12
LEAST_CHECK_SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """What to run.

    Parameters
    ----------
    count, seed : programs `seed` to `seed + count - 1`.
    jobs : child processes at a time.
    chunk : programs per child.
    limit_seconds : CPU time for scheduling and emitting one program in one configuration, and for extracting it; one
        that needs more is slow. The checks of a chunk have CHECK_FACTOR as much between two steps, and at least
        LEAST_CHECK_SECONDS.
    limit_bytes : memory of one child.
    shrink_seconds : for making a wrong program smaller; 0 saves it as it is.
    data_dependent : probability of a data-dependent condition, per statement.
    statements, depth : how large programs may be, as in `Shape`.
    programs : their kind, a name in `kinds.PROGRAM_KINDS`.
    """

    count: int
    seed: int = 0
    jobs: int = 1
    chunk: int = 32
    limit_seconds: float = 10.0
    limit_bytes: int = 4 << 30
    shrink_seconds: float = 120.0
    data_dependent: float = 0.02
    statements: int = Shape.statements
    depth: int = Shape.depth
    programs: str = AFFINE

    @property
    def shape(self) -> Shape:
        return Shape(data_dependent=self.data_dependent, statements=self.statements, depth=self.depth)

    @property
    def shape_request(self) -> dict[str, Any]:
        """The same for a child process."""
        return {"data_dependent": self.data_dependent, "statements": self.statements, "depth": self.depth}


@dataclass(frozen=True, kw_only=True)
class ProgramResult:
    """What came of one program; without findings it is right in every configuration.

    Parameters
    ----------
    configurations : how many were tried.
    kinds : what the checked ones consist of, and how often.
    seconds : for extraction, schedules and code, and its share of the checks.
    """

    seed: int
    configurations: int = 0
    findings: tuple[Finding, ...] = ()
    kinds: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def wrong(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.is_wrong)

    @property
    def outcome(self) -> str:
        """`wrong`, `slow`, `refused` or `right`: the first that holds for one of its configurations."""
        kinds = {f.kind for f in self.findings}
        return "wrong" if self.wrong else next((kind for kind in ("slow", "refused") if kind in kinds), "right")


def run_campaign(options: CampaignOptions, *, on_result: Callable[[ProgramResult], None] | None = None) -> list[
        ProgramResult]:
    """Check every program; the results in order of their numbers.

    Parameters
    ----------
    on_result : called for every program as its chunk ends.

    Raises
    ------
    KeyboardInterrupt : behind `on_result` of everything that was found.
    """
    last = options.seed + options.count
    chunks = [tuple(range(first, min(first + options.chunk, last)))
              for first in range(options.seed, last, options.chunk)]
    return run_chunks(chunks, lambda seeds, stop: _check_chunk(seeds, options, stop), jobs=options.jobs,
                      on_result=on_result)


def _check_chunk(seeds: Sequence[int], options: CampaignOptions, stop: Stop) -> Iterator[ProgramResult]:
    """The results of a chunk; a program that ends its child is taken out and the others go on."""
    left = list(seeds)
    while left:
        end, place = _worker({"check": left, "shape": options.shape_request, "programs": options.programs,
                              "budget_seconds": options.limit_seconds},
                             max(LEAST_CHECK_SECONDS, CHECK_FACTOR * options.limit_seconds), options, stop)
        done = [_result(report["result"]) for report in end.reports if "result" in report]
        if done or stop.is_set():
            yield from done
            return
        culprit = next((r["seed"] for r in reversed(end.reports) if "seed" in r), left[0])
        if culprit is None and len(left) > 1:
            for seed in left:
                yield from _check_chunk([seed], options, stop)
            return
        culprit = left[0] if culprit is None else culprit
        yield ProgramResult(seed=culprit, seconds=end.seconds, findings=(_ended_early(culprit, end, place, options),))
        left.remove(culprit)


def _ended_early(seed: int, end: ChildEnd, place: str, options: CampaignOptions) -> Finding:
    """What a program did whose child did not finish."""
    configuration = next((r["configuration"] for r in reversed(end.reports) if "configuration" in r), "")
    if place:
        return Finding(subject=f"p{seed}", configuration=configuration, kind="slow",
                       detail=f"not done after {options.limit_seconds:g} seconds; it was in {place}")
    return Finding(subject=f"p{seed}", configuration=configuration, kind="error",
                   detail=f"{end.describe()} {end.error_output[-400:]}".strip())


def _worker(request: Mapping[str, Any], seconds: float, options: CampaignOptions,
            stop: Stop | None = None) -> tuple[ChildEnd, str]:
    """How a child ended, and, when its own watchdog ended it, where it was then."""
    with TemporaryDirectory(prefix="polysched-fuzz-") as folder:
        limits = Limits(seconds=seconds, memory_bytes=options.limit_bytes)
        end = run_isolated(WORKER, request, folder=Path(folder), limits=limits, stop=stop)
        return end, place_of_end(Path(folder))


def _result(report: Mapping[str, Any]) -> ProgramResult:
    return ProgramResult(seed=report["seed"], configurations=report["configurations"], seconds=report["seconds"],
                         kinds=report["kinds"],
                         findings=tuple(Finding(**finding) for finding in report["findings"]))


def shrunk_text(result: ProgramResult, options: CampaignOptions) -> str:
    """The smallest C file found that shows the first wrong finding of a program, with a comment that says which.

    As it is where no time is given for that, or where the child ended before it said anything.
    """
    finding = result.wrong[0]
    own = PROGRAM_KINDS[options.programs].program(result.seed, options.shape).text()
    if not options.shrink_seconds:
        return _comment(result.seed, finding, options, smaller=False) + own
    request = {"shrink": result.seed, "finding": asdict(finding), "shape": options.shape_request,
               "programs": options.programs, "seconds": options.shrink_seconds}
    end, _ = _worker(request, options.limit_seconds + options.shrink_seconds, options)
    texts = [str(report["text"]) for report in end.reports if "text" in report]
    return _comment(result.seed, finding, options, smaller=bool(texts)) + (texts[-1] if texts else own)


def _comment(seed: int, finding: Finding, options: CampaignOptions, *, smaller: bool) -> str:
    kind = "" if options.programs == AFFINE else f" --programs {options.programs}"
    return (f"/* Program {seed} of polysched fuzz{', made smaller' if smaller else ''}.  {finding.kind} in "
            f"{finding.configuration or 'the program'}:\n"
            f" * {finding.detail.replace('*/', '* /')}\n"
            f" * Reproduce with: polysched fuzz{kind} --count 1 --seed {seed}\n */\n")


def save_findings(results: Sequence[ProgramResult], options: CampaignOptions, folder: Path) -> list[Path]:
    """Save every wrong program, shrunk, as `folder/pSEED.c`, and every slow one, as it is, as `folder/slow_pSEED.c`.

    Raises
    ------
    OutputError : a file cannot be written.
    """
    paths = []
    for result in results:
        if result.outcome in ("wrong", "slow"):
            wrong = result.outcome == "wrong"
            path = folder / f"{'' if wrong else 'slow_'}p{result.seed}.c"
            try:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_text(shrunk_text(result, options) if wrong else _slow_text(result, options))
            except OSError as error:
                raise OutputError(f"cannot write {path}: {error.strerror}",
                                  hint="name another folder with --save") from None
            paths.append(path)
    return paths


def _slow_text(result: ProgramResult, options: CampaignOptions) -> str:
    finding = next(f for f in result.findings if f.kind == "slow")
    program = PROGRAM_KINDS[options.programs].program(result.seed, options.shape)
    return _comment(result.seed, finding, options, smaller=False) + program.text()


def outcomes(results: Sequence[ProgramResult]) -> Counter[str]:
    """How many programs came out how."""
    return Counter(result.outcome for result in results)


def kinds_of(results: Sequence[ProgramResult]) -> Counter[str]:
    """How often each kind of configuration was checked."""
    return sum((Counter(result.kinds) for result in results), Counter())


def summary(results: Sequence[ProgramResult]) -> str:
    """The last line of a run: a program counts as refused when some configuration of it was and none was wrong."""
    count = outcomes(results)
    return f"{len(results)} programs, {count['wrong']} wrong, {count['refused']} refused"


def slow_summary(results: Sequence[ProgramResult], options: CampaignOptions) -> str:
    """The line above the last one: how many programs were given up, and their numbers."""
    seeds = [str(result.seed) for result in results if result.outcome == "slow"]
    numbers = f": {', '.join(seeds)}" if seeds else ""
    return f"{len(seeds)} slow (over {options.limit_seconds:g} seconds){numbers}"


def as_json(results: Sequence[ProgramResult], options: CampaignOptions) -> str:
    """The results for a script."""
    count = outcomes(results)
    return json.dumps({
        "format": 3, "options": asdict(options), "programs": len(results),
        "configurations": sum(r.configurations for r in results),
        "wrong": count["wrong"], "slow": count["slow"], "refused": count["refused"],
        "kinds": dict(sorted(kinds_of(results).items())),
        "results": [{"seed": r.seed, "outcome": r.outcome, "configurations": r.configurations,
                     "seconds": round(r.seconds, 2)} for r in results],
        "findings": [asdict(f) | {"seed": r.seed} for r in results for f in r.findings]}, indent=1) + "\n"
