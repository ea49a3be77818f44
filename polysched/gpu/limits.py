"""The limits of this room: sizes that steer how loops are mapped to a device."""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class GpuLimits:
    """By the module that asks for them."""

    # options.py
    block_1d: int = constant(
        256, unit="work items", source="of a block of one dimension, and of a team that reduces together: the "
                                      "most that every OpenCL GPU runs in a block")
    block_2d_x: int = constant(
        32, unit="work items", source="along the first dimension: a warp, whose neighbours share lines of memory")
    block_2d_y: int = constant(8, unit="work items", source="along the second dimension of two: 256 in all")
    block_3d_y: int = constant(4, unit="work items", source="along the second dimension of three: 256 in all")
    block_3d_z: int = constant(2, unit="work items", source="along the third dimension: 256 in all")
    most_coordinates: int = constant(3, unit="dimensions", source="that an index space has; OpenCL 1.2, section 3.2")

    most_points: int = constant(
        64, unit="points", source="of a work item: 8 x 8 results of a product with their operands fill half of the 255 "
                                  "registers that a thread of a GPU has")

    most_iterations: int = constant(
        1024, unit="iterations", source="of a loop of the host in one launch: diamonds are as wide at least")

    # blocks.py
    points_along: int = constant(
        8, unit="points", source="along one coordinate that the model weighs: a product reads 2 / 8 operands a step")
    fixed_registers: int = constant(
        32, unit="registers", source="of a work item for addresses and bounds: a kernel of one statement has as many")
    most_registers: int = constant(
        255, unit="registers", source="of a thread; CUDA C++ Programming Guide, Technical Specifications")
    least_gain: float = constant(
        0.01, unit="1", source="of the expected time that other sizes of a block have to spare: the model rounds more")

    # points.py
    points_operations: int = constant(
        16_000_000, unit="isl operations", source="to weigh the sizes of one kernel, some 50 of them; beyond, it "
                                                  "has the usual ones")

    # shares.py
    most_shares: int = constant(
        256, unit="blocks", source="that reduce together: as many as the items of the team that combines their parts")

    # time_tiles.py
    most_slope: int = constant(
        4, unit="elements", source="of a coordinate that a dependence crosses in a step: beyond, diamonds are flat")
    time_tile_x: int = constant(
        64, unit="elements", source="of a tile in a block along the fastest coordinate: two warps read whole lines")
    time_tile_y: int = constant(8, unit="elements", source="the same along any other: 512 with the fastest")
    time_tile_operations: int = constant(
        4_000_000, unit="isl operations", source="to find the slopes of one loop of the host; beyond, it stays")

    # tensor_cores.py
    tensor_edge: int = constant(
        64, unit="results", source="along both sides of a block with tensor cores: eight warps have 32 x 16 each, "
                                   "whose sums take 16 of the 255 registers of a thread")
    warpgroup_edge: int = constant(
        128, unit="results", source="the same with WGMMA: two groups of four warps have 64 x 128 each, "
                                    "whose sums take 64 registers of a thread")
    warpgroup: int = constant(
        4, unit="warps", source="that execute WGMMA together; PTX ISA, Asynchronous Warpgroup Level Matrix "
                                "Instructions")
    tensor_row_bytes: int = constant(
        64, unit="bytes", source="of a row of an operand in shared memory: half of a line, and a multiple of the sums "
                                 "of each instruction")
    tensor_row_padding: int = constant(
        16, unit="bytes", source="behind such a row: rows of 64 bytes are then 80 apart, and the eight rows of 16 "
                                 "bytes that a warp reads lie in 32 banks")
    loaded_row_padding: int = constant(
        32, unit="bytes", source="the same for WMMA, whose rows begin at multiples of the largest fragment; PTX ISA, "
                                 "9.7.14.4.2")
    warp_items: int = constant(
        32, unit="work items", source="of a warp, which run in step: they exchange variables, and tensor cores take "
                                     "them together; PTX ISA, SIMT Architecture")
    tensor_operations: int = constant(
        4_000_000, unit="isl operations", source="to tell which phases are products; beyond, none is")

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

    # scratchpad/groups.py
    most_cut_nests: int = constant(
        5, unit="loop nests", source="in a row of which every way to share tiles is tried: 16 of them")

    # scratchpad/choice.py
    most_candidates: int = constant(
        200, unit="tiles", source="of a group that the model weighs; beyond, every other edge is left out")
    simulated: int = constant(
        6, unit="tiles", source="the best of them by the model, which are simulated")
    least_edge: int = constant(16, unit="iterations", source="of a tile of a cube: its own edge on both targets")

    # scratchpad/planner.py
    widest_block: int = constant(
        128, unit="iterations", source="rows or columns of a block in front of a cube: L0A and L0B of DaVinci hold two "
                                       "of 128x128 in half precision")

    # scratchpad/placement.py
    packing_seconds: float = constant(
        10.0, unit="s", source="of CP-SAT's own time, for an exact packing of one memory")

    # scratchpad/simulation.py
    most_instructions: int = constant(
        400_000, unit="instructions", source="that are simulated, in about 10 s; beyond, the program is refused")

    # scratchpad/chart.py
    most_bars: int = constant(
        4000, unit="instructions", source="in a chart; browsers show as many rectangles at once")


LIMITS = GpuLimits()
