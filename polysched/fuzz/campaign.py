"""Many random programs: which of them come out wrong, which are refused.

Programs are checked in child processes, a handful at a time, so that one that hangs, crashes or eats memory is a
finding and not the end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from polysched.errors import OutputError
from polysched.fuzz.checking import Finding
from polysched.measure.isolation import ChildEnd, Limits, run_isolated

WORKER = "polysched.fuzz.worker"


@dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """What to run.

    Parameters
    ----------
    count, seed : programs `seed` to `seed + count - 1`.
    jobs : child processes at a time.
    chunk : programs per child.
    limit_seconds : for one step of one program (extraction with all schedules, or the check of a chunk).
    limit_bytes : memory of one child.
    shrink_seconds : for making a wrong program smaller; 0 saves it as it is.
    data_dependent : probability of a data-dependent condition, per statement.
    """

    count: int
    seed: int = 0
    jobs: int = 1
    chunk: int = 8
    limit_seconds: float = 120.0
    limit_bytes: int = 4 << 30
    shrink_seconds: float = 120.0
    data_dependent: float = 0.02


@dataclass(frozen=True, kw_only=True)
class ProgramResult:
    """What came of one program; without findings it is right in every configuration.

    Parameters
    ----------
    configurations : how many were checked.
    """

    seed: int
    configurations: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def wrong(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.is_wrong)

    @property
    def refused(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if not f.is_wrong)


def run_campaign(options: CampaignOptions, *, on_result: Callable[[ProgramResult], None] | None = None) -> list[
        ProgramResult]:
    """Check every program; the results in order of their numbers.

    Parameters
    ----------
    on_result : called for every program as its chunk ends.
    """
    last = options.seed + options.count
    chunks = [tuple(range(first, min(first + options.chunk, last)))
              for first in range(options.seed, last, options.chunk)]
    results: list[ProgramResult] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for chunk in pool.map(lambda seeds: list(_check_chunk(seeds, options)), chunks):
            results += chunk
            for result in chunk if on_result else ():
                on_result(result) if on_result else None
    return results


def _check_chunk(seeds: Sequence[int], options: CampaignOptions) -> Iterator[ProgramResult]:
    """The results of a chunk; a program that ends its child is taken out and the others go on."""
    left = list(seeds)
    while left:
        end = _worker({"check": left, "data_dependent": options.data_dependent}, options.limit_seconds, options)
        done = [_result(report["result"]) for report in end.reports if "result" in report]
        if done:
            yield from done
            return
        culprit = next((r["seed"] for r in reversed(end.reports) if "seed" in r), left[0])
        message = f"{end.describe()} {end.error_output[-400:]}".strip()
        if culprit is None and len(left) > 1:
            for seed in left:
                yield from _check_chunk([seed], options)
            return
        culprit = left[0] if culprit is None else culprit
        yield ProgramResult(seed=culprit, findings=(
            Finding(subject=f"p{culprit}", configuration="", kind="error", detail=message),))
        left.remove(culprit)


def _worker(request: Mapping[str, Any], seconds: float, options: CampaignOptions) -> ChildEnd:
    with TemporaryDirectory(prefix="polysched-fuzz-") as folder:
        limits = Limits(seconds=seconds, memory_bytes=options.limit_bytes)
        return run_isolated(WORKER, request, folder=Path(folder), limits=limits)


def _result(report: Mapping[str, Any]) -> ProgramResult:
    return ProgramResult(seed=report["seed"], configurations=report["configurations"],
                         findings=tuple(Finding(**finding) for finding in report["findings"]))


def shrunk_text(result: ProgramResult, options: CampaignOptions) -> str:
    """The smallest C file found that shows the first wrong finding of a program, with a comment that says which."""
    finding = result.wrong[0]
    request = {"shrink": result.seed, "finding": asdict(finding), "data_dependent": options.data_dependent,
               "seconds": options.shrink_seconds}
    end = _worker(request, options.limit_seconds + options.shrink_seconds, options)
    texts = [str(report["text"]) for report in end.reports if "text" in report]
    return _comment(result.seed, finding) + texts[-1]


def _comment(seed: int, finding: Finding) -> str:
    return (f"/* Program {seed} of polysched fuzz, made smaller.  {finding.kind} in {finding.configuration}:\n"
            f" * {finding.detail.replace('*/', '* /')}\n"
            f" * Reproduce with: polysched fuzz --count 1 --seed {seed}\n */\n")


def save_wrong(results: Sequence[ProgramResult], options: CampaignOptions, folder: Path) -> list[Path]:
    """Shrink every wrong program and save it as `folder/pSEED.c`.

    Raises
    ------
    OutputError : a file cannot be written.
    """
    paths = []
    for result in results:
        if result.wrong:
            path = folder / f"p{result.seed}.c"
            try:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_text(shrunk_text(result, options))
            except OSError as error:
                raise OutputError(f"cannot write {path}: {error.strerror}",
                                  hint="name another folder with --save") from None
            paths.append(path)
    return paths


def summary(results: Sequence[ProgramResult]) -> str:
    """The last line of a run: a program counts as refused when some configuration of it was and none was wrong."""
    wrong = sum(bool(r.wrong) for r in results)
    refused = sum(bool(r.refused) and not r.wrong for r in results)
    return f"{len(results)} programs, {wrong} wrong, {refused} refused"


def as_json(results: Sequence[ProgramResult], options: CampaignOptions) -> str:
    """The results for a script."""
    return json.dumps({
        "format": 1, "options": asdict(options), "programs": len(results),
        "configurations": sum(r.configurations for r in results),
        "wrong": sum(bool(r.wrong) for r in results),
        "refused": sum(bool(r.refused) and not r.wrong for r in results),
        "findings": [asdict(f) | {"seed": r.seed} for r in results for f in r.findings]}, indent=1) + "\n"
