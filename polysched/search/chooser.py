"""Chooser: what a space asks for every choice, and the four ways to answer: sample, replay, mutate, enumerate."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

from polysched.errors import PolyschedError, UsageError
from polysched.records import dataclass
from polysched.search.limits import LIMITS
from polysched.tensorize.instruction_choice import InstructionChoice
from polysched.tiling.options import BandOptions

if TYPE_CHECKING:
    from polysched.pipeline.recipe import Recipe
    from polysched.search.bands import BandFacts, LoopFacts

T = TypeVar("T")


@dataclass(frozen=True)
class Decision:
    """One choice that was made.

    Parameters
    ----------
    name : of the question; unique in a trace.
    value : the answer, a JSON value; tuples for lists.
    """

    name: str
    value: Any

    def __str__(self) -> str:
        return f"{self.name} = {self.value}"


Trace = tuple[Decision, ...]


def trace_to_json(trace: Trace) -> list[list[Any]]:
    """Pairs of name and value."""
    return [[d.name, d.value] for d in trace]


def trace_from_json(value: object) -> Trace:
    """The trace that `trace_to_json` wrote.

    Raises
    ------
    UsageError : it is none.
    """
    if not isinstance(value, list) or not all(
            isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in value):
        raise UsageError("this is no trace of choices", witness=repr(value)[:60], hint='[["edge of i", 32]]')
    return tuple(Decision(name, as_value(chosen)) for name, chosen in value)


def as_value(value: Any) -> Any:
    """A JSON value with tuples for lists, so that it compares with what a space offers."""
    return tuple(as_value(v) for v in value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Rejected:
    """A choice, or several together, that make no legal recipe.

    Parameters
    ----------
    reason : what is wrong.
    witness : one concrete example; empty where there is none.
    trace : the choices up to there; whatever begins so is rejected, too.
    """

    reason: str
    witness: str
    trace: Trace


class RejectedError(PolyschedError):
    """The choices so far make no legal recipe."""


@dataclass(eq=False)
class Prefix:
    """Traces that begin in the same way, by what follows.

    Parameters
    ----------
    dead : nothing begins so again.
    """

    following: dict[Decision, Prefix] = field(default_factory=dict)
    dead: bool = False

    def behind(self, trace: Trace) -> Prefix:
        """Those that go on with some choices; made where there are none."""
        found = self
        for decision in trace:
            found = found.following.setdefault(decision, Prefix())
        return found

    def allows(self, decision: Decision) -> bool:
        """Whether a choice may follow."""
        return decision not in self.following or not self.following[decision].dead


@dataclass
class Rejections:
    """What was rejected: counts by reason with the first witness, and the prefixes that nothing begins with again."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, Rejected] = field(default_factory=dict)
    every: Prefix = field(default_factory=Prefix)

    def add(self, rejected: Rejected) -> None:
        """Count one."""
        self.counts[rejected.reason] = self.counts.get(rejected.reason, 0) + 1
        self.first.setdefault(rejected.reason, rejected)
        self.every.behind(rejected.trace).dead = True

    @property
    def total(self) -> int:
        return sum(self.counts.values())


class Answers(Protocol):
    """A way to answer questions."""

    def pick(self, name: str, options: Sequence[Any], open_: Sequence[int]) -> int:
        """The index of the answer.

        Parameters
        ----------
        open_ : the indices whose prefix was not rejected before; never empty.
        """


@dataclass
class Sampling:
    """Every answer is drawn, all with the same probability."""

    draw: random.Random

    def pick(self, name: str, options: Sequence[Any], open_: Sequence[int]) -> int:
        """A random one."""
        return open_[self.draw.randrange(len(open_))]


class Replaying:
    """The answers of a trace.

    Raises
    ------
    UsageError : of `pick`: the space asks something else, or no longer offers the answer.
    """

    def __init__(self, trace: Trace) -> None:
        self.known = {d.name: d.value for d in trace}

    def pick(self, name: str, options: Sequence[Any], open_: Sequence[int]) -> int:
        """The recorded one."""
        if name not in self.known:
            raise UsageError(f"the trace has no choice {name!r}", witness=", ".join(self.known) or "it is empty",
                             hint="it was made by another space")
        if self.known[name] not in options:
            raise UsageError(f"{name} cannot be {self.known[name]!r} here", hint=f"one of {str(list(options))[:200]}")
        return options.index(self.known[name])


