"""One way through the pipeline: a scheduler with its fusion policy, a tiling, and a form of the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Literal, TypeAlias

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.expansion import expand_temporaries
from polysched.emit_c import EmitOptions, Scan, emit, guarded, splice
from polysched.errors import BudgetExceededError
from polysched.fuzz.hand_steps import random_steps
from polysched.fuzz.random_strategy import random_strategy
from polysched.measure.programs.instance_trace import traced_function
from polysched.pipeline import scanned_with_fallbacks
from polysched.pipeline.options import BEST, PipelineOptions
from polysched.records import dataclass
from polysched.scheduling import ALGORITHMS, by_strategy
from polysched.scheduling.options import SchedulerOptions
from polysched.scop.budget import in_words, with_budget
from polysched.scop.scop import Scop
from polysched.search.clients.best_schedule import best
from polysched.search.lookup import optimize
from polysched.target import Target
from polysched.tensorize.options import TensorizeOptions
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule

Sizes: TypeAlias = int | tuple[int, ...] | Literal["auto", "off"]

STRATEGY = "strategy"
TOLERANCE = 1e-3
"""Sums of floats that are rounded in another order; a wrong order of anything else is off by far more."""
INSTRUCTION_SIZES = {"n": 37, "m": 41}
"""The code of an instruction is made for these; a call at other sizes takes the ordinary code."""
ANALYSIS_ISL_OPERATIONS = 400_000
"""Per kind of dependence; one that needs more is memory-based, as for large programs with the usual budget."""
MOST_ISL_OPERATIONS = 1_500_000
"""Of every other computation: what needs more takes the ladder's next rung, or the configuration is given up."""
MOST_SECONDS = 30.0
SOLVER_SECONDS = 1.0
COMPUTED = re.compile(r"/\* (\w+ by \w+)")
"""What emitted code says in front of an instruction."""


