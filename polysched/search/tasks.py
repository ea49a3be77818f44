"""Several programs, one budget: the next trials go where they promise most for the weighted time of the whole.

Source of the gradient: L. Zheng et al., "Ansor: Generating High-Performance Tensor Programs for Deep Learning", OSDI
2020, section 6; capped here by the distance to the bound, so that a program near it gets nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.search.limits import LIMITS


@dataclass(kw_only=True)
class Task:
    """One program of several.

    Parameters
    ----------
    name : for people.
    weight : how often it runs in the whole.
    bound_seconds : what it cannot go below; 0 where nothing is known.
    seconds : of its fastest code after each of its turns, the model's pick first.
    exhausted : it has nothing left to try.
    """

    name: str
    weight: float = 1.0
    bound_seconds: float = 0.0
    seconds: list[float] = field(default_factory=list)
    exhausted: bool = False

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise UsageError("the weight of a program is positive", where=self.name, witness=str(self.weight))

    @property
    def best_seconds(self) -> float:
        return min(self.seconds)

    @property
    def promise(self) -> float:
        """Seconds of the whole that the next turn may save; 0 near the bound.

        It is mostly what the last turns saved on average, and partly what is above the bound divided among twice as
        many turns as it has had.
        """
        above = self.best_seconds - self.bound_seconds
        if self.exhausted or above <= LIMITS.near_bound_share * self.best_seconds:
            return 0.0
        recent = self.seconds[-LIMITS.recent_turns - 1:]
        saved = (max(recent) - min(recent)) / max(1, len(recent) - 1)
        optimistic = above / (2 * len(self.seconds))
        share = LIMITS.gradient_share
        return self.weight * min(above, share * saved + (1 - share) * optimistic)


@dataclass(frozen=True)
class Turn:
    """One turn that was taken: the program's number, and seconds of its fastest code afterwards."""

    task: int
    seconds: float


def next_task(tasks: Sequence[Task]) -> int | None:
    """Which program gets the next turn; None where none promises anything.

    A program that has had none yet comes first, the heaviest of several.
    """
    fresh = [k for k, task in enumerate(tasks) if not task.seconds]
    if fresh:
        return max(fresh, key=lambda k: (tasks[k].weight, -k))
    best = max(range(len(tasks)), key=lambda k: (tasks[k].promise, -k), default=None)
    return best if best is not None and tasks[best].promise > 0 else None


def schedule(tasks: Sequence[Task], turn: Callable[[int], float | None], *, most: int) -> tuple[Turn, ...]:
    """Give turns until none promises anything.

    Parameters
    ----------
    turn : spends some trials on a program; seconds of its fastest code so far, None where it is exhausted.
    most : turns in all.
    """
    taken: list[Turn] = []
    while len(taken) < most and (chosen := next_task(tasks)) is not None:
        seconds = turn(chosen)
        if seconds is None:
            tasks[chosen].exhausted = True
            if not tasks[chosen].seconds:
                tasks[chosen].seconds.append(float("inf"))
            continue
        tasks[chosen].seconds.append(seconds)
        taken.append(Turn(chosen, seconds))
    return tuple(taken)


def whole_seconds(tasks: Sequence[Task]) -> float:
    """The weighted time of all with their fastest codes."""
    return sum(task.weight * task.best_seconds for task in tasks)
