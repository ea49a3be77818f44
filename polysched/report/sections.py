"""The parts of a report: the measurements, and each experiment with the table and plot of its own."""

from __future__ import annotations

from collections.abc import Sequence

from polysched.errors import UsageError
from polysched.experiment.folders import find, load
from polysched.experiment.record import Record
from polysched.records import dataclass
from polysched.report.entry import OURS, Entry, Variant
from polysched.report.figures import Plot, slug, svg_of
from polysched.report.numbers import quantity
from polysched.report.reading import Results

RUNS = "Measurements"


@dataclass(frozen=True, kw_only=True)
class Section:
    """The results of one experiment, or of `polysched run`.

    Parameters
    ----------
    question : what the experiment asks, by its own configuration; empty for measurements.
    own_table, own_plot : as the experiment itself shows its results, as Markdown and SVG; empty without.
    """

    title: str
    question: str
    entries: tuple[Entry, ...]
    own_table: str = ""
    own_plot: str = ""

    @property
    def anchor(self) -> str:
        return slug(self.title)

    @property
    def names(self) -> tuple[str, ...]:
        """The variants beside the references, without those that could be measured nowhere."""
        return tuple(dict.fromkeys(v.name for e in self.entries for v in e.variants
                                   if v.name != e.reference and not v.is_missing))

    @property
    def missing(self) -> tuple[str, ...]:
        """The variants whose tool was not there."""
        every = dict.fromkeys(v.name for e in self.entries for v in e.variants if v.is_missing)
        return tuple(name for name in every if name not in self.names)

    @property
    def ours(self) -> str:
        """The variant whose rate is shown."""
        return next((name for name in self.names if name.partition("@")[0] == OURS), next(iter(self.names), ""))

    @property
    def rates(self) -> dict[int, list[str]]:
        """By position among the timed entries, what our variant reached; empty where nothing is known of any."""
        found = {at: reached(entry, variant) for at, entry in enumerate(self.timed)
                 for variant in entry.variants if variant.name == self.ours}
        return found if any(any(cells) for cells in found.values()) else {}

    @property
    def timed(self) -> tuple[Entry, ...]:
        return tuple(e for e in self.entries if e.variants)


def sections(results: Results) -> list[Section]:
    """One per experiment, measurements first."""
    groups = dict.fromkeys(e.group for e in results.entries)
    return [_section(group, tuple(e for e in results.entries if e.group == group),
                     [r for r in results.records if r.experiment == group])
            for group in sorted(groups)]


def _section(group: str, entries: tuple[Entry, ...], records: Sequence[Record]) -> Section:
    if not group:
        return Section(title=RUNS, question="", entries=entries)
    try:
        folder = find(group)
    except UsageError:
        return Section(title=group, question="", entries=entries)
    experiment = load(folder.folder)
    good = [r for r in records if r.done]
    if not good:
        return Section(title=group, question=str(folder.config["question"]), entries=entries)
    figure = experiment.plot(good) if experiment.plot is not None else None
    return Section(
        title=group, question=str(folder.config["question"]), entries=entries,
        own_table=experiment.table(good),
        own_plot="" if figure is None else svg_of(Plot(name=f"own-{slug(group)}", caption="", figure=figure)))


def reached(entry: Entry, variant: Variant) -> list[str]:
    """The rate of a variant, and its shares of the machine's peak and of the roof."""
    rate = entry.rate(variant)
    if rate is None:
        return ["", "", ""]
    peak, roof = entry.peak, entry.roof()
    return [quantity(rate, "FLOP/s"), f"{rate / peak:.1%}" if peak else "", f"{rate / roof:.0%}" if roof else ""]
