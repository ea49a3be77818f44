"""Questions about orders: what is legal, which pair of instances an illegal one breaks, and what makes a step legal."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.errors import IllegalScheduleError, UsageError
from polysched.notebook.tutorial.answers import Verdict, as_number, as_text, right, sizes_text, wrong
from polysched.notebook.tutorial.pairs import at_sizes, read_pair, read_relation, touched
from polysched.records import dataclass
from polysched.scheduling.primitives import Skew, Step
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.steps import apply
from polysched.scop.points import instances_in_order

EXAMPLE = '"{ S0[i, j] -> [j, i] }"'


@dataclass(frozen=True, eq=False, kw_only=True)
class OrderThat:
    """Which order runs one instance before another one, and is legal?  The answer gives each instance its date.

    Parameters
    ----------
    first, then : the two instances, as isl writes points: `S0[1, 2]`.
    sizes : a value of every parameter, at which both run.
    """

    dependences: Dependences
    first: str
    then: str
    sizes: Mapping[str, int]

    expects = f"an order, {EXAMPLE}"

    def judge(self, answer: object) -> Verdict:
        """By the exact check of legality, and by running through the order at these sizes."""
        scop = self.dependences.scop
        schedule = Schedule.from_text(as_text(answer, EXAMPLE), self.dependences)
        order = [f"{name}[{', '.join(map(str, at))}]" for name, at in instances_in_order(
            scop.domain, schedule.tree, self.sizes, [s.name for s in scop.statements])]
        if order.index(self.first) < order.index(self.then):
            return right(f"it is legal, and {self.first} runs before {self.then}")
        return wrong(f"it is legal, but {self.then} runs before {self.first}",
                     f"it begins with {', '.join(order[:5])}{sizes_text(self.sizes.items())}")


@dataclass(frozen=True, eq=False, kw_only=True)
class IllegalOrder:
    """Which order is illegal?  The answer gives each instance its date."""

    dependences: Dependences

    expects = f"an order, {EXAMPLE}"

    def judge(self, answer: object) -> Verdict:
        """By the exact check of legality."""
        try:
            Schedule.from_text(as_text(answer, EXAMPLE), self.dependences)
        except IllegalScheduleError as refusal:
            return right(f"it is refused: {refusal.witness}")
        return wrong("every dependence keeps its order", "find a pair in the picture, and let the second run first")


@dataclass(frozen=True, eq=False, kw_only=True)
class BrokenPair:
    """Which two instances does an illegal order turn around?  The answer is a pair, in the order that must be kept.

    Parameters
    ----------
    order : the order, as text.
    sizes : a value of every parameter.
    """

    dependences: Dependences
    order: str
    sizes: Mapping[str, int]

    expects = 'one pair of instances, "S0[1, 2] -> S0[3, 4]"'

    def judge(self, answer: object) -> Verdict:
        """By the exact dependences, and by comparing the two dates."""
        scop = self.dependences.scop
        pair = read_pair(answer, scop, self.sizes)
        if not pair.is_subset(at_sizes(self.dependences.validity, self.sizes)):
            return wrong("the second does not depend on the first", touched(scop, pair, self.sizes))
        order = at_sizes(read_relation(self.order, EXAMPLE, scop), self.sizes)
        first, then = (_date(order, end) for end in (pair.domain(), pair.range()))
        if then < first:
            return right(f"{touched(scop, pair, self.sizes)}; the dates are {first} and {then}")
        return wrong(f"this order keeps the pair: the dates are {first} and {then}",
                     "the date of the second has to be the smaller one")


@dataclass(frozen=True, eq=False, kw_only=True)
class StepsBefore:
    """Which steps make another one legal?  The answer is a step, or several in a tuple."""

    start: Schedule
    then: Step

    expects = "a step, or a tuple of steps"

    def judge(self, answer: object) -> Verdict:
        """By the exact check of legality of every step."""
        steps = _steps(answer)
        try:
            schedule = apply(self.start, *steps)
        except IllegalScheduleError as refusal:
            return wrong(f"the steps themselves are refused: {refusal.problem}", refusal.witness or "")
        try:
            apply(schedule, self.then)
        except IllegalScheduleError as refusal:
            return wrong(f"after them, the step {self.then.NAME} is still refused: {refusal.problem}",
                         refusal.witness or "")
        return right(f"the step {self.then.NAME} is legal after {len(steps)} step{'' if len(steps) == 1 else 's'}")


@dataclass(frozen=True, eq=False, kw_only=True)
class LeastSkew:
    """By which least factor has a loop to be skewed, so that a step becomes legal?  The answer is a number."""

    start: Schedule
    loop: str
    by: str
    then: Step

    expects = "a whole number"

    def judge(self, answer: object) -> Verdict:
        """By trying the step with this factor, and with the one below it."""
        factor = as_number(answer)
        refusal = self._refusal(factor)
        if refusal is not None:
            return wrong(f"after a skew by {factor} the step {self.then.NAME} is refused", refusal.witness or "")
        if (below := self._refusal(factor - 1)) is None:
            return wrong(f"{factor} will do, and so will {factor - 1}", "look for the least")
        return right(f"with {factor - 1}, {below.witness}")

    def _refusal(self, factor: int) -> IllegalScheduleError | None:
        try:
            apply(self.start, Skew(loop=self.loop, by=self.by, factor=factor), self.then)
        except IllegalScheduleError as refusal:
            return refusal
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class IsLegal:
    """Are some steps legal?  The answer is True or False."""

    start: Schedule
    steps: tuple[Step, ...]

    expects = "True or False"

    def judge(self, answer: object) -> Verdict:
        """By the exact check of legality."""
        if not isinstance(answer, bool):
            raise UsageError("the answer should be True or False", witness=f"it is {answer!r}"[:80])
        try:
            apply(self.start, *self.steps)
        except IllegalScheduleError as refusal:
            return (wrong if answer else right)(f"it is refused: {refusal.witness}")
        return (right if answer else wrong)("it is legal: every dependence keeps its order")


def _steps(answer: object) -> tuple[Step, ...]:
    """One step or several.

    Raises
    ------
    UsageError : it is something else.
    """
    steps = tuple(answer) if isinstance(answer, tuple | list) else (answer,)
    for step in steps:
        if not isinstance(step, Step):
            raise UsageError("the answer should be a step, or a tuple of steps", witness=f"it is {answer!r}"[:80])
    return steps


def _date(order: isl.UnionMap, instance: isl.UnionSet) -> tuple[int, ...]:
    point = instance.apply(order).get_set_list().get_at(0).sample_point()
    return tuple(int(point.get_coordinate_val(isl.dim_type.set, at).to_python())
                 for at in range(point.get_space().dim(isl.dim_type.set)))