class Mutating:
    """The answers of a trace but for a few, which are drawn; and what a changed answer makes necessary.

    Parameters
    ----------
    names : of the choices that change.
    """

    def __init__(self, trace: Trace, draw: random.Random, names: Collection[str]) -> None:
        self.known = {d.name: d.value for d in trace}
        self.draw, self.names = draw, names

    def pick(self, name: str, options: Sequence[Any], open_: Sequence[int]) -> int:
        """The recorded one where it stays and is still offered."""
        before = options.index(self.known[name]) if name in self.known and self.known[name] in options else None
        if before in open_ and before is not None and name not in self.names:
            return before
        others = [k for k in open_ if k != before] or list(open_)
        near = [k for k in others if before is not None and abs(k - before) == 1]
        if near and self.draw.random() < LIMITS.near_share:
            return near[self.draw.randrange(len(near))]
        return others[self.draw.randrange(len(others))]


class Enumerating:
    """The first answers by their indices, the first open one for every question behind them.

    Parameters
    ----------
    prefix : indices, one per question from the first on.
    taken : the index and the number of options of every question that was asked.
    """

    def __init__(self, prefix: Sequence[int] = ()) -> None:
        self.prefix = tuple(prefix)
        self.taken: list[tuple[int, int]] = []

    def pick(self, name: str, options: Sequence[Any], open_: Sequence[int]) -> int:
        """The index of the prefix, or the first one."""
        at = len(self.taken)
        index = self.prefix[at] if at < len(self.prefix) else 0
        self.taken.append((index, len(options)))
        return index

    def following(self) -> tuple[int, ...] | None:
        """The prefix of the next answers in lexical order; None behind the last."""
        taken = list(self.taken)
        while taken:
            index, count = taken.pop()
            if index + 1 < count:
                return (*(i for i, _ in taken), index + 1)
        return None


