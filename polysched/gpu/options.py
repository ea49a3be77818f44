"""What a user can choose about the mapping to a device."""

from __future__ import annotations

from dataclasses import dataclass

from polysched.errors import UsageError
from polysched.gpu.limits import LIMITS

BLOCKS = {1: (LIMITS.block_1d,), 2: (LIMITS.block_2d_x, LIMITS.block_2d_y),
          3: (LIMITS.block_2d_x, LIMITS.block_3d_y, LIMITS.block_3d_z)}
"""Work items of a block per dimension of the index space, by the number of dimensions."""


@dataclass(frozen=True, kw_only=True)
class GpuOptions:
    """What a user can choose about the mapping to a device.

    Parameters
    ----------
    block : work items of a block per dimension, fastest first; those of `BLOCKS` unless given.
    shared : stage in shared memory what a block reads again and again.

    Raises
    ------
    UsageError : an edge below 1, or more than three of them.
    """

    block: tuple[int, ...] = ()
    shared: bool = True

    def __post_init__(self) -> None:
        if len(self.block) > LIMITS.most_coordinates or any(edge < 1 for edge in self.block):
            raise UsageError(f"a block cannot be {'x'.join(map(str, self.block))}",
                             hint="one to three edges of at least 1, fastest first, for instance 32,8")

    def block_of(self, dimensions: int) -> tuple[int, ...]:
        """The edges of a block of so many dimensions; those that are not given are 1."""
        if not dimensions:
            return ()
        if not self.block:
            return BLOCKS[dimensions]
        return (*self.block[:dimensions], *(1,) * (dimensions - len(self.block)))