class Build(Enum):
    """How a version is compiled."""

    PLAIN = "gcc -O0"
    O2 = "gcc -O2"
    O3 = "gcc -O3 -march=native"
    CLANG = "clang -O2 -march=native"


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """A scheduler, a tiling, and the vectors of the emitted code.

    Parameters
    ----------
    scheduler : a name in `scheduling.algorithms.ALGORITHMS`, `best`, or `strategy` for a random one.
    fusion : its fusion policy.
    strategy_seed : number of the random strategy.
    sizes, outer_sizes, order, point_order, nested, parallel : as in `TilingOptions`.
    vector_bits : width of explicit vectors, with register tiles; 0 for none of both.
    expand : temporaries get a copy per iteration first.
    reductions : `keep` or `exact`, as in `analyse`.
    reassociate : the emitted code may round sums of floats in another order, and is compared within TOLERANCE.
    split, concurrent_start : as in `SchedulerOptions`; parallel_degrees : as in `TilingOptions`.
    packing, guard : of the emitted code: panels of operands, and a test of the assumptions around it.
    safe : the original code stays, for calls with little to do.
    intrinsic : computes statements where it matches, as in `TensorizeOptions`; none when empty. Emulated where this
        machine does not execute it.
    build : how the emitted code is compiled.
    steps : so many random legal primitives are applied to the schedule before it is tiled, by `steps_seed`.
    """

    scheduler: str
    fusion: str = "smart"
    strategy_seed: int = 0
    sizes: Sizes = "off"
    outer_sizes: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    point_order: tuple[int, ...] = ()
    nested: bool = False
    parallel: bool = True
    vector_bits: int = 0
    expand: bool = False
    reductions: str = "keep"
    reassociate: bool = False
    split: bool = False
    concurrent_start: int = 0
    parallel_degrees: int = 1
    packing: bool = True
    guard: bool = False
    safe: bool = False
    intrinsic: str = ""
    build: Build = Build.PLAIN
    steps: int = 0
    steps_seed: int = 0

    @property
    def label(self) -> str:
        """A C identifier that tells configurations apart."""
        words: tuple[tuple[str, object], ...] = (
            (self.scheduler, True), (str(self.strategy_seed), self.scheduler == STRATEGY),
            (self.fusion, self.fusion != "smart"), (_edges(self.sizes), True),
            (f"in{_edges(self.outer_sizes)}", self.outer_sizes), (_order("o", self.order), self.order),
            (_order("i", self.point_order), self.point_order), ("nested", self.nested), ("serial", not self.parallel),
            (f"v{self.vector_bits}", self.vector_bits), ("expand", self.expand),
            ("reduce", self.reductions == "exact"), ("reassociate", self.reassociate), ("split", self.split),
            ("diamond" * self.concurrent_start, self.concurrent_start),
            (f"p{self.parallel_degrees}", self.parallel_degrees > 1), ("unpacked", not self.packing),
            ("guard", self.guard), ("safe", self.safe), (f"with_{self.intrinsic}", self.intrinsic),
            (f"steps{self.steps}of{self.steps_seed}", self.steps))
        return "_".join(word for word, said in words if said)

    @property
    def tolerance(self) -> float:
        """By how much results may differ, relative to the largest element; 0 for not at all."""
        return TOLERANCE if self.reassociate or self.intrinsic else 0.0

    def kinds(self) -> Iterator[str]:
        """What is drawn here, for the counts of a campaign."""
        yield f"scheduler {self.scheduler}"
        yield f"fusion {self.fusion}"
        yield f"compiled with {self.build.value}"
        sizes = "given per loop" if isinstance(self.sizes, tuple) else self.sizes
        yield f"tile sizes {'one for all loops' if isinstance(sizes, int) else sizes}"
        yield f"vectors of {self.vector_bits} bits" if self.vector_bits else "no vectors"
        if self.parallel_degrees > 1:
            yield f"{self.parallel_degrees} parallel degrees"
        drawn = {"two levels of tiles": self.outer_sizes, "orders of tiles": self.order,
                 "orders inside tiles": self.point_order, "nested tiles": self.nested, "serial": not self.parallel,
                 "expanded temporaries": self.expand, "relaxed reductions": self.reductions == "exact",
                 "reassociated sums": self.reassociate, "index-set splitting": self.split,
                 "diamonds": self.concurrent_start, "no packing": not self.packing, "guards": self.guard,
                 "safe": self.safe, "instruction auto": self.intrinsic == "auto",
                 "instruction by name": self.intrinsic not in ("", "auto"), "random primitives": self.steps}
        yield from (name for name, value in drawn.items() if value)

    def make(self, scop: Scop, text: str, analyses: Analyses | None = None, *,
             operations: int = MOST_ISL_OPERATIONS) -> Made:
        """The program transformed this way.

        Parameters
        ----------
        text : the C file that the Scop comes from.
        operations : of isl, all stages together.

        Raises
        ------
        PolyschedError : a stage refuses; BudgetExceededError when the operations are not enough for one.
        """
        made = with_budget(operations, lambda: self._make(scop, text, analyses or Analyses(scop)), seconds=MOST_SECONDS)
        if made is None:
            raise BudgetExceededError(f"the configuration needs more than {in_words(operations, MOST_SECONDS)}",
                                      where=scop.name)
        return made

    def _make(self, scop: Scop, text: str, analyses: Analyses) -> Made:
        if self.intrinsic or self.safe:
            optimized = optimize(scop, self.pipeline_options(), alone=False)
            tiled, source = optimized.tiled, optimized.source
            scanned: Scan | None = None
            instructions = tuple(COMPUTED.findall(source.text))
        else:
            tiled, scanned = scanned_with_fallbacks(self.transform(scop, analyses))
            source = emit(tiled, scanned=scanned, options=EmitOptions(
                openmp=self.parallel, vector_bits=self.vector_bits, packing=self.packing, reassociate=self.reassociate))
            source, instructions = guarded(source, scop) if self.guard else source, ()
        return Made(tiled=tiled, text=splice(text, [source]),
                    traced=traced_function(tiled, name="traced", scanned=scanned), instructions=instructions)

    def transform(self, scop: Scop, analyses: Analyses | None = None) -> TiledSchedule:
        """The Scop scheduled and tiled this way."""
        dependences = (analyses or Analyses(scop)).of(reductions=self.reductions, expand=self.expand)
        options, tiling = self.scheduler_options(), self.tiling_options()
        if self.scheduler == BEST:
            return best(dependences, options=options, tiling=tiling)
        if self.scheduler == STRATEGY:
            schedule = by_strategy(dependences, random_strategy(dependences.scop, self.strategy_seed), options=options)
        else:
            schedule = ALGORITHMS[self.scheduler](dependences, options=options)
        if self.steps:
            schedule = random_steps(schedule, seed=self.steps_seed, count=self.steps)
        return tile(schedule, tiling, alone=False)   # numbers at random, for whatever bands there are

    def scheduler_options(self) -> SchedulerOptions:
        return SchedulerOptions(fusion=self.fusion, split_index_sets=self.split, solver_seconds=SOLVER_SECONDS,
                                concurrent_start=self.concurrent_start)

    def tiling_options(self) -> TilingOptions:
        return TilingOptions(sizes=self.sizes, outer_sizes=self.outer_sizes, order=self.order,
                             point_order=self.point_order, nested=self.nested, parallel=self.parallel,
                             register=bool(self.vector_bits), parallel_degrees=self.parallel_degrees,
                             diamond=bool(self.concurrent_start), target=machine(self.vector_bits))

    def pipeline_options(self) -> PipelineOptions:
        """The same for the whole pipeline, which has no names for some of it."""
        tensorize = TensorizeOptions(intrinsic=self.intrinsic, sizes=INSTRUCTION_SIZES) if self.intrinsic else None
        return PipelineOptions(
            scheduler=self.scheduler, fusion=self.fusion, split_index_sets=self.split, tile=self.sizes,
            concurrent_start=self.concurrent_start, parallel=self.parallel, parallel_degrees=self.parallel_degrees,
            vector_bits=self.vector_bits, expand=self.expand, reassociate=self.reassociate, guard=self.guard,
            safe=self.safe, tensorize=tensorize)