class Chooser:
    """What a space asks; every answer is a `Decision` of its trace.

    Parameters
    ----------
    answers : how questions are answered.
    bands_of : the bands of a recipe's schedule with what may be chosen for them; None where no space asks.
    tree_of : the schedule of a recipe as text.
    instructions_of : what may be chosen for each statement that an instruction could compute.
    narrower_vectors : widths of vectors, in bits, below the machine's own.
    reassociate : whether sums of floating-point numbers may be rounded in another order.
    rejections : whose prefixes are not chosen again; not looked at where answers are enumerated or replayed.
    """

    def __init__(self, answers: Answers, *, bands_of: Callable[[Recipe], tuple[BandFacts, ...]] | None = None,
                 tree_of: Callable[[Recipe], str] | None = None, rejections: Rejections | None = None,
                 instructions_of: Callable[[], Mapping[str, tuple[InstructionChoice, ...]]] = dict,
                 narrower_vectors: tuple[int, ...] = (), reassociate: bool = False) -> None:
        self._answers, self._bands_of, self._tree_of = answers, bands_of, tree_of
        self._instructions_of = instructions_of
        self.narrower_vectors, self.reassociate = narrower_vectors, reassociate
        self._here = rejections.every if rejections is not None and not isinstance(
            answers, Enumerating | Replaying) else None
        self._made: list[Decision] = []
        self._names: set[str] = set()

    @property
    def trace(self) -> Trace:
        """The answers so far."""
        return tuple(self._made)

    def one_of(self, name: str, options: Iterable[T]) -> T:
        """One of several values.

        Parameters
        ----------
        name : of the choice; asked once.
        options : JSON values, at least one.

        Raises
        ------
        RejectedError : what remains was rejected before.
        UsageError : the name was asked before, or there is nothing to choose from.
        """
        offered = tuple(options)
        if not offered or name in self._names:
            raise UsageError(f"the choice {name!r} has no options" if not offered else
                             f"the choice {name!r} is made twice", hint="give every choice a name of its own")
        here = self._here
        open_: Sequence[int] = range(len(offered))
        if here is not None and here.following:
            open_ = [k for k, option in enumerate(offered) if here.allows(Decision(name, option))]
        if not open_:
            self.reject("everything that could follow was rejected", witness=", ".join(map(str, self.trace)))
        made = Decision(name, offered[self._answers.pick(name, offered, open_)])
        self._made.append(made)
        self._names.add(name)
        self._here = None if here is None else here.following.get(made)
        chosen: T = made.value
        return chosen

    def subset(self, name: str, items: Sequence[T]) -> tuple[T, ...]:
        """Any of several values, each asked for alone; in the order given."""
        return tuple(item for item in items if self.one_of(f"{name}: {item}", (True, False)))

    def order(self, name: str, items: Sequence[T], legal: Sequence[tuple[T, ...]] | None = None) -> tuple[T, ...]:
        """An order of values.

        Parameters
        ----------
        legal : the orders to choose from; all where none are given, place by place.
        """
        if legal is not None:
            return self.one_of(name, legal)
        left = list(items)
        made: list[T] = []
        while len(left) > 1:
            made.append(self.one_of(f"{name}, place {len(made)}", left))
            left.remove(made[-1])
        return (*made, *left)

    def split(self, loop: LoopFacts, parts: int = 2, *,
              policy: str | Sequence[int] = "power2") -> tuple[int, ...]:
        """The edges of `parts` - 1 nested tiles of a loop, the outermost first; edges need not divide the extent.

        Parameters
        ----------
        policy : `factors` for divisors of what is around, `power2` for powers of two, or the edges to choose from.

        Raises
        ------
        UsageError : there is no such policy.
        """
        edges: list[int] = []
        for part in range(1, parts):
            around = edges[-1] if edges else loop.extent
            edges.append(self.one_of(f"{loop.name}, tile {part} of {parts - 1}", _edges(around, policy)))
        return tuple(edges)

    def edge(self, loop: LoopFacts, name: str = "") -> int:
        """A tile edge of a loop, out of those that the tile search allows."""
        return self.one_of(name or f"{loop.name}, edge", loop.edges)

    def block(self, band: BandFacts) -> tuple[int, int] | bool:
        """A legal register block of a band, rows and columns; False for none."""
        offered: tuple[tuple[int, int] | bool, ...] = (*band.blocks, False)
        return self.one_of(f"band {band.number}, block", offered)

    def instructions(self) -> dict[str, InstructionChoice]:
        """For each statement that an instruction of this machine could compute: one of its mappings and plans, or none.

        Statements that are left to the models are not in the result.
        """
        made: dict[str, InstructionChoice] = {}
        for statement, offered in self._instructions_of().items():
            ways = ("model", "none", *(json.dumps(choice.to_json(), sort_keys=True) for choice in offered))
            way = self.one_of(f"instruction of {statement}", ways)
            if way != "model":
                made[statement] = InstructionChoice(name=way) if way == "none" else InstructionChoice.from_json(
                    json.loads(way))
        return made

    def tiled(self, band: BandFacts) -> BandOptions:
        """Order, edges and register block of a band: of those that fit the caches, so that none is rejected."""
        from polysched.search.bands import choose_tiles
        return choose_tiles(self, band)

    def scheduled(self, name: str, recipes: Mapping[str, Recipe]) -> Recipe:
        """One of several recipes by its label; of those that make the same schedule only the first is offered.

        Raises
        ------
        RejectedError : none makes a schedule.
        """
        if self._tree_of is None:
            raise UsageError("this chooser knows no schedules", hint="`search.space.Explorer` makes one that does")
        offered: dict[str, str] = {}
        refusal: PolyschedError | None = None
        for label, recipe in recipes.items():
            try:
                offered.setdefault(self._tree_of(recipe), label)
            except PolyschedError as error:
                refusal = error
        if not offered:
            self.reject(refusal.problem if refusal else "there are no schedules", (refusal and refusal.witness) or "")
        return recipes[self.one_of(name, tuple(offered.values()))]

    def bands(self, recipe: Recipe) -> tuple[BandFacts, ...]:
        """The bands of the schedule that a recipe makes.

        Raises
        ------
        RejectedError : it makes no legal one; the witness is one pair of instances.
        """
        if self._bands_of is None:
            raise UsageError("this chooser knows no bands", hint="`search.space.Explorer` makes one that does")
        try:
            return self._bands_of(recipe)
        except PolyschedError as error:
            self.reject(error.problem, witness=error.witness or "")

    def reject(self, reason: str, witness: str = "") -> NoReturn:
        """Say that no legal recipe begins with these choices.

        Raises
        ------
        RejectedError : always.
        """
        raise RejectedError(reason, witness=witness or None)


def _edges(around: int, policy: str | Sequence[int]) -> tuple[int, ...]:
    if policy == "factors":
        return tuple(e for e in range(1, around + 1) if around % e == 0)
    if policy == "power2":
        return tuple(1 << k for k in range(around.bit_length()) if 1 << k <= around)
    if isinstance(policy, str):
        raise UsageError(f"there is no policy {policy!r}", hint="factors, power2, or the edges to choose from")
    return tuple(e for e in policy if 0 < e <= around) or (around,)
