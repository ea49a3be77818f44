"""`tune_all`: several programs under one budget, turn by turn where the whole gains most."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polysched.scop.scop import Scop
from polysched.search.limits import LIMITS
from polysched.search.tasks import Task, schedule, whole_seconds
from polysched.search.tuned import Tuned
from polysched.search.tuning import Budget, tune


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
    """

    found: tuple[Tuned | None, ...]
    turns: tuple[int, ...]
    before: float
    after: float

    def __str__(self) -> str:
        lines = [f"{t.name}: {t.gain}, {n} turns" for t, n in zip(self.found, self.turns, strict=True) if t is not None]
        gain = self.before / self.after if self.after else 1.0
        return "\n".join([f"the whole: {gain:.3f} times as fast as with the models' picks", *lines])


def tune_all(programs: Sequence[Weighted], *, database: str | Path, budget: Budget,
             clock: Callable[[], float] = time.monotonic, **others: Any) -> TunedAll:
    """Search the recipes of several programs under one budget.

    A turn is a batch of trials for one program.  Each program has one turn; the others go where they promise most for
    the weighted time of the whole, and to nothing near its bound.  The database carries a search from turn to turn.

    Parameters
    ----------
    budget : of all together.
    others : as for `tune`.

    Raises
    ------
    PolyschedError : a program cannot be read, called, or compiled, or the database is none.
    """
    started = clock()
    tasks = [Task(name=str(p.program), weight=p.weight) for p in programs]
    found: list[Tuned | None] = [None] * len(programs)
    turns = [0] * len(programs)

    def turn(number: int) -> float | None:
        if budget.minutes is not None and clock() - started >= 60 * budget.minutes:
            return None
        own, before = programs[number], found[number]
        made = tune(own.program, sizes=own.sizes, database=database, resume=turns[number] > 0, clock=clock,
                    budget=Budget(trials=LIMITS.batch * (turns[number] + 1)), **others)
        if before is not None and len(made.trials) == len(before.trials):
            return None
        found[number], turns[number] = made, turns[number] + 1
        tasks[number].bound_seconds = made.bound_seconds or 0.0
        return best_seconds(made)

    most = len(programs) * LIMITS.most_turns if budget.trials is None else -(-budget.trials // LIMITS.batch)
    schedule(tasks, turn, most=most)
    with_turns = [(task, tuned) for task, tuned in zip(tasks, found, strict=True) if tuned is not None]
    return TunedAll(found=tuple(found), turns=tuple(turns), after=whole_seconds([task for task, _ in with_turns]),
                    before=sum(task.weight * model_seconds(tuned) for task, tuned in with_turns))


def model_seconds(found: Tuned) -> float:
    """Seconds of the model's pick, out of the first trial."""
    return found.first.seconds or 0.0


def best_seconds(found: Tuned) -> float:
    """Seconds of what was found: the model's pick over the gain, which was measured beside it."""
    return model_seconds(found) / found.gain.median
