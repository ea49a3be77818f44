"""Tables and bars of contests, for every experiment whose values hold `contest` (a `Standings`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polysched.experiment.record import Record
from polysched.experiment.standings import Standings, Status, VariantTimes, geometric_mean
from polysched.experiment.tables import markdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS = "polysched"
GIGA = 1e9


def standings_of(record: Record) -> Standings:
    """The contest of a record."""
    return Standings.from_json(record.values["contest"])


def peers_of(standings: Standings, ours: str = OURS) -> list[str]:
    """Every variant but ours, which with another number of threads (`@`) is no peer either."""
    kind = ours.partition("@")[0]
    return [v.name for v in standings.variants if not v.name.startswith(kind)]


def over_best_peer(standings: Standings, ours: str = OURS) -> float | None:
    """Our speed over the fastest peer's, in the rounds that they share; None when one of them has no time."""
    best = standings.fastest(peers_of(standings, ours))
    found = standings.speed_up(ours, over=best.name) if best is not None else None
    return None if found is None else found[0]


def contest_table(records: Sequence[Record], *, rate: bool = False, ours: str = OURS) -> str:
    """A row per case: each variant's median (milliseconds, or G operations per second), and ours over the best peer.

    Below the table: why a variant has no time, and what it said about itself.
    """
    names = list(dict.fromkeys(v.name for r in records for v in standings_of(r).variants))
    rows, remarks = [], []
    for record in records:
        standings = standings_of(record)
        work = record.values.get("flop_count")
        cells = [_cell(standings.variant(name), work, rate=rate) for name in names]
        rows.append([record.case, *cells, *_against_best(standings, ours), *_shares(record, standings, ours)])
        remarks += [f"{record.case}, {v.name}: {v.status.value}: {first_line(v.problem)}"
                    for v in standings.variants if not v.timed]
    unit = "G/s" if rate else "ms"
    text = markdown_table(["", *(f"{n} {unit}" for n in names), "best peer", "ours / best", "interval", "of peak",
                           "disturbed"], rows)
    return "\n".join([text, *(f"\n{remark}" for remark in remarks)])


def first_line(problem: str) -> str:
    """A problem in one line; the results file has all of it."""
    return " ".join(line.strip() for line in problem.splitlines()[:2])


def _cell(variant: VariantTimes | None, work: int | None, *, rate: bool) -> str:
    if variant is None:
        return ""
    if not variant.timed:
        return {Status.MISSING: "missing", Status.SLOW: "slow"}.get(variant.status, variant.status.value)
    if not rate:
        return f"{1e3 * variant.seconds:.3g}"
    return f"{work / variant.seconds / GIGA:.3g}" if work else "-"   # nobody said how much there is to do


def _against_best(standings: Standings, ours: str) -> tuple[str, str, str]:
    best = standings.fastest(peers_of(standings, ours))
    if best is None:
        return "-", "-", "-"
    found = standings.speed_up(ours, over=best.name)
    if found is None:
        return best.name, "-", "-"
    return best.name, f"{found[0]:.2f}", f"{found[1].low:.2f} to {found[1].high:.2f}"


def _shares(record: Record, standings: Standings, ours: str) -> tuple[str, str]:
    """Our share of the machine's peak, and the largest share of disturbed calls of any variant."""
    variant, peak, work = (standings.variant(ours), record.values.get("peak_flop_per_second"),
                           record.values.get("flop_count"))
    of_peak = f"{work / variant.seconds / peak:.0%}" if variant and variant.timed and peak and work else "-"
    return of_peak, f"{max(v.disturbed_share for v in standings.variants):.0%}"


def summary_line(records: Sequence[Record], ours: str = OURS) -> str:
    """The geometric mean over the best peer, and which targets are missed."""
    found = {r.case: over_best_peer(standings_of(r), ours) for r in records}
    values = [v for v in found.values() if v is not None]
    if not values:
        return "nothing to compare"
    below = [f"{r.case} {'no time' if ratio is None else f'{ratio:.2f}'} (target {r.values['target']:g})"
             for r in records for ratio in [found[r.case]]
             if r.values.get("target") and (ratio or 0) < r.values["target"]]
    mean = f"ours over the best peer: geometric mean {geometric_mean(values):.2f} of {len(values)} cases"
    return mean + (f"; below their target: {', '.join(below)}" if below else "")


def best_peer_bars(records: Sequence[Record], ours: str = OURS) -> Figure:
    """Every variant's speed over the best peer's, a group of bars per case; 1 is the best peer."""
    from polysched.experiment.plots import grouped_bars
    names = list(dict.fromkeys(v.name for r in records for v in standings_of(r).variants))
    series: dict[str, list[float | None]] = {name: [] for name in names}
    for record in records:
        standings = standings_of(record)
        best = standings.fastest(peers_of(standings, ours))
        for name in names:
            found = standings.speed_up(name, over=best.name) if best is not None else None
            series[name].append(None if found is None else found[0])
    return grouped_bars([r.case for r in records], series, ylabel="speed over the best peer", line_at=1.0)
