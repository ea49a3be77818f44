"""What a publication states, beside what came out here: one row for each, with the difference and what was asked."""

from __future__ import annotations

from collections.abc import Sequence

from polysched.experiment.tables import markdown_table
from polysched.records import dataclass

HEADINGS = ("claim", "ours", "published", "difference", "asked by the criterion", "holds")
TWICE = 2.0


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One value of a publication and the one measured here.

    Parameters
    ----------
    what : the quantity, with its unit.
    ours : measured here; None where there is no such result.
    published : None where the publication has no such value, or it could not be looked up.
    asked : what the criterion, written before the run, asks of ours: `at least 1.30`; empty where it asks nothing.
    holds : whether ours is so; None where nothing is asked.
    source : where the published value stands.
    digits : decimals that are shown.
    """

    what: str
    ours: float | None
    published: float | None
    asked: str = ""
    holds: bool | None = None
    source: str = ""
    digits: int = 2

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        shown = [("-" if value is None else f"{value:.{self.digits}f}") for value in (self.ours, self.published)]
        holds = "-" if self.holds is None else "yes" if self.holds else "no"
        return (self.what, *shown, self.difference(), self.asked or "nothing", holds)

    def difference(self) -> str:
        """Of ours: in percent of the published value, or how many times that where it is twice as much or more."""
        if self.ours is None or self.published is None:
            return "-"
        if self.ours == self.published:
            return "none"
        if not self.published:
            return f"{self.ours:+.{self.digits}f}"
        ratio = self.ours / self.published
        return f"{ratio:.1f} times" if ratio >= TWICE else f"{100 * (ratio - 1):+.0f}%"


def at_least(bound: float, ours: float | None, *, digits: int = 2) -> tuple[str, bool]:
    """What a criterion asks that sets a lower bound, and whether it holds."""
    return f"at least {bound:.{digits}f}", ours is not None and ours >= bound


def at_most(bound: float, ours: float | None, *, digits: int = 2) -> tuple[str, bool]:
    """What a criterion asks that sets an upper bound, and whether it holds."""
    return f"at most {bound:.{digits}f}", ours is not None and ours <= bound


def claims_table(claims: Sequence[Claim]) -> str:
    """The table, and below it where the published values stand."""
    sources = dict.fromkeys(claim.source for claim in claims if claim.source)
    lines = [markdown_table(HEADINGS, [claim.cells() for claim in claims])]
    return "\n".join([*lines, *(["", *(f"- {source}" for source in sources)] if sources else [])])
