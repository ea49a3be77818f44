"""One way through the pipeline: a scheduler with its fusion policy, and a tiling."""

from __future__ import annotations

import random
from dataclasses import dataclass

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.scheduling.algorithms import ALGORITHMS
from polysched.scheduling.options import FUSION_POLICIES, SchedulerOptions
from polysched.scop.scop import Scop
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule

UNTILED = TilingOptions(sizes="off")
TILE_SIZES = (2, 3, (2, 3), (3, 2, 4), (4, 3, 2))


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """A scheduler and a tiling.

    Parameters
    ----------
    scheduler : a name in `scheduling.algorithms.ALGORITHMS`.
    fusion : its fusion policy.
    tiling : sizes and everything else about tiling.
    """

    scheduler: str
    fusion: str = "smart"
    tiling: TilingOptions = UNTILED

    @property
    def label(self) -> str:
        """A C identifier that tells configurations apart."""
        sizes = self.tiling.sizes
        edges = sizes if isinstance(sizes, str) else "x".join(map(str, (sizes,) if isinstance(sizes, int) else sizes))
        fusion = "" if self.fusion == "smart" else f"_{self.fusion}"
        return f"{self.scheduler}{fusion}_{edges}{'_nested' if self.tiling.nested else ''}"

    def transform(self, scop: Scop, dependences: Dependences | None = None) -> TiledSchedule:
        """The Scop scheduled and tiled this way."""
        options = SchedulerOptions(fusion=self.fusion)
        schedule = ALGORITHMS[self.scheduler](dependences or analyse(scop), options=options)
        return tile(schedule, self.tiling)


def random_configurations(seed: int) -> tuple[Configuration, ...]:
    """The configurations that program number `seed` is tried with: every scheduler, tiled or not."""
    source = random.Random(f"configuration {seed}")
    tiled = [TilingOptions(sizes=source.choice(TILE_SIZES), nested=source.random() < 0.3) for _ in range(3)]
    fusion = source.choice(FUSION_POLICIES)
    return (Configuration(scheduler="pluto", tiling=tiled[0]),
            Configuration(scheduler="pluto", tiling=UNTILED) if fusion == "smart" else
            Configuration(scheduler="pluto", fusion=fusion, tiling=source.choice((tiled[1], UNTILED))),
            Configuration(scheduler="isl", tiling=source.choice((tiled[1], UNTILED))),
            Configuration(scheduler="original", tiling=source.choice((tiled[2], UNTILED))),
            Configuration(scheduler="feautrier", tiling=source.choice((tiled[2], UNTILED))))
