"""Costs: what a machine takes for what the models count, each with its unit, its source and what measures it.

A `Target` holds one (`Target.costs`).  `polysched machine --calibrate FILE` measures those that a small program can
measure; `--machine FILE` applies them.  The values here stay the default: those of a current x86-64 machine of a few
cores.  Bytes per second of the caches, the clock and the ports stand in `Target` itself.
"""

from __future__ import annotations

from math import log2

from polysched.records import dataclass
from polysched.target.constant import constant, constants

CALIBRATE = "polysched machine --calibrate FILE"
REGISTER_BLOCKS = "experiments/blas"
TILES = "experiments/tile_model"
INSTRUCTIONS = "experiments/tensorize"
MAY_BE_NOTHING = ("team_start_seconds", "row_cycles")
"""Barriers may be all that a team costs, and the start of a row may be lost in the noise of a busy machine."""


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What things cost on a machine.

    Cycles are those of `Target.frequency_hz`, lines those of `Target.line_bytes`.
    """

    team_start_seconds: float = constant(
        5e-7, unit="s", experiment=CALIBRATE,
        source="start of a team of threads that are awake, beside its two barriers; with it --safe chooses well in 293 "
               "of 306 cases (experiments/safe, Zen 4)")
    barrier_seconds: float = constant(
        2.5e-7, unit="s", experiment=CALIBRATE, source="a barrier, per doubling of the threads; from the same records")
    team_worth: float = constant(
        8.0, unit="1",
        source="what work takes on one core over what a team costs, for threads to share it: more than two, from which "
               "on two threads gain, since a team that sleeps takes several times as long to start")
    allocation_seconds: float = constant(
        1e-6, unit="s", experiment=CALIBRATE, source="a block from the heap, whose first page is touched, and back")
    lone_team_seconds: float = constant(
        2.4e-7, unit="s",
        source="a parallel construct whose clause leaves it one thread: two of them are 470 ns of a product of 8 x 8 "
               "doubles (libgomp 12, Zen 3)")
    small_block_seconds: float = constant(
        1.3e-7, unit="s", source="a block from the heap that the program had before, and back; from the same product")
    row_cycles: float = constant(
        20, unit="cycles", experiment=CALIBRATE,
        source="start of an innermost loop: its bounds, its remainder; 10 to 15 measured for one loop alone (Zen 3)")
    vector_slowdown: float = constant(
        1.0, unit="1", experiment=CALIBRATE,
        source="issue of multiply-adds on full vectors over what the ports say; 2 where pipes are half as wide")
    memory_bytes_per_cycle: float = constant(
        4.0, unit="bytes/cycle", experiment=CALIBRATE,
        source="one core out of memory, where `Target.bandwidth_bytes_per_second` is empty")
    level_slowdown: float = constant(
        2.0, unit="1", experiment=CALIBRATE, source="bandwidth of a cache over the next one's, where not measured")
    handed_over_share: float = constant(
        0.7, unit="1", experiment=TILES,
        source="of the bandwidth of memory: what another core wrote last (27 beside 38 GB/s, two virtual cores, Zen 4)")
    run_start_slowdown: float = constant(
        1.75, unit="1", experiment=TILES,
        source="memory at the start of a run of addresses over a long run: 6.5 beside 11.4 GB/s (Zen 3)")
    run_start_bytes: int = constant(
        1365, unit="bytes", experiment=TILES,
        source="of a run until it arrives at full speed: runs of 2 and 4 KiB lose as long as those of 1 KiB (Zen 3)")
    contended_slowdown: float = constant(
        4, unit="1", experiment=TILES, source="a core served by a cache that it shares, over one alone with it")
    usable_share: float = constant(
        0.7, unit="1", experiment=TILES, source="of a cache that a tile may fill; the rest is for conflicts")
    kept_share: float = constant(
        0.5, unit="1",
        source="of a cache: what stays there from one loop nest, row or tile to the next while other data passes "
               "through; first guess")
    memory_cores: float = constant(
        1.3, unit="1", experiment=CALIBRATE,
        source="bandwidth of all cores out of memory over that of one: two ranks of jacobi-2d take 1.57 times the "
               "processor time of one (two cores, Zen 3)")
    panel_share: float = constant(
        0.9, unit="1", experiment=REGISTER_BLOCKS, source="of the first cache, for panels, which are contiguous")
    tlb_pages: int = constant(
        1024, unit="pages", source="second level of the TLB, beside other operands' (AMD and Intel since 2015: 1536)")
    first_tlb_pages: int = constant(
        64, unit="pages", source="first level of the TLB for data (Zen 3: 64, Zen 4: 72, Golden Cove: 96)")
    page_bytes: int = constant(4096, unit="bytes", source="of a page of memory, unless larger ones were asked for")
    hidden_share: float = constant(
        0.6, unit="1", experiment=REGISTER_BLOCKS,
        source="of a step's arithmetic, behind which rows of a panel come from the second cache")
    unhidden_share: float = constant(
        0.25, unit="1", experiment=REGISTER_BLOCKS, source="of the time to fetch a shared panel that threads wait for")
    packing_transfers: int = constant(
        3, unit="lines", source="moved for a line that is packed: it is read, its place is fetched and written")
    step_cycles: float = constant(
        1.5, unit="cycles", experiment=REGISTER_BLOCKS,
        source="a step of a register block beside full pipes: counter, addresses")
    unhidden_loads_share: float = constant(
        0.3, unit="1", experiment=REGISTER_BLOCKS, source="of the loads of a step that the pipes wait for")
    byte_cycles: float = constant(
        0.05, unit="cycles", experiment=REGISTER_BLOCKS,
        source="a byte from the first cache beside full pipes; breaks ties between register blocks")
    transposed_cycles: float = constant(
        1.5, unit="cycles", experiment=REGISTER_BLOCKS, source="a sum brought into lanes and back by a transposition")
    spread_cycles: float = constant(
        1.5, unit="cycles", experiment=REGISTER_BLOCKS, source="an element packed whose neighbours in lanes lie apart")
    copied_element_cycles: float = constant(
        0.25, unit="cycles", experiment=INSTRUCTIONS,
        source="an element packed for an instruction: vectors of interleaved ones, at the rate of the second cache")
    turned_element_cycles: float = constant(
        1.0, unit="cycles", experiment=INSTRUCTIONS,
        source="the same, of neighbours in the array that are none in the buffer")
    table_element_cycles: float = constant(
        4.0, unit="cycles", experiment=INSTRUCTIONS, source="the same, where the address comes out of a table")
    added_element_cycles: float = constant(
        1.0, unit="cycles", experiment=INSTRUCTIONS,
        source="a partial sum of an instruction, added to its neighbours at the end")
    cut_block_share: float = constant(
        0.5, unit="blocks", experiment=REGISTER_BLOCKS,
        source="beside its own work: the last block of an edge, computed on a copy")
    partial_block_slowdown: float = constant(
        6, unit="1", experiment=REGISTER_BLOCKS,
        source="per element, the rest of an edge over a whole block where no copy will do")
    copied_byte_cycles: float = constant(
        0.0625, unit="cycles", experiment=REGISTER_BLOCKS,
        source="a byte of a panel that is filled or cleared: 16 in a cycle, from the last cache")
    lane_operation_cycles: float = constant(
        0.025, unit="cycles",
        source="an access or operation of an iteration in vector lanes, of those with a dozen or more: a copy of "
               "32,000 floats in cache takes 4 microseconds")
    divider_bits: int = constant(
        256, unit="bits",
        source="of vectors that a core divides at once: those of 512 bits take twice the time of 256")
    ordered_sum_bits: int = constant(
        256, unit="bits",
        source="of vectors whose lanes are added in order; a sum of 100,000 doubles, each one of two, on a Sapphire "
               "Rapids: 68 us with 256 bits, 106 with 512")
    call_cycles: float = constant(
        12, unit="cycles", source="a function of the C library on scalars: the fastest of them (glibc)")
    library_operations_per_cycle: float = constant(
        16, unit="operations/cycle",
        source="of a library at best: two multiply-adds of four doubles; only ranks calls")
    unknown_statement_seconds: float = constant(
        2e-10, unit="s", source="a statement that no model knows: some instructions of a vector loop")

    def __post_init__(self) -> None:
        for cost in constants(self):
            if not (cost.value >= 0 if cost.name in MAY_BE_NOTHING else cost.value > 0):
                raise ValueError(f"{cost.name}: {cost.value!r} is no positive number")

    def team_seconds(self, threads: int) -> float:
        """Start and end of a team of threads, which are two barriers; a team of one counts as two."""
        return self.team_start_seconds + 2 * self.barrier_seconds * log2(max(2, threads))


SHIPPED = Costs()
"""Of the machines that nobody calibrated."""


@dataclass(frozen=True, kw_only=True)
class DeviceCosts:
    """What things cost on a device with many work items."""

    launch_seconds: float = constant(
        5e-6, unit="s", source="of one launch: what the vendors' guides give for small kernels, 3 to 10 microseconds")
    instance_seconds: float = constant(
        2e-8, unit="s", source="of an instance on one work item, bound by the latency of memory: some 30 cycles")
    items_together: float = constant(
        1e5, unit="work items", source="that a device runs at the same time: 2048 per core of an A100 or H100, halved")


DEVICE = DeviceCosts()
"""Of any device: nothing calibrates them."""
