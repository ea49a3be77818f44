"""Space: a plain function `(choose, dependences) -> Recipe`; Explorer: one space over one program, explored."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TypeAlias

from polysched.dependence.dependences import Dependences
from polysched.errors import PolyschedError, UsageError
from polysched.pipeline.options import VECTOR_BITS, PipelineOptions
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.pipeline.stages import analysed, scheduled
from polysched.records import dataclass, whole
from polysched.scheduling.schedule import Schedule
from polysched.scop.scop import Scop
from polysched.search.bands import BandFacts, recipe_seconds
from polysched.search.chooser import (
    Answers,
    Chooser,
    Enumerating,
    Mutating,
    Rejected,
    RejectedError,
    Rejections,
    Replaying,
    Sampling,
    Trace,
)
from polysched.search.limits import LIMITS
from polysched.tensorize.decision import may_gain, offered
from polysched.tensorize.instruction_choice import InstructionChoice
from polysched.tiling.options import TilingOptions
from polysched.tiling.planning.choices import band_choices
from polysched.tiling.planning.predict import Prediction, predict, program_seconds
from polysched.tiling.tile_bands import tile
from polysched.tiling.tiled_schedule import TiledSchedule

Space: TypeAlias = Callable[[Chooser, Dependences], Recipe]
"""A template: whatever it asks of the chooser is a choice; one that asks nothing is a recipe by hand."""


FORM = "it is a function (choose, dependences) -> polysched.search.Recipe"


class TemplateError(UsageError):
    """A template by hand ends in an error of another kind, or makes no recipe."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A recipe of a space, and the choices that make it."""

    recipe: Recipe
    trace: Trace = ()


OF_SCHEDULE = ("scheduler", "strategy", "fusion", "split_index_sets", "concurrent_start", "steps", "tile", "diamond",
               "parallel_degrees", "vector_bits", "expand")
"""The fields of a recipe on which the schedule, or the vectors that tiles are made for, depend."""


