"""The limits of this room: sizes that steer how loops are mapped to a device."""

from __future__ import annotations

from dataclasses import dataclass

from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class GpuLimits:
    """By the module that asks for them."""

    # options.py
    block_1d: int = constant(
        256, unit="work items", source="of a block of one dimension: the most that every OpenCL GPU runs together")
    block_2d_x: int = constant(
        32, unit="work items", source="along the first dimension: a warp, whose neighbours share lines of memory")
    block_2d_y: int = constant(8, unit="work items", source="along the second dimension of two: 256 in all")
    block_3d_y: int = constant(4, unit="work items", source="along the second dimension of three: 256 in all")
    block_3d_z: int = constant(2, unit="work items", source="along the third dimension: 256 in all")
    most_coordinates: int = constant(3, unit="dimensions", source="that an index space has; OpenCL 1.2, section 3.2")

    # staging.py
    staged_steps: int = constant(32, unit="steps", source="of a tile in shared memory: a warp reads whole lines")
    least_steps: int = constant(4, unit="steps", source="of a tile: below, barriers cost more than reads")
    least_reuse: int = constant(4, unit="reads per element", source="of what is staged; caches serve fewer")
    shared_bytes: int = constant(32768, unit="bytes", source="every device has as many; OpenCL 1.2, section 4.2")
    staging_operations: int = constant(
        2_000_000, unit="isl operations", source="to tell what a block reads again; beyond, nothing is staged")

    # transfers.py
    transfer_operations: int = constant(
        2_000_000, unit="isl operations", source="to tell which rows of an array are live; beyond, all of them are")


LIMITS = GpuLimits()
