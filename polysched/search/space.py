"""Space: a plain function `(choose, dependences) -> Recipe`; Explorer: one space over one program, explored."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TypeAlias

from polysched.dependence.dependences import Dependences
from polysched.errors import PolyschedError
from polysched.pipeline.options import VECTOR_BITS, PipelineOptions
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.pipeline.stages import analysed, scheduled
from polysched.records import dataclass
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
from polysched.tiling.best_schedule import program_seconds
from polysched.tiling.planning.choices import band_choices
from polysched.tiling.planning.predict import predict
from polysched.tiling.tile_bands import tile

Space: TypeAlias = Callable[[Chooser, Dependences], Recipe]
"""A template: whatever it asks of the chooser is a choice; one that asks nothing is a recipe by hand."""


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
class _Row:
    """One schedule: its bands, and what the model says of it with its own tiles."""

    tree: str
    bands: tuple[BandFacts, ...]
    seconds: float | None


@dataclass(eq=False)
class Explorer:
    """One space over one program: makes proposals, keeps what was rejected, and asks the model.

    Parameters
    ----------
    space : the template.
    scop : the program.
    options : of the pipeline; what recipes do not say.
    sizes : the sizes that count, by the names of parameters.
    """

    space: Space
    scop: Scop
    options: PipelineOptions
    sizes: dict[str, int] = field(default_factory=dict)
    rejections: Rejections = field(default_factory=Rejections)
    _programs: dict[bool, Dependences] = field(default_factory=dict)
    _rows: dict[Hashable, _Row] = field(default_factory=dict)

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
        """
        return self.space(self._chooser(Replaying(trace)), self.dependences())

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
        """What the space makes of some answers; None where it is rejected, which is counted."""
        choose = self._chooser(answers)
        try:
            return Proposal(recipe=self.space(choose, self.dependences()), trace=choose.trace)
        except PolyschedError as error:
            self.rejections.add(Rejected(error.problem, error.witness or "", choose.trace))
            return None

    def refuse(self, proposal: Proposal, error: PolyschedError) -> None:
        """Count a proposal that a later stage refused."""
        self.rejections.add(Rejected(error.problem, error.witness or "", proposal.trace))

    def dependences(self, recipe: Recipe | None = None) -> Dependences:
        """Of the program as choices by hand see it: with expanded temporaries, and no loops collapsed."""
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
        return self._row(recipe).bands

    def seconds(self, recipe: Recipe) -> float | None:
        """What the projected model says of a recipe; None where it cannot say."""
        row = self._row(recipe)
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

    def _row(self, recipe: Recipe) -> _Row:
        """The schedule of a recipe, whatever its tiles; made once."""
        key = tuple(value if type(value := getattr(recipe, name)) in PLAIN else str(value) for name in OF_SCHEDULE)
        if key not in self._rows:
            options = apply_recipe(self.options, replace(recipe, bands={}, flags=()))
            schedule = scheduled(self.dependences(recipe), options)
            tiling = replace(options.tiling_options(), bands={}, parameters=self.sizes)
            tiled = tile(schedule, replace(tiling, parameters={}), alone=False)
            predicted = predict(schedule.dependences, tiled.tree, target=tiling.target, parameters=self.sizes,
                                plans=tiled.plans)
            self._rows[key] = _Row(tree=str(schedule.tree), bands=tuple(
                BandFacts(choices, tiling.target) for choices in band_choices(schedule, tiling)),
                seconds=program_seconds(predicted, tiling.target))
        return self._rows[key]

    def _chooser(self, answers: Answers) -> Chooser:
        return Chooser(answers, bands_of=self.bands, tree_of=lambda recipe: self._row(recipe).tree,
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


__all__ = ["Explorer", "Proposal", "RejectedError", "Space", "distinct"]