PLAIN = frozenset({str, int, bool, type(None)})
"""Types of fields that tell themselves apart."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Row:
    """One schedule, and what is made of it where somebody asks.

    Parameters
    ----------
    tiling : how it is tiled, but for the choices for single bands that a recipe makes.
    sizes : for which its bands are described and its time is predicted.
    """

    schedule: Schedule
    tiling: TilingOptions
    sizes: Mapping[str, int]

    @cached_property
    def tree(self) -> str:
        return str(self.schedule.tree)

    @cached_property
    def bands(self) -> tuple[BandFacts, ...]:
        tiling = replace(self.tiling, parameters=self.sizes)
        return tuple(BandFacts(choices, tiling.target) for choices in band_choices(self.schedule, tiling))

    @cached_property
    def tiled(self) -> TiledSchedule:
        return tile(self.schedule, self.tiling, alone=False)

    @cached_property
    def predicted(self) -> Prediction:
        return predict(self.schedule.dependences, self.tiled.tree, target=self.tiling.target, parameters=self.sizes,
                       plans=self.tiled.plans)

    @cached_property
    def seconds(self) -> float | None:
        """What the model says of it with its own tiles."""
        return program_seconds(self.predicted, self.tiling.target)


@dataclass(eq=False)
class Explorer:
    """One space over one program: makes proposals, keeps what was rejected, and asks the model.

    Parameters
    ----------
    space : the template.
    scop : the program.
    options : of the pipeline; what recipes do not say.
    sizes : the sizes that count, by the names of parameters.
    given : the dependences that every recipe schedules; None for those that the pipeline finds.
    tiling : how every schedule is tiled, whatever its recipe says; its sizes are the model's. None for the options'.
    is_own : the space is one of this program, whose errors are faults and stay what they are.
    """

    space: Space
    scop: Scop
    options: PipelineOptions
    sizes: dict[str, int] = field(default_factory=dict)
    given: Dependences | None = None
    tiling: TilingOptions | None = None
    is_own: bool = False
    rejections: Rejections = field(default_factory=Rejections)
    _programs: dict[bool, Dependences] = field(default_factory=dict)
    _rows: dict[Hashable, Row | PolyschedError] = field(default_factory=dict)

    def sample(self, draw: random.Random) -> Proposal | None:
        """A random recipe; None where so many attempts in a row were rejected."""
        return self._first(lambda: Sampling(draw))

    def mutate(self, trace: Trace, draw: random.Random, *, changes: int = 1) -> Proposal | None:
        """A recipe with a few other choices."""
        def answers() -> Mutating:
            names = [d.name for d in trace]
            return Mutating(trace, draw, draw.sample(names, min(changes, len(names))))
        return self._first(answers)

    def replay(self, trace: Trace) -> Recipe:
        """The recipe of a trace.

        Raises
        ------
        PolyschedError : it is of another space, or no longer legal.
        TemplateError : as for `propose`.
        """
        return self._recipe(self._chooser(Replaying(trace)))

    def enumerate(self) -> Iterator[Proposal]:
        """Every recipe in lexical order of the choices; a rejection skips all that begin with its choices."""
        prefix: tuple[int, ...] | None = ()
        while prefix is not None:
            answers = Enumerating(prefix)
            proposal = self.propose(answers)
            if proposal is not None:
                yield proposal
            prefix = answers.following()

    def propose(self, answers: Answers) -> Proposal | None:
        """What the space makes of some answers; None where it is rejected, which is counted.

        Raises
        ------
        TemplateError : a template by hand makes something else than recipes, or ends in an error of another kind.
        """
        choose = self._chooser(answers)
        try:
            return Proposal(recipe=self._recipe(choose), trace=choose.trace)
        except TemplateError:
            raise
        except PolyschedError as error:
            self.rejections.add(Rejected(error.problem, error.witness or "", choose.trace))
            return None

    def _recipe(self, choose: Chooser) -> Recipe:
        """What the space makes of the answers of a chooser.

        Raises
        ------
        TemplateError : as for `propose`.
        """
        try:
            made: object = self.space(choose, self.dependences())
        except PolyschedError:
            raise
        except Exception as error:
            if self.is_own:
                raise
            raise TemplateError("the template ends in an error", witness=_told(error), hint=FORM) from error
        if not isinstance(made, Recipe):
            raise TemplateError("the template makes no recipe", witness=repr(made)[:60], hint=FORM)
        return made

    def refuse(self, proposal: Proposal, error: PolyschedError) -> None:
        """Count a proposal that a later stage refused."""
        self.rejections.add(Rejected(error.problem, error.witness or "", proposal.trace))

    def dependences(self, recipe: Recipe | None = None) -> Dependences:
        """Of the program as choices by hand see it: with expanded temporaries, and no loops collapsed."""
        if self.given is not None:
            return self.given
        expand = self.options.expand and (recipe is None or recipe.expand)
        if expand not in self._programs:
            self._programs[expand] = analysed(self.scop, expand=expand).dependences
        return self._programs[expand]

    def bands(self, recipe: Recipe) -> tuple[BandFacts, ...]:
        """The bands of the schedule that a recipe makes.

        Raises
        ------
        PolyschedError : it makes none.
        """
        return self.row(recipe).bands

    def seconds(self, recipe: Recipe) -> float | None:
        """What the projected model says of a recipe; None where it cannot say."""
        row = self.row(recipe)
        return recipe_seconds(row.bands, recipe, whole=row.seconds)

    @cached_property
    def instructions(self) -> Mapping[str, tuple[InstructionChoice, ...]]:
        """Per statement the instructions, mappings and plans that may be chosen; found once.

        Those that the options rule out, with their numerics, are not among them.
        """
        wanted = self.options.tensorize
        if wanted is None or not may_gain(self.scop):
            return {}
        prepared = analysed(self.scop, expand=self.options.expand, for_instructions=True).dependences.scop
        return offered(prepared, replace(wanted, samples={**self.sizes, **wanted.samples}), self.options.target())

    @property
    def narrower_vectors(self) -> tuple[int, ...]:
        """Widths of vectors that the machine has beside its own."""
        return tuple(bits for bits in reversed(VECTOR_BITS) if 0 < bits < self.options.target().vector_bits)

    def row(self, recipe: Recipe) -> Row:
        """The schedule of a recipe, whatever its tiles; made, or refused, once.

        Raises
        ------
        PolyschedError : it makes none.
        """
        key = tuple(value if type(value := getattr(recipe, name)) in PLAIN else whole(value) for name in OF_SCHEDULE)
        if key not in self._rows:
            try:
                self._rows[key] = self._made(recipe)
            except PolyschedError as error:
                self._rows[key] = error
        found = self._rows[key]
        if isinstance(found, PolyschedError):
            raise found
        return found

    def _made(self, recipe: Recipe) -> Row:
        options = apply_recipe(self.options, replace(recipe, bands={}, flags=()))
        schedule = scheduled(self.dependences(recipe), options, input_dependences=options.scheduling.input_dependences)
        if self.tiling is not None:
            return Row(schedule=schedule, tiling=self.tiling, sizes=self.tiling.parameters)
        tiling = replace(options.tiling_options(), bands={}, parameters={})
        return Row(schedule=schedule, tiling=tiling, sizes=self.sizes)

    def _chooser(self, answers: Answers) -> Chooser:
        return Chooser(answers, bands_of=self.bands, tree_of=lambda recipe: self.row(recipe).tree,
                       rejections=self.rejections, instructions_of=lambda: self.instructions,
                       narrower_vectors=self.narrower_vectors, reassociate=self.options.reassociate)

    def _first(self, answers: Callable[[], Answers]) -> Proposal | None:
        for _ in range(LIMITS.most_attempts):
            found = self.propose(answers())
            if found is not None:
                return found
        return None


def distinct(proposals: Collection[Proposal]) -> tuple[Proposal, ...]:
    """Without those whose recipe an earlier one has."""
    kept: dict[str, Proposal] = {}
    for proposal in proposals:
        kept.setdefault(proposal.recipe.text, proposal)
    return tuple(kept.values())


__all__ = ["Explorer", "Proposal", "RejectedError", "Row", "Space", "TemplateError", "distinct"]


def _told(error: Exception) -> str:
    """An error of somebody's function in a line: its kind, its words, and where it was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({frame.filename}, line {frame.lineno})"
