"""`tune_all`: several programs under one budget, turn by turn where the whole gains most."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from polysched.errors import OutputError, PolyschedError, UsageError
from polysched.scop.scop import Scop
from polysched.search.database import DatabaseError
from polysched.search.limits import LIMITS
from polysched.search.tasks import Task, schedule, whole_seconds
from polysched.search.trial import Trial
from polysched.search.tuned import Tuned
from polysched.search.tuning import Budget, Search
from polysched.target.one_line import OneLine


@dataclass(frozen=True, eq=False, kw_only=True)
class Weighted(OneLine):
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
class TunedAll(OneLine):
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
    started = clock()
    tasks = [Task(name=_name_of(p.program), weight=p.weight) for p in programs]
    refusals: dict[int, PolyschedError] = {}
    found: list[Tuned | None] = [None] * len(programs)
    turns = [0] * len(programs)
    searches: dict[int, Search] = {}

    counted = 0
    most = inf if budget.trials is None else budget.trials

    def tell(trial: Trial, count: int) -> None:
        nonlocal counted
        if on_trial is not None:
            counted += 1
            on_trial(trial, counted)

    def turn(number: int) -> float | None:
        spent = sum(len(tuned.trials) for tuned in found if tuned is not None)
        if spent >= most or (budget.minutes is not None and clock() - started >= 60 * budget.minutes):
            return None
        own, before = programs[number], found[number]
        known = len(before.trials) if before is not None else 0
        try:
            if number not in searches:
                searches[number] = Search.of(own.program, sizes=own.sizes, clock=clock, on_trial=tell, **others)
            made = searches[number].until(
                Budget(trials=int(min(LIMITS.batch * (turns[number] + 1), known + most - spent))), database=database,
                resume=resume)
        except (DatabaseError, OutputError):
            raise
        except PolyschedError as error:
            refusals[number] = error
            return None
        if before is not None and len(made.trials) == known:
            return None
        found[number], turns[number] = made, turns[number] + 1
        tasks[number].bound_seconds = made.bound_seconds or 0.0
        return best_seconds(made)

    schedule(tasks, turn, most=len(programs) * LIMITS.most_turns)
    if len(refusals) == len(programs) and not any(turns):
        raise refusals[0]
    with_turns = [(task, tuned) for task, tuned in zip(tasks, found, strict=True) if tuned is not None]
    return TunedAll(found=tuple(found), turns=tuple(turns), names=tuple(t.name for t in tasks),
                    weights=tuple(p.weight for p in programs),
                    refused={k: str(error.problem) for k, error in refusals.items()},
                    after=whole_seconds([task for task, _ in with_turns]),
                    before=sum(task.weight * model_seconds(tuned) for task, tuned in with_turns))


def _name_of(program: str | Path | Scop) -> str:
    return program.name if isinstance(program, Scop) else str(program)


def model_seconds(found: Tuned) -> float:
    """Seconds of the model's pick, by clean samples; by the shortest one where other programs disturbed all."""
    return found.first_seconds or found.least_seconds


def best_seconds(found: Tuned) -> float:
    """Seconds of what was found: the model's pick over the gain, which was measured beside it."""
    return model_seconds(found) / found.gain.median
