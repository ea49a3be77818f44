"""One way through the pipeline: a scheduler with its fusion policy, and a tiling."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.emit_c import EmitOptions
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


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """A scheduler, a tiling, and the vectors of the emitted code.

    Parameters
    ----------
    scheduler : a name in `scheduling.algorithms.ALGORITHMS`.
    fusion : its fusion policy.
    sizes, nested : as in `TilingOptions`.
    vector_bits : width of explicit vectors, with register tiles; 0 for none of both.
    optimised : compiled with all optimisations for this machine; else with none.
    steps : so many random legal primitives are applied to the schedule before it is tiled, by `steps_seed`.
    """

    scheduler: str
    fusion: str = "smart"
    sizes: Sizes = "off"
    nested: bool = False
    vector_bits: int = 0
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
                 f"steps{self.steps}of{self.steps_seed}" if self.steps else ""]
        return "_".join(word for word in words if word)

    def transform(self, scop: Scop, dependences: Dependences | None = None) -> TiledSchedule:
        """The Scop scheduled and tiled this way."""
        options = SchedulerOptions(fusion=self.fusion)
        schedule = ALGORITHMS[self.scheduler](dependences or analyse(scop), options=options)
        if self.steps:
            schedule = random_steps(schedule, seed=self.steps_seed, count=self.steps)
        target = replace(host(), vector_bits=self.vector_bits)
        return tile(schedule, TilingOptions(sizes=self.sizes, nested=self.nested, register=bool(self.vector_bits),
                                            target=target))

    def emit_options(self) -> EmitOptions:
        """How the C is to be printed."""
        return EmitOptions(vector_bits=self.vector_bits)


def random_configurations(seed: int) -> tuple[Configuration, ...]:
    """The configurations that program number `seed` is tried with: every scheduler, tiled or not."""
    source = random.Random(f"configuration {seed}")

    def configuration(scheduler: str, *, tiled: float, fusion: str = "smart") -> Configuration:
        sizes: Sizes = source.choice(TILE_SIZES) if source.random() < tiled else "off"
        return Configuration(scheduler=scheduler, fusion=fusion, sizes=sizes, nested=source.random() < 0.3,
                             vector_bits=source.choice(VECTOR_BITS))

    drawn = (configuration("pluto", tiled=1.0),
             configuration("pluto", tiled=0.5, fusion=source.choice(FUSION_POLICIES)),
             configuration("isl", tiled=0.5),
             configuration("original", tiled=0.5),
             configuration("feautrier", tiled=0.5),
             Configuration(scheduler=source.choice(("original", "original", "pluto")), steps=source.randint(1, 5),
                           steps_seed=seed))
    distinct = list({c.label: c for c in drawn}.values())
    chosen = seed % len(distinct)
    distinct[chosen] = replace(distinct[chosen], optimised=True)
    return tuple(distinct)
