"""From a recipe to the C file that has it; and what builds and judges candidates, behind one interface."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from typing import Protocol

from polysched.emit_c import splice
from polysched.errors import PolyschedError
from polysched.measure.field import Field, Ran, Version
from polysched.measure.field import field as measured_field
from polysched.measure.paired import MeasureOptions
from polysched.measure.processes.building import Binary
from polysched.measure.processes.workspace import workspace
from polysched.pipeline.files import optimize
from polysched.pipeline.kept_stages import KeptStages, keeping, kept
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.records import dataclass, whole
from polysched.scop.scop import Scop
from polysched.search.as_functions import BODY, file_of, function_of, in_a_file
from polysched.search.identity import code_identity
from polysched.search.limits import LIMITS
from polysched.search.space import Proposal


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A recipe with its C.

    Parameters
    ----------
    name : unique in a search.
    text : the whole file.
    code : identity of the C of the region and the flags.
    """

    name: str
    proposal: Proposal
    text: str
    code: str
    predicted_seconds: float | None = None


def emitted(scop: Scop, options: PipelineOptions, recipe: Recipe) -> Optimized:
    """The region by a recipe; one emission serves recipes that differ in flags of the compiler alone.

    Raises
    ------
    PolyschedError : a stage refuses it.
    """
    plain = replace(recipe, flags=())
    made = kept(lambda: optimize(scop, apply_recipe(options, plain)), scop, "emitted", plain.text, whole(options))
    return replace(made, options=apply_recipe(options, recipe))


def code_of(made: Optimized) -> str:
    """The identity of the C of a region, with the flags that it is compiled with."""
    source, region = made.source, made.scop.source
    original = "" if region is None else region.without_declarations or _PRAGMAS.sub(
        "", region.text[region.start:region.end])
    return code_identity(f"{source.preamble}\n{source.text}", original, made.options.flags)


_PRAGMAS = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?:end)?scop[^\n]*$", re.MULTILINE)


def file_text(made: Optimized) -> str:
    """The whole file with the region replaced; a file with one function where the program stands in none.

    Raises
    ------
    UsageError : there is no function of the program.
    """
    source = made.scop.source
    return file_of(function_of(made, name=BODY)) if source is None else splice(source.text, [made.source])


class Builder(Protocol):
    """Makes the C of recipes; in tests, one that makes none."""

    def build(self, wanted: Sequence[Wanted]) -> Sequence[Candidate | PolyschedError]:
        """The candidates, or the refusals of stages, in the order asked for."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A candidate to be made: its number in the search, and what the model predicts."""

    number: int
    proposal: Proposal
    predicted_seconds: float | None = None


@dataclass(frozen=True, eq=False)
class LocalBuilder:
    """Makes the C in this process; the program is analysed once, and each schedule is found once."""

    scop: Scop
    options: PipelineOptions
    stages: KeptStages = field(default_factory=KeptStages)

    def build(self, wanted: Sequence[Wanted]) -> Sequence[Candidate | PolyschedError]:
        """One after the other."""
        with keeping(self.stages):
            return [made_candidate(w, self.scop, self.options) for w in wanted]


class Runner(Protocol):
    """Builds and judges candidates; in tests, one that has recorded times."""

    def race(self, candidates: Sequence[Candidate], *, against: Candidate | None, pairs: int, slow_ratio: float,
             told: Callable[[Candidate, Ran], None]) -> None:
        """Build all, then judge one after the other in pairs with one of them, telling each at once.

        Parameters
        ----------
        against : with whom times are compared; the code as written where there is none.
        """


@dataclass(eq=False)
class LocalRunner:
    """Builds on all cores of this machine, then verifies and times with nothing else going on."""

    measured: Field
    built: dict[str, Binary] = field(default_factory=dict)
    reference_seconds: float | None = None
    started: dict[str, Future[Binary | Ran]] = field(default_factory=dict)
    compilers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(os.cpu_count() or 1))

    def begin(self, candidate: Candidate) -> None:
        """Compile a candidate while others are still made; `race` waits until nothing is compiled any more."""
        self.started[candidate.name] = self.compilers.submit(self._compiled, candidate)

    def _compiled(self, candidate: Candidate) -> Binary | Ran:
        flags = candidate.proposal.recipe.flags
        return self.measured.build([Version(name=candidate.name, text=candidate.text, flags=flags)], jobs=1)[0]

    def race(self, candidates: Sequence[Candidate], *, against: Candidate | None, pairs: int, slow_ratio: float,
             told: Callable[[Candidate, Ran], None]) -> None:
        """As `Runner` says."""
        self._build([*([against] if against is not None else []), *candidates], told)
        by_name = {c.name: c for c in candidates if c.name in self.built}
        limit = None if self.reference_seconds is None else max(
            LIMITS.hung_seconds, LIMITS.hung_factor * self.reference_seconds)
        reference = None if against is None or against.name not in self.built else (
            against.name, self.built[against.name])

        def tell(ran: Ran) -> None:
            if ran.pairs:
                self.reference_seconds = min(first for first, _ in ran.pairs)
            told(by_name[ran.name], ran)

        self.measured.race({name: self.built[name] for name in by_name}, against=reference, pairs=pairs,
                        slow_ratio=slow_ratio, limit_seconds=limit, told=tell)

    def _build(self, candidates: Sequence[Candidate], told: Callable[[Candidate, Ran], None]) -> None:
        missing = [c for c in candidates if c.name not in self.built]
        for candidate in missing:
            if candidate.name not in self.started:
                self.begin(candidate)
        wait(self.started.values())   # also for what turned out to have the code of another one
        for candidate in missing:
            binary = self.started[candidate.name].result()
            if isinstance(binary, Binary):
                self.built[candidate.name] = binary
            else:
                told(candidate, binary)
        self.started = {}


@contextmanager
def local_runner(scop: Scop, sizes: Mapping[str, int], options: MeasureOptions) -> Iterator[LocalRunner]:
    """A runner for the function around a region, or for a function of the program where it stands in none.

    Raises
    ------
    PolyschedError : the function cannot be called, or does not compile.
    """
    with ExitStack() as stack:
        if scop.source is None:
            scop = in_a_file(scop, stack.enter_context(workspace()))
        runner = LocalRunner(stack.enter_context(measured_field((scop,), sizes, options)))
        with runner.compilers:
            yield runner


def made_candidate(wanted: Wanted, scop: Scop, options: PipelineOptions) -> Candidate | PolyschedError:
    """The candidate of a proposal, or the refusal of a stage."""
    try:
        made = emitted(scop, options, wanted.proposal.recipe)
        return Candidate(name=f"v{wanted.number}", proposal=wanted.proposal, text=file_text(made), code=code_of(made),
                         predicted_seconds=wanted.predicted_seconds)
    except PolyschedError as error:
        return error

