"""One way through the pipeline: a scheduler with its fusion policy, and a tiling."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.expansion import expand_temporaries
from polysched.emit_c import CSource, EmitOptions, Scan, emit, guarded
from polysched.fuzz.hand_steps import random_steps
from polysched.scheduling.algorithms import ALGORITHMS
from polysched.scheduling.options import FUSION_POLICIES, SchedulerOptions
from polysched.scop.scop import Scop
from polysched.target import host
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule

Sizes: TypeAlias = int | tuple[int, ...] | Literal["auto", "off"]

TILE_SIZES: tuple[Sizes, ...] = (2, 3, (2, 3), (3, 2, 4), (4, 3, 2), "auto")
VECTOR_BITS = (0, 0, 128, 256, 512)
TEMPORARIES = ("keep", "expand", "exact")
TOLERANCE = 1e-3
"""Sums of floats that are rounded in another order; a wrong order of anything else is off by far more."""


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """A scheduler, a tiling, and the vectors of the emitted code.

    Parameters
    ----------
    scheduler : a name in `scheduling.algorithms.ALGORITHMS`.
    fusion : its fusion policy.
    sizes, nested : as in `TilingOptions`.
    vector_bits : width of explicit vectors, with register tiles; 0 for none of both.
    expand : temporaries get a copy per iteration first.
    reductions : `keep` or `exact`, as in `analyse`.
    reassociate : the emitted code may round sums of floats in another order, and is compared within TOLERANCE.
    split, concurrent_start : as in `SchedulerOptions`; parallel_degrees : as in `TilingOptions`.
    packing, guard : of the emitted code: panels of operands, and a test of the assumptions around it.
    optimised : compiled with all optimisations for this machine; else with none.
    steps : so many random legal primitives are applied to the schedule before it is tiled, by `steps_seed`.
    """

    scheduler: str
    fusion: str = "smart"
    sizes: Sizes = "off"
    nested: bool = False
    vector_bits: int = 0
    expand: bool = False
    reductions: str = "keep"
    reassociate: bool = False
    split: bool = False
    concurrent_start: int = 0
    parallel_degrees: int = 1
    packing: bool = True
    guard: bool = False
    optimised: bool = False
    steps: int = 0
    steps_seed: int = 0

    @property
    def label(self) -> str:
        """A C identifier that tells configurations apart."""
        sizes = self.sizes
        edges = sizes if isinstance(sizes, str) else "x".join(map(str, (sizes,) if isinstance(sizes, int) else sizes))
        words = [self.scheduler, "" if self.fusion == "smart" else self.fusion, edges, "nested" if self.nested else "",
                 f"v{self.vector_bits}" if self.vector_bits else "",
                 "expand" if self.expand else "", "reduce" if self.reductions == "exact" else "",
                 "reassociate" if self.reassociate else "", "split" if self.split else "",
                 "diamond" if self.concurrent_start else "",
                 f"p{self.parallel_degrees}" if self.parallel_degrees > 1 else "",
                 "" if self.packing else "unpacked", "guard" if self.guard else "",
                 f"steps{self.steps}of{self.steps_seed}" if self.steps else ""]
        return "_".join(word for word in words if word)

    @property
    def tolerance(self) -> float:
        """By how much results may differ, relative to the largest element; 0 for not at all."""
        return TOLERANCE if self.reassociate else 0.0

    def transform(self, scop: Scop, analyses: Analyses | None = None) -> TiledSchedule:
        """The Scop scheduled and tiled this way."""
        dependences = (analyses or Analyses(scop)).of(reductions=self.reductions, expand=self.expand)
        options = SchedulerOptions(fusion=self.fusion, split_index_sets=self.split,
                                   concurrent_start=self.concurrent_start)
        schedule = ALGORITHMS[self.scheduler](dependences, options=options)
        if self.steps:
            schedule = random_steps(schedule, seed=self.steps_seed, count=self.steps)
        target = replace(host(), vector_bits=self.vector_bits)
        return tile(schedule, TilingOptions(sizes=self.sizes, nested=self.nested, register=bool(self.vector_bits),
                                            parallel_degrees=self.parallel_degrees,
                                            diamond=bool(self.concurrent_start), target=target))

    def emitted(self, tiled: TiledSchedule, scanned: Scan) -> CSource:
        """The C of the transformed Scop."""
        source = emit(tiled, scanned=scanned, options=EmitOptions(
            vector_bits=self.vector_bits, packing=self.packing, reassociate=self.reassociate))
        return guarded(source) if self.guard else source


class Analyses:
    """The dependences of one program, each kind computed once."""

    def __init__(self, scop: Scop) -> None:
        self._scop = scop
        self._known: dict[tuple[str, bool], Dependences] = {}

    def of(self, *, reductions: str = "keep", expand: bool = False) -> Dependences:
        """The dependences with reductions treated this way, and with temporaries expanded."""
        if (reductions, expand) not in self._known:
            plain = self.of() if expand else analyse(self._scop, reductions=reductions)
            self._known[reductions, expand] = expand_temporaries(plain).dependences if expand else plain
        return self._known[reductions, expand]


def random_configurations(seed: int) -> tuple[Configuration, ...]:
    """The configurations that program number `seed` is tried with: every scheduler, tiled or not."""
    source = random.Random(f"configuration {seed}")

    def configuration(scheduler: str, *, tiled: float, fusion: str = "smart") -> Configuration:
        sizes: Sizes = source.choice(TILE_SIZES) if source.random() < tiled else "off"
        vector_bits = source.choice(VECTOR_BITS)
        temporaries = source.choices(TEMPORARIES, weights=(6, 3, 1))[0]
        return Configuration(
            scheduler=scheduler, fusion=fusion, sizes=sizes, nested=source.random() < 0.3, vector_bits=vector_bits,
            expand=temporaries == "expand", reductions="exact" if temporaries == "exact" else "keep",
            reassociate=source.random() < 0.1, split=source.random() < 0.1,
            concurrent_start=int(scheduler == "pluto" and source.random() < 0.15),
            parallel_degrees=source.choice((1, 1, 1, 2)), packing=source.random() < 0.8, guard=source.random() < 0.15)

    drawn = (configuration("pluto", tiled=1.0),
             configuration("pluto", tiled=0.5, fusion=source.choice(FUSION_POLICIES)),
             configuration("isl", tiled=0.5),
             configuration("original", tiled=0.5),
             configuration("feautrier", tiled=0.5),
             Configuration(scheduler=source.choice(("original", "original", "pluto")), steps=source.randint(1, 5),
                           steps_seed=seed, vector_bits=source.choice(VECTOR_BITS)))
    distinct = list({c.label: c for c in drawn}.values())
    chosen = seed % len(distinct)
    distinct[chosen] = replace(distinct[chosen], optimised=True)
    return tuple(distinct)
