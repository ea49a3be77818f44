"""`tune_all`: several programs under one budget, turn by turn where the whole gains most."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from math import inf
from pathlib import Path
from typing import Any

from polysched.errors import OutputError, PolyschedError, UsageError
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.search.database import DatabaseError
from polysched.search.limits import LIMITS
from polysched.search.tasks import Task, schedule, whole_seconds
from polysched.search.trial import Trial
from polysched.search.tuned import Tuned
from polysched.search.tuning import Budget, Search


@dataclass(frozen=True, eq=False, kw_only=True)
class Weighted:
    """One program of several.

    Parameters
    ----------
    program, sizes : as for `tune`.
    weight : how often it runs in the whole.
    """

    program: str | Path | Scop
    sizes: Mapping[str, int] = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class TunedAll:
    """What was found for several programs.

    Parameters
    ----------
    found : one per program; None for one that got no turn.
    turns : how many each got.
    before, after : weighted seconds of the whole with the models' picks, and with what was found; of those with turns.
    names, weights : of the programs.
    refused : why a program could not be tuned, or not further, by its number.
    """

    found: tuple[Tuned | None, ...]
    turns: tuple[int, ...]
    before: float
    after: float
    names: tuple[str, ...]
    weights: tuple[float, ...]
    refused: Mapping[int, str]

    @property
    def gain(self) -> float:
        """How many times as fast the whole is as with the models' picks; of the programs that had turns."""
        return self.before / self.after if self.after else 1.0

    def __str__(self) -> str:
        lines = [f"{t.name}{f' ({w:g} times)' * (w != 1)}: {t.gain}, {n} turns" for t, n, w in zip(
            self.found, self.turns, self.weights, strict=True) if t is not None]
        lines += [f"{self.names[k]}: not tuned{' further' * bool(self.turns[k])}: {why}"
                  for k, why in self.refused.items()]
        if waiting := sum(t is None and k not in self.refused for k, t in enumerate(self.found)):
            lines.append(f"{waiting} programs had no turn within the budget")
        return "\n".join([f"the whole: {self.gain:.3f} times as fast as with the models' picks", *lines])

    def to_json(self) -> dict[str, Any]:
        """What was found, as JSON values; `trials` and `rejected` of all together."""
        made = [t for t in self.found if t is not None]
        return {"gain": {"whole": self.gain}, "before_seconds": self.before, "after_seconds": self.after,
                "trials": sum(len(t.trials) for t in made), "rejected": sum(t.rejections.total for t in made),
                "programs": [{"name": name, "weight": weight, "turns": turns, "refused": self.refused.get(k),
                              "found": None if found is None else found.to_json()}
                             for k, (name, weight, turns, found) in enumerate(zip(
                                 self.names, self.weights, self.turns, self.found, strict=True))]}


def tune_all(programs: Sequence[Weighted], *, database: str | Path, budget: Budget, resume: bool = False,
             clock: Callable[[], float] = time.monotonic, on_trial: Callable[[Trial, int], None] | None = None,
             **others: Any) -> TunedAll:
    """Search the recipes of several programs under one budget.

    A turn is a batch of trials for one program, or what is left of the budget.  Each program has one turn; the others
    go where they promise most for the weighted time of the whole, and to nothing near its bound.  A search goes on
    from turn to turn where it stopped.  A program that cannot be read, called or compiled is named; the others go on.

    Parameters
    ----------
    budget : of all together.
    resume : trials that the database has are not repeated, unless other programs disturbed all of their samples.
    on_trial : told each trial once, and how many there were of all programs.
    others : as for `tune`.

    Raises
    ------
    UsageError : there are no programs.
    PolyschedError : the database is none, or every program was refused at once: what the first one was refused for.
    """
    if not programs:
        raise UsageError("there are no programs to tune")
    turns = _Turns(programs=programs, database=database, budget=budget, resume=resume, clock=clock, on_trial=on_trial,
                   others=others)
    schedule(turns.tasks, turns.take, most=len(programs) * LIMITS.most_turns)
    return turns.result()


class _Turns:
    """What the programs have found from turn to turn; the parameters are those of `tune_all`."""

    def __init__(self, *, programs: Sequence[Weighted], database: str | Path, budget: Budget, resume: bool,
                 clock: Callable[[], float], on_trial: Callable[[Trial, int], None] | None,
                 others: Mapping[str, Any]) -> None:
        self.programs, self.database, self.budget, self.resume = programs, database, budget, resume
        self.clock, self.on_trial, self.others = clock, on_trial, others
        self.started = clock()
        self.tasks = [Task(name=_name_of(p.program), weight=p.weight) for p in programs]
        self.refusals: dict[int, PolyschedError] = {}
        self.found: list[Tuned | None] = [None] * len(programs)
        self.counts = [0] * len(programs)
        self.searches: dict[int, Search] = {}
        self.told = 0

    def take(self, number: int) -> float | None:
        """One turn of a program: the seconds of the best that it has then; None where there is no further turn."""
        left, before = self._trials_left(), self.found[number]
        if left <= 0:
            return None
        known = len(before.trials) if before is not None else 0
        try:
            made = self._search(number).until(
                Budget(trials=int(min(LIMITS.batch * (self.counts[number] + 1), known + left))),
                database=self.database, resume=self.resume)
        except (DatabaseError, OutputError):
            raise
        except PolyschedError as error:
            self.refusals[number] = error
            return None
        if before is not None and len(made.trials) == known:
            return None
        self.found[number] = made
        self.counts[number] += 1
        self.tasks[number].bound_seconds = made.bound_seconds or 0.0
        return best_seconds(made)

    def result(self) -> TunedAll:
        if len(self.refusals) == len(self.programs) and not any(self.counts):
            raise self.refusals[0]
        with_turns = [(task, tuned) for task, tuned in zip(self.tasks, self.found, strict=True) if tuned is not None]
        return TunedAll(found=tuple(self.found), turns=tuple(self.counts), names=tuple(t.name for t in self.tasks),
                        weights=tuple(p.weight for p in self.programs),
                        refused={k: str(error.problem) for k, error in self.refusals.items()},
                        after=whole_seconds([task for task, _ in with_turns]),
                        before=sum(task.weight * model_seconds(tuned) for task, tuned in with_turns))

    def _trials_left(self) -> float:
        """How many trials the budget has left; none once its time is over."""
        if self.budget.minutes is not None and self.clock() - self.started >= 60 * self.budget.minutes:
            return 0
        spent = sum(len(tuned.trials) for tuned in self.found if tuned is not None)
        return (inf if self.budget.trials is None else self.budget.trials) - spent

    def _search(self, number: int) -> Search:
        if number not in self.searches:
            own = self.programs[number]
            self.searches[number] = Search.of(own.program, sizes=own.sizes, clock=self.clock, on_trial=self._tell,
                                              **self.others)
        return self.searches[number]

    def _tell(self, trial: Trial, _: int) -> None:
        """Tell a trial with how many there were of all programs."""
        if self.on_trial is not None:
            self.told += 1
            self.on_trial(trial, self.told)


def _name_of(program: str | Path | Scop) -> str:
    return program.name if isinstance(program, Scop) else str(program)


def model_seconds(found: Tuned) -> float:
    """Seconds of the model's pick, by clean samples; by the shortest one where other programs disturbed all."""
    return found.first_seconds or found.least_seconds


def best_seconds(found: Tuned) -> float:
    """Seconds of what was found: the model's pick over the gain, which was measured beside it."""
    return model_seconds(found) / found.gain.median