def machine(vector_bits: int) -> Target:
    """The machine that random programs are made for: the same everywhere, so that a seed gives the same code."""
    return Target(cores=2).with_vectors(vector_bits)


def _order(word: str, order: tuple[int, ...]) -> str:
    return word + "".join(map(str, order))


def _edges(sizes: Sizes) -> str:
    """One for all loops as `3`, of one loop as `3x`, of two as `3x4`."""
    if isinstance(sizes, tuple):
        return "x".join(map(str, sizes)) + ("x" if len(sizes) == 1 else "")
    return str(sizes)


@dataclass(frozen=True, eq=False, kw_only=True)
class Made:
    """What a configuration made of a program.

    Parameters
    ----------
    text : the C file with the region replaced.
    traced : the function that reports the instances.
    instructions : which instruction computes which statement (`S0 by vpdpbusd`).
    """

    tiled: TiledSchedule
    text: str
    traced: str
    instructions: tuple[str, ...] = ()

    def kinds(self) -> Iterator[str]:
        """What came of it, for the counts of a campaign."""
        yield from (f"applied {step.NAME}" for step in self.tiled.schedule.steps)
        if self.instructions:
            yield "computed by an instruction"


class Analyses:
    """The dependences of one program, each kind computed once."""

    def __init__(self, scop: Scop) -> None:
        self._scop = scop
        self._known: dict[tuple[str, bool], Dependences] = {}

    def of(self, *, reductions: str = "keep", expand: bool = False) -> Dependences:
        """The dependences with reductions treated this way, and with temporaries expanded."""
        if (reductions, expand) not in self._known:
            plain = self.of() if expand else analyse(self._scop, reductions=reductions,
                                                     isl_operations=ANALYSIS_ISL_OPERATIONS)
            self._known[reductions, expand] = expand_temporaries(plain).dependences if expand else plain
        return self._known[reductions, expand]
