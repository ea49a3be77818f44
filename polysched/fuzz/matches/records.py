"""What is kept of every pair, and what a campaign says at its end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from polysched.fuzz.matches.pairs import SAME

MATCHED, REFUSED, WRONG, CRASH, TIMEOUT = "matched", "refused", "wrong", "crash", "timeout"
VERDICTS = (MATCHED, REFUSED, WRONG, CRASH, TIMEOUT)
FAULTS = (WRONG, CRASH, TIMEOUT)
MOST_REASON = 700


@dataclass(frozen=True, kw_only=True)
class PairRecord:
    """One pair.

    Parameters
    ----------
    seed : gives the pair again, alone.
    kind : of the description.
    relation : `same` or `near miss`.
    words : the rewrites that the program went through.
    miss : what was changed behind them; empty for `same`.
    loaded : whether the description was accepted.
    verdict : one of VERDICTS.
    reason : of a refusal, in polysched's words; of a wrong one the first element that differs, and the match.
    milliseconds : of CPU for reading, matching and emission, and its share of compiling and running.
    """

    seed: int
    kind: str = ""
    relation: str = ""
    words: tuple[str, ...] = ()
    miss: str = ""
    loaded: bool = True
    verdict: str = ""
    reason: str = ""
    milliseconds: float = 0.0

    @property
    def is_fault(self) -> bool:
        return self.verdict in FAULTS

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"reason": self.reason[:MOST_REASON]}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> PairRecord:
        known = {f.name: values[f.name] for f in fields(cls) if f.name in values}
        return cls(**known | {"words": tuple(known.get("words", ()))})


def as_lines(records: Iterable[PairRecord]) -> str:
    """One line of JSON per pair."""
    return "".join(f"{json.dumps(r.to_json())}\n" for r in records)


@dataclass(frozen=True)
class KindCount:
    """How the pairs of one kind of description came out.

    Parameters
    ----------
    refused_descriptions : pairs whose description is refused when it is loaded.
    same, same_matched : pairs of SAME whose description is accepted, and those of them that match.
    """

    kind: str
    pairs: int
    refused_descriptions: int
    same: int
    same_matched: int
    near_misses_matched: int
    wrong: int
    crash: int
    timeout: int

    @property
    def row(self) -> tuple[str, ...]:
        share = f"{100 * self.same_matched / self.same:.0f}%" if self.same else "-"
        numbers = (self.pairs, self.refused_descriptions, self.same, self.same_matched)
        return (self.kind, *map(str, numbers), share, *map(str, (self.near_misses_matched, self.wrong, self.crash,
                                                                 self.timeout)))


HEADINGS = ("kind of description", "pairs", "description refused", "same", "matched", "share", "near misses matched",
            "wrong", "crash", "timeout")


def counted(records: Sequence[PairRecord]) -> list[KindCount]:
    """One count per kind of description, and one of all."""
    kinds = sorted({r.kind for r in records})
    return [*(_count(k, [r for r in records if r.kind == k]) for k in kinds), _count("all", records)]


def _count(kind: str, records: Sequence[PairRecord]) -> KindCount:
    verdicts = Counter(r.verdict for r in records)
    loaded = [r for r in records if r.loaded]
    same = [r for r in loaded if r.relation == SAME]
    return KindCount(
        kind, len(records), len(records) - len(loaded), len(same), sum(r.verdict == MATCHED for r in same),
        sum(r.verdict == MATCHED for r in loaded if r.relation != SAME), verdicts[WRONG], verdicts[CRASH],
        verdicts[TIMEOUT])


def summary_table(records: Sequence[PairRecord]) -> str:
    """The counts as text, in columns."""
    rows = [HEADINGS, *(c.row for c in counted(records))]
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEADINGS))]
    return "\n".join("  ".join(_aligned(row, widths)).rstrip() for row in rows)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    yield row[0].ljust(widths[0])
    yield from (word.rjust(width) for word, width in zip(row[1:], widths[1:], strict=True))


def last_line(records: Sequence[PairRecord]) -> str:
    """`N pairs, W wrong, C crashed, T over the time limit, M matched, R refused`."""
    count = Counter(r.verdict for r in records)
    return (f"{len(records)} pairs, {count[WRONG]} wrong, {count[CRASH]} crashed, "
            f"{count[TIMEOUT]} over the time limit, {count[MATCHED]} matched, {count[REFUSED]} refused")
