"""The explorer without its widgets: a schedule, steps by hand, and what is shown of them.  A value like any other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property

from polysched.emit_c import EmitOptions, printed
from polysched.errors import UsageError
from polysched.pipeline.way import lowered_with_fallbacks
from polysched.records import dataclass
from polysched.scheduling.picture import draw_tiles
from polysched.scheduling.primitives import STEPS, Step, StripMine, Tile, Unroll, UnrollAndJam, loops
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.steps import apply, available, loop_tree
from polysched.scop.display import picture_or_reason
from polysched.scop.html import c_code, paragraph, table
from polysched.scop.picture import Picture, small_parameters
from polysched.scop.shown import Shown
from polysched.target import Target, host
from polysched.tiling.planning.predict import Prediction, predict
from polysched.tiling.tiled_schedule import TiledSchedule

LOOP_FIELDS = ("loop", "loops", "outer", "inner", "by", "first", "second")
LISTED = ("tile", "skew", "interchange", "fuse", "distribute", "reverse", "strip_mine", "parallel", "vectorize",
          "unroll", "unroll_and_jam", "peel")


@dataclass(frozen=True, eq=False, kw_only=True)
class Exploration(Shown):
    """One state of the explorer.

    Parameters
    ----------
    start : the schedule before the steps.
    schedule : after them.
    parameters : sizes that the picture is drawn for.
    assumed : sizes that the predicted cost is for; typical ones where none is given.
    axes : the picture's iterators, horizontal and vertical; None for the two innermost.
    new_size : tile edge and unroll factor of steps that are offered.
    target : the machine of the predicted cost.
    before : the schedule before each step since the start.
    """

    start: Schedule
    schedule: Schedule
    parameters: Mapping[str, int]
    assumed: Mapping[str, int] = field(default_factory=dict)
    axes: tuple[str, str] | None = None
    new_size: int = 4
    target: Target = field(default_factory=host)
    before: tuple[Schedule, ...] = ()

    def __post_init__(self) -> None:
        if len(self.before) != len(self.steps):
            raise ValueError("an exploration holds the schedule before each of its steps")

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was applied since the start."""
        return self.schedule.steps[len(self.start.steps):]

    def said(self) -> list[str]:
        """The steps in words, loops by the name that each had before its step."""
        return [describe(step, _loop_names(schedule)) for step, schedule in zip(self.steps, self.before, strict=True)]

    def size_names(self) -> dict[tuple[int, int], str]:
        """What each size of the steps is for, `tile i`, by the step's position and the size's."""
        found = {}
        for position, (step, schedule) in enumerate(zip(self.steps, self.before, strict=True)):
            names = _loop_names(schedule)
            for number, loop in enumerate(_sized_loops(step)):
                found[position, number] = f"{step.NAME.replace('_', ' ')} {_loop_name(loop, names)}"
        return found

    def next_steps(self) -> dict[str, Step]:
        """Every legal next step that can be listed, by what it says."""
        names = _loop_names(self.schedule)
        found = (with_sizes(step, (self.new_size,) * size_count(step))
                 for step in available(self.schedule, *(STEPS[name] for name in LISTED)))
        return {describe(step, names): step for step in found}

    def then(self, step: Step) -> Exploration:
        """With one more step.

        Raises
        ------
        IllegalScheduleError, UsageError : as `scheduling.steps.apply`.
        """
        return replace(self, schedule=apply(self.schedule, step), before=(*self.before, self.schedule))

    def back(self) -> Exploration:
        """Without the last step; the same at the start."""
        return replace(self, schedule=self.before[-1], before=self.before[:-1]) if self.before else self

    def resized(self, position: int, sizes: tuple[int, ...]) -> Exploration:
        """With other sizes in the step at this position, and all steps after it applied again."""
        steps = list(self.steps)
        steps[position] = with_sizes(steps[position], sizes)
        state = replace(self, schedule=(*self.before, self.schedule)[position], before=self.before[:position])
        for step in steps[position:]:
            state = state.then(step)
        return state

    def seen_along(self, axes: tuple[str, str] | None) -> Exploration:
        """With other iterators in the picture, horizontal and vertical; None for the two innermost."""
        return replace(self, axes=axes)

    def planes(self) -> list[tuple[str, str]]:
        """The pairs of iterators that the picture can be drawn for: those that every statement has."""
        statements = self.start.scop.statements
        common = [i for i in statements[0].iterators if all(i in s.iterators for s in statements)]
        return [(inner, outer) for outer, inner in itertools.combinations(common, 2)]

    def drawn_for(self, **parameters: int) -> Exploration:
        """With other sizes in the picture."""
        if unknown := sorted(set(parameters) - set(self.parameters)):
            raise UsageError(f"no parameter {unknown[0]}",
                             hint=f"parameters are {', '.join(self.parameters) or 'none'}")
        return replace(self, parameters={**self.parameters, **parameters})

    def picture(self) -> Picture:
        """The iteration domains, dependences and tiles."""
        return draw_tiles(self.schedule.dependences, self.schedule.tree, parameters=self.parameters, axes=self.axes)

    def c(self) -> str:
        """The C of the present schedule, or of what is left of it where isl's generator finds no loops."""
        tiled = TiledSchedule(schedule=self.schedule, tree=self.schedule.tree)
        return printed(lowered_with_fallbacks(tiled, EmitOptions(comments=False, vector_bits=0))).text

    def prediction(self) -> Prediction:
        """The cost that the models predict on one core."""
        return self._prediction

    @cached_property
    def _prediction(self) -> Prediction:
        return predict(self.schedule.dependences, self.schedule.tree, target=self.target, parameters=self.assumed)

    def cost_table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Headings and rows: predicted seconds and traffic, at the start and now."""
        levels = [f"into L{cache.level}" for cache in self.target.caches]
        states = (("start", replace(self, schedule=self.start, before=()).prediction()), ("now", self.prediction()))
        return ("", "one core", *levels), [(name, *_costs(p, len(levels))) for name, p in states]

    def cost_notes(self) -> list[str]:
        """For which sizes the cost is, and what the models do not know."""
        prediction = self.prediction()
        assumed = ", ".join(f"{name} = {value}" for name, value in prediction.parameters.items())
        return [f"predicted for {assumed or 'the sizes of the program'}, on one core of this machine",
                *(f"no prediction for {reason}" for reason in prediction.unknown)]

    def __str__(self) -> str:
        """The steps, the cost and the C."""
        headings, rows = self.cost_table()
        lines = [*(f"step: {said}" for said in self.said()),
                 *("  ".join(f"{cell:>10}" for cell in row) for row in (headings, *rows)), *self.cost_notes()]
        return "".join(f"{line}\n" for line in lines) + "\n" + self.c()

    def picture_html(self) -> str:
        """The picture, or why there is none."""
        return picture_or_reason(self.picture)

    def cost_html(self) -> str:
        """The cost as a table."""
        return table(*self.cost_table()) + "".join(map(paragraph, self.cost_notes()))

    def c_html(self) -> str:
        """The C in colour."""
        return c_code(self.c())

    def _repr_html_(self) -> str:
        said = paragraph("; ".join(self.said()) or "no step yet")
        return said + self.picture_html() + self.cost_html() + self.c_html()


def begin(schedule: Schedule, *, parameters: Mapping[str, int] | None = None,
          assumed: Mapping[str, int] | None = None, axes: tuple[str, str] | None = None,
          target: Target | None = None) -> Exploration:
    """The first state: no step yet, small sizes in the picture."""
    sizes = small_parameters(schedule.scop, given=parameters)
    return Exploration(start=schedule, schedule=schedule, parameters=sizes, assumed=dict(assumed or {}), axes=axes,
                       target=target or host())


def size_count(step: Step) -> int:
    """How many sizes a step has."""
    if isinstance(step, Tile):
        return len(step.sizes)
    return 1 if isinstance(step, StripMine | Unroll | UnrollAndJam) else 0


def _sized_loops(step: Step) -> tuple[object, ...]:
    """The loops that the sizes of a step belong to."""
    match step:
        case Tile():
            return tuple(step.loops)
        case StripMine() | Unroll() | UnrollAndJam():
            return (step.loop,)
    return ()


def sizes_of(step: Step) -> tuple[int, ...]:
    """The tile edges or the factor of a step; empty for steps without."""
    match step:
        case Tile():
            return step.sizes
        case StripMine():
            return (step.size,)
        case Unroll() | UnrollAndJam():
            return (step.factor,)
    return ()


def with_sizes(step: Step, sizes: tuple[int, ...]) -> Step:
    """The step with other sizes."""
    match step:
        case Tile():
            return replace(step, sizes=sizes)
        case StripMine():
            return replace(step, size=sizes[0])
        case Unroll() | UnrollAndJam():
            return replace(step, factor=sizes[0])
    return step


def describe(step: Step, names: Mapping[int, str]) -> str:
    """A step with loops by name: `tile loops t, i sizes 4, 4`; loops that share a name by position too."""
    words = [step.NAME]
    for key, value in step.to_json().items():
        if key == "step":
            continue
        values = value if isinstance(value, list) else [value]
        shown = [_loop_name(v, names) if key in LOOP_FIELDS else str(v) for v in values]
        words.append(f"{key} {', '.join(shown)}")
    return " ".join(words)


def _loop_names(schedule: Schedule) -> dict[int, str]:
    return {loop.position: loop.name for loop in loops(loop_tree(schedule.tree))}


def _loop_name(reference: object, names: Mapping[int, str]) -> str:
    if not isinstance(reference, int) or reference not in names:
        return str(reference)
    name = names[reference]
    return f"{name}#{reference}" if list(names.values()).count(name) > 1 else name


def _costs(prediction: Prediction, levels: int) -> tuple[str, ...]:
    if prediction.seconds is None or prediction.traffic is None:
        return ("unknown",) * (levels + 1)
    return (f"{prediction.seconds:.3g} s", *(f"{moved / 1e6:.4g} MB" for moved in prediction.traffic))
