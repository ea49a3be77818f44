"""What a user can choose about the mapping to a device."""

from __future__ import annotations

from math import prod

from polysched.errors import UsageError
from polysched.gpu.limits import LIMITS
from polysched.records import dataclass
from polysched.target.gpus import find_gpus

BLOCKS = {1: (LIMITS.block_1d,), 2: (LIMITS.block_2d_x, LIMITS.block_2d_y),
          3: (LIMITS.block_2d_x, LIMITS.block_3d_y, LIMITS.block_3d_z)}
"""Work items of a block per dimension of the index space, by the number of dimensions."""

MMA, WMMA, WGMMA = "mma", "wmma", "wgmma"
TENSOR_INSTRUCTIONS = (MMA, WMMA, WGMMA)
"""Instructions of tensor cores: fragments that each lane fills by itself, or that instructions load and store, or
operands that four warps multiply where they lie in shared memory (sm_90)."""

TENSOR_KINDS = ("int8", "float16", "bfloat16", "tf32")
"""Operands of products that tensor cores may compute: integers exactly; 16-bit floats with sums of float in another
order; with tf32 float operands lose 13 bits."""


@dataclass(frozen=True, kw_only=True)
class GpuOptions:
    """What a user can choose about the mapping to a device.

    Parameters
    ----------
    devices : names of `target.gpus.GPUS` whose models choose what is not given; those of the language unless given.
    block : work items of a block per dimension, fastest first; chosen by the models unless given.
    points : values of each coordinate that a work item has, fastest first; chosen by the model unless given.
    shares : blocks that reduce together for one value, where a team reduces; chosen unless given.
    reassociate : sums and products of floats may run in another order, which rounds differently.
    time_tile : iterations of a loop of the host that one launch runs, where diamonds are legal; 0 for a launch each.
    tensor_cores : of `TENSOR_KINDS`, which products run on tensor cores (CUDA, sm_80 or later).
    tensor_instruction : of `TENSOR_INSTRUCTIONS`, the one that computes these products.
    shared : stage in shared memory what a block reads again and again.

    Raises
    ------
    UsageError : an edge or a number of points below 1, more than three of them, or too many points; an unknown device.
    """

    devices: tuple[str, ...] = ()
    block: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    shares: int = 0
    time_tile: int = 0
    tensor_cores: tuple[str, ...] = ()
    tensor_instruction: str = MMA
    shared: bool = True
    reassociate: bool = False

    def __post_init__(self) -> None:
        find_gpus(self.devices)
        if len(self.block) > LIMITS.most_coordinates or any(edge < 1 for edge in self.block):
            raise UsageError(f"a block cannot be {'x'.join(map(str, self.block))}",
                             hint="one to three edges of at least 1, fastest first, for instance 32,8")

        if len(self.points) > LIMITS.most_coordinates or any(count < 1 for count in self.points):
            raise UsageError(f"a work item cannot have {'x'.join(map(str, self.points))} points",
                             hint="one to three numbers of at least 1, fastest dimension first, for instance 4,8")
        if prod(self.points) > LIMITS.most_points:
            raise UsageError(f"a work item cannot have {prod(self.points)} points",
                             hint=f"at most {LIMITS.most_points}: each is a copy of the code and takes registers")

        if unknown := sorted(set(self.tensor_cores) - set(TENSOR_KINDS)):
            raise UsageError(f"tensor cores have no products of {unknown[0]}", hint=f"one of {', '.join(TENSOR_KINDS)}")
        if self.tensor_instruction not in TENSOR_INSTRUCTIONS:
            raise UsageError(f"tensor cores have no instruction {self.tensor_instruction}",
                             hint=f"one of {', '.join(TENSOR_INSTRUCTIONS)}")
        if self.tensor_instruction != MMA and not self.tensor_cores:
            raise UsageError(f"{self.tensor_instruction} computes no products that are not named",
                             hint=f"name their operands as tensor cores': {', '.join(TENSOR_KINDS)}")
        if not 0 <= self.time_tile <= LIMITS.most_iterations:
            raise UsageError(f"a launch cannot run {self.time_tile} iterations",
                             hint=f"1 to {LIMITS.most_iterations}, or 0 for a launch per iteration")
        if not 0 <= self.shares <= LIMITS.most_shares:
            raise UsageError(f"{self.shares} blocks cannot reduce together",
                             hint=f"1 to {LIMITS.most_shares}, or 0 to let the model choose")

    def block_of(self, dimensions: int) -> tuple[int, ...]:
        """The edges of a block of so many dimensions; those that are not given are 1."""
        if not dimensions:
            return ()
        if not self.block:
            return BLOCKS[dimensions]
        return (*self.block[:dimensions], *(1,) * (dimensions - len(self.block)))

    def points_of(self, dimensions: int) -> tuple[int, ...]:
        """The points of a work item along so many dimensions, as asked for; empty for one."""
        found = (*self.points[:dimensions], *(1,) * (dimensions - len(self.points)))
        return found if prod(found) > 1 else ()
