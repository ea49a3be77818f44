"""What a user can choose about the mapping to a device."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from polysched.errors import UsageError
from polysched.gpu.limits import LIMITS
from polysched.target.one_line import OneLine

BLOCKS = {1: (LIMITS.block_1d,), 2: (LIMITS.block_2d_x, LIMITS.block_2d_y),
          3: (LIMITS.block_2d_x, LIMITS.block_3d_y, LIMITS.block_3d_z)}
"""Work items of a block per dimension of the index space, by the number of dimensions."""


@dataclass(frozen=True, kw_only=True)
class GpuOptions(OneLine):
    """What a user can choose about the mapping to a device.

    Parameters
    ----------
    block : work items of a block per dimension, fastest first; those of `BLOCKS` unless given.
    points : values of each coordinate that a work item has, fastest first; chosen by the model unless given.
    shares : blocks that reduce together for one value, where a team reduces; chosen unless given.
    reassociate : sums and products of floats may run in another order, which rounds differently.
    shared : stage in shared memory what a block reads again and again.

    Raises
    ------
    UsageError : an edge or a number of points below 1, more than three of them, or too many points.
    """

    block: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    shares: int = 0
    shared: bool = True
    reassociate: bool = False

    def __post_init__(self) -> None:
        if len(self.block) > LIMITS.most_coordinates or any(edge < 1 for edge in self.block):
            raise UsageError(f"a block cannot be {'x'.join(map(str, self.block))}",
                             hint="one to three edges of at least 1, fastest first, for instance 32,8")

        if len(self.points) > LIMITS.most_coordinates or any(count < 1 for count in self.points):
            raise UsageError(f"a work item cannot have {'x'.join(map(str, self.points))} points",
                             hint="one to three numbers of at least 1, fastest dimension first, for instance 4,8")
        if prod(self.points) > LIMITS.most_points:
            raise UsageError(f"a work item cannot have {prod(self.points)} points",
                             hint=f"at most {LIMITS.most_points}: each is a copy of the code and takes registers")

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
