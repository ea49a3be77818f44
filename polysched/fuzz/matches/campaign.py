"""Many pairs in child processes: a pair that hangs or kills its child is a record, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from polysched.errors import OutputError
from polysched.fuzz.matches.pairs import described, pair
from polysched.fuzz.matches.records import CRASH, TIMEOUT, PairRecord
from polysched.fuzz.time_limit import place_of_end
from polysched.measure.processes.chunks import run_chunks
from polysched.measure.processes.isolation import ChildEnd, Limits, Stop, run_isolated
from polysched.records import dataclass

WORKER = "polysched.fuzz.matches.worker"
REPORT_FACTOR = 12.0
LEAST_SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class MatchCampaign:
    """What to run.

    Parameters
    ----------
    pairs, seed : pairs `seed` to `seed + pairs - 1`.
    jobs : child processes at a time.
    chunk : pairs per child.
    block : pairs that share a parse and a compilation.
    limit_seconds : CPU time of one pair for reading, matching and emission.
    limit_bytes : memory of one child.
    shrink_seconds : for making a faulty pair smaller; 0 keeps it as it is.
    """

    pairs: int
    seed: int = 0
    jobs: int = 1
    chunk: int = 128
    block: int = 64
    limit_seconds: float = 10.0
    limit_bytes: int = 4 << 30
    shrink_seconds: float = 60.0


def run_pairs(options: MatchCampaign, *, on_record: Callable[[PairRecord], None] | None = None) -> list[PairRecord]:
    """Check every pair; the records in order of their seeds.

    Parameters
    ----------
    on_record : called for every pair as its chunk ends.

    Raises
    ------
    KeyboardInterrupt : behind `on_record` of everything that was found.
    """
    last = options.seed + options.pairs
    chunks = [range(first, min(first + options.chunk, last)) for first in range(options.seed, last, options.chunk)]
    records = run_chunks(chunks, lambda seeds, stop: _chunk(seeds, options, stop), jobs=options.jobs,
                         on_result=on_record)
    return sorted(records, key=lambda r: r.seed)


def _chunk(seeds: Sequence[int], options: MatchCampaign, stop: Stop) -> Iterator[PairRecord]:
    """The records of a chunk: a pair that ends its child is taken out, and a new child takes the rest."""
    left, block = list(seeds), options.block
    while left:
        end, place = _worker({"check": left, "block": block, "limit_seconds": options.limit_seconds}, options,
                             stop=stop)
        done = [PairRecord.from_json(r["result"]) for r in end.reports if "result" in r]
        yield from done
        left = [s for s in left if s not in {r.seed for r in done}]
        if stop.is_set():
            return
        if left:
            culprit = next((r["seed"] for r in reversed(end.reports) if "seed" in r), None)
            if culprit is None and block > 1:   # it ended between pairs: smaller blocks until it is clear where
                block = 1
                continue
            culprit = left[0] if culprit not in left else culprit
            yield _ended(culprit, end, place, options)
            left.remove(culprit)


def _ended(seed: int, end: ChildEnd, place: str, options: MatchCampaign) -> PairRecord:
    """The record of a pair whose child did not finish."""
    own = pair(seed)
    hung = bool(place) or end.end.value == "hung"
    reason = f"not done after {options.limit_seconds:g} seconds; it was in {place}" if place else \
        f"{end.describe()} {end.error_output[-400:]}".strip()
    return PairRecord(seed=seed, kind=own.unit.kind, relation=own.relation, words=own.words, miss=own.miss,
                      verdict=TIMEOUT if hung else CRASH, reason=reason, milliseconds=1000 * end.seconds)


def _worker(request: Mapping[str, Any], options: MatchCampaign, seconds: float = 0.0,
            stop: Stop | None = None) -> tuple[ChildEnd, str]:
    """How a child ended, and, when its own watchdog ended it, where it was then."""
    with TemporaryDirectory(prefix="polysched-fuzz-") as folder:
        limits = Limits(seconds=max(LEAST_SECONDS, REPORT_FACTOR * options.limit_seconds) + seconds,
                        memory_bytes=options.limit_bytes)
        end = run_isolated(WORKER, request, folder=Path(folder), limits=limits, stop=stop)
        return end, place_of_end(Path(folder))


def reproducer(record: PairRecord, options: MatchCampaign) -> str:
    """The smallest pair found that has the same fault, as Markdown: description, program, what is wrong.

    The pair as it is where no time is given for that.
    """
    head = f"# Pair {record.seed} of polysched fuzz --instructions: {record.verdict}\n\n"
    again = f"\nReproduce with: polysched fuzz --instructions --pairs 1 --seed {record.seed}\n"
    if not options.shrink_seconds:
        return head + described(pair(record.seed), record.reason) + again
    request = {"shrink": record.seed, "verdict": record.verdict, "seconds": options.shrink_seconds,
               "limit_seconds": options.limit_seconds}
    end, _ = _worker(request, options, seconds=options.shrink_seconds)
    texts = [str(report["text"]) for report in end.reports if "text" in report]
    return head + (texts[-1] if texts else record.reason) + again


def save_faults(records: Sequence[PairRecord], options: MatchCampaign, folder: Path, *, most: int = 20) -> list[Path]:
    """Save faulty pairs, made smaller, as `folder/pairSEED.md`: one per verdict, kind and first word of the reason.

    Raises
    ------
    OutputError : a file cannot be written.
    """
    paths: list[Path] = []
    told: set[tuple[str, str, str]] = set()
    for record in records:
        key = record.verdict, record.kind, record.reason.split(" ", 1)[0]
        if record.is_fault and key not in told and len(paths) < most:
            told.add(key)
            path = folder / f"pair{record.seed}.md"
            try:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_text(reproducer(record, options))
            except OSError as error:
                raise OutputError(f"cannot write {path}: {error.strerror}",
                                  hint="name another folder with --save") from None
            paths.append(path)
    return paths
