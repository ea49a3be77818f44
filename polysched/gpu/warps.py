"""What the work items of a warp do together: sectors of global memory, banks of shared memory, lanes without work.

Source: CUDA C++ Programming Guide, Device Memory Accesses and Shared Memory; CUDA C++ Best Practices Guide, section
"Coalesced Access to Global Memory".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import ceil, prod

import islpy as isl
import numpy as np

from polysched.gpu.coalescing import distances_along, step_of, stride_along
from polysched.gpu.known import Known
from polysched.gpu.mapping import Launch, Phase
from polysched.records import dataclass
from polysched.scop.scop import Access, Statement
from polysched.target.gpus import Gpu
from polysched.tiling.footprints.nest import extent_along


@dataclass(frozen=True, eq=False, kw_only=True)
class Warp:
    """A full warp.

    Parameters
    ----------
    gpu : that runs it.
    functions : whose values tell its lanes apart, fastest first.
    lanes : neighbouring values of each that it has.
    known : of the launch.
    """

    gpu: Gpu
    functions: tuple[isl.UnionPwAff, ...]
    lanes: tuple[int, ...]
    known: Known = field(default_factory=Known)

    @property
    def items(self) -> int:
        """Lanes that have a work item."""
        return prod(self.lanes)

    def sectors(self, statement: Statement, access: Access, element_bytes: int) -> int:
        """Sectors of global memory that hold what its lanes touch at an access."""
        spread, apart, distinct = 1, 1, 1
        for k, count in self._several():
            step = known_step(self.known, statement, self.functions, k)
            stride = None if step is None else known_stride(self.known, access, step)
            if stride is None:
                apart *= count
            elif stride:
                distinct *= count
                spread += abs(stride) * (count - 1)
        return apart * min(distinct, ceil(spread * element_bytes / self.gpu.sector_bytes))

    def conflicts(self, statement: Statement, access: Access, extents: Sequence[int], element_bytes: int) -> float:
        """How often banks of shared memory are asked, over how often they would be if each had as much to do.

        Parameters
        ----------
        extents : of the box in shared memory, whose rows follow one another.
        """
        places = np.zeros(1, dtype=np.int64)
        for k, count in self._several():
            step = known_step(self.known, statement, self.functions, k)
            distances = None if step is None else self._distances(access, step)
            if distances is None:
                return 1.0
            apart = sum(own * prod(extents[d + 1:]) for d, own in enumerate(distances))
            places = np.add.outer(places, apart * np.arange(count)).reshape(-1)
        words = np.add.outer(places * element_bytes, np.arange(0, element_bytes, self.gpu.bank_bytes))
        distinct = np.unique(words.reshape(-1) // self.gpu.bank_bytes)
        return int(np.bincount(distinct % self.gpu.banks).max()) / ceil(len(distinct) / self.gpu.banks)

    def issued(self, domain: isl.UnionSet, sizes: Mapping[str, int]) -> float:
        """Lanes of all warps, over those that have an instance: a row of 5 takes 32 lanes of a warp along it."""
        extents = [(count, known_extent(self.known, domain, self.functions[k], sizes)) for k, count in self._several()]
        return prod(ceil(extent / count) * count / extent for count, extent in extents if extent)

    def _distances(self, access: Access, step: tuple[int, ...]) -> tuple[int, ...] | None:
        return self.known.once(("distances", access, step), lambda: distances_along(access, step))

    def _several(self) -> list[tuple[int, int]]:
        return [(k, count) for k, count in enumerate(self.lanes) if count > 1]


def known_step(known: Known, statement: Statement, functions: tuple[isl.UnionPwAff, ...], which: int
               ) -> tuple[int, ...] | None:
    """As `step_of`, once."""
    return known.once(("step", statement, functions, which), lambda: step_of(statement, functions, which))


def known_stride(known: Known, access: Access, step: tuple[int, ...]) -> int | None:
    """As `stride_along`, once."""
    return known.once(("stride", access, step), lambda: stride_along(access, step))


def known_extent(known: Known, domain: isl.UnionSet, function: isl.UnionPwAff, sizes: Mapping[str, int]) -> int:
    """As `extent_along`, once."""
    return known.once(("extent", domain, function), lambda: extent_along(domain, function, sizes))


def warp_of(launch: Launch, phase: Phase, gpu: Gpu, known: Known | None = None) -> Warp:
    """The first warp of a block."""
    known = known or Known()
    if launch.tiles is not None:
        return Warp(gpu=gpu, functions=launch.tiles.dealt, lanes=(gpu.warp, *(1,) * (len(launch.tiles.dealt) - 1)),
                    known=known)
    if phase.reduces is not None and phase.step is not None:
        return Warp(gpu=gpu, functions=(phase.step, *launch.coordinates),
                    lanes=(gpu.warp, *(1,) * len(launch.coordinates)), known=known)
    left, lanes = gpu.warp, []
    for edge in launch.block:
        lanes.append(min(edge, left))
        left = max(left // lanes[-1], 1)
    return Warp(gpu=gpu, functions=launch.coordinates, lanes=tuple(lanes), known=known)
