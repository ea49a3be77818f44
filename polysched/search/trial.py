"""Trial: one recipe that was built and judged, as a record; and what is decided from recorded times alone."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from polysched.measure.field import Verdict
from polysched.measure.timing.race import Gain, clean_of, decided, ratios_of
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.search.chooser import Trace
from polysched.search.limits import LIMITS

Phase = Literal["search", "again", "confirm"]
PHASES: tuple[Phase, ...] = ("search", "again", "confirm")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One recipe that was built and judged.

    Parameters
    ----------
    recipe : with the program's own names.
    trace : the choices that made it; empty for the model's pick.
    code : identity of its C (`identity.code_identity`); empty where none was emitted.
    predicted_seconds : by the projected model; None where it cannot say.
    verdict, reason : what came of it.
    pairs : wall seconds of the model's pick and of this one, in alternation; the model's pick has those of the code as
        written beside its own.
    disturbed : numbers of the pairs during which other programs took a core.
    spills : stores of vector registers to the stack in the compiled file; None where it was not compiled.
    phase : `again` for fresh samples of those that seemed fastest, `confirm` for those of the finalists.
    """

    recipe: Recipe
    trace: Trace = ()
    code: str = ""
    predicted_seconds: float | None = None
    verdict: Verdict = Verdict.TIMED
    reason: str = ""
    pairs: tuple[tuple[float, float], ...] = ()
    phase: Phase = "search"
    disturbed: tuple[int, ...] = ()
    spills: int | None = None

    @property
    def clean(self) -> tuple[tuple[float, float], ...]:
        """The pairs that no other program disturbed."""
        return clean_of(self.pairs, self.disturbed)

    @property
    def is_settled(self) -> bool:
        """Whether it needs no other measurement: it is not right, or some sample was not disturbed."""
        return self.verdict is not Verdict.TIMED or bool(self.clean)

    @property
    def ratios(self) -> tuple[float, ...]:
        """How many times as fast as what it was timed with, by clean pairs; by all where there are none."""
        return ratios_of(self.clean or self.pairs)

    @property
    def ratio(self) -> float | None:
        """The median of the ratios; None where there are no times."""
        return statistics.median(self.ratios) if self.pairs else None

    @property
    def seconds(self) -> float | None:
        """The median time of a call, by clean pairs; None where there are none: a disturbed call takes any time."""
        return statistics.median(own for _, own in self.clean) if self.clean else None

    def __str__(self) -> str:
        if self.ratio is None:
            return f"{self.verdict.value}: {self.reason} ({self.recipe})"
        beside = "the code as written" if self.recipe == Recipe() else "the model's pick"
        return f"{self.ratio:.3f} times as fast as {beside}: {self.recipe}"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a search chooses.

    Parameters
    ----------
    winner : None where the model's pick is kept.
    gain : of the winner over the model's pick.
    ties : confirmed trials whose intervals overlap with the winner's, or, where none won, with 1.
    """

    winner: Trial | None
    gain: Gain
    ties: tuple[Trial, ...] = ()


def contenders(trials: Sequence[Trial], count: int = LIMITS.contenders) -> tuple[Trial, ...]:
    """The trials that deserve fresh samples: the fastest few of those that seem faster than the model's pick.

    The fastest of many by few samples are those that had luck, too; what is chosen among them needs samples of its own.
    """
    faster = [t for t in trials if t.ratio is not None and t.ratio > 1 and t.recipe != Recipe()]
    return tuple(sorted(faster, key=lambda t: -(t.ratio or 0.0))[:count])


def finalists(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Those of the contenders that are still the fastest by the samples of their second race."""
    return contenders(trials, LIMITS.finalists)


def choose(confirmed: Sequence[Trial]) -> Choice:
    """Decide from the fresh samples of the finalists, as `measure.timing.race.decided`.

    Samples that other programs disturbed claim nothing: code for several threads waits for each that has no core, so
    that other codes seem faster than they are.
    """
    found = decided({number: ratios_of(t.clean) for number, t in enumerate(confirmed)}, LIMITS.confidence)
    return Choice(winner=None if found.winner is None else confirmed[found.winner], gain=found.gain,
                  ties=tuple(confirmed[number] for number in found.ties))


def renamed(trial: Trial, names: dict[str, str]) -> Trial:
    """The trial of the same program under other names; its choices count loops and bands, and stay."""
    return replace(trial, recipe=trial.recipe.renamed(names))
