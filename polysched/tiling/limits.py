"""The limits of this room: budgets of searches and proofs, and sizes from which on a choice pays.

What a machine takes for something stands in `polysched.target.costs`.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class TilingLimits:
    """By the module that asks for them."""

    # footprints/bound_formula.py
    most_projections: int = constant(6, unit="projections", source="of a statement; the subspaces of more are too many")
    largest_weight_denominator: int = constant(
        64, unit="1", source="the weights of projections are fractions of subspaces' dimensions, which are small")
    large_size: int = constant(
        10**7, unit="elements", source="a size that is large beside fast memory, to compare terms")
    fast_memory: int = constant(10**4, unit="elements", source="S, to compare terms")
    lower_term: int = constant(100, unit="1", source="a term that many times smaller than the largest is left out")

    # footprints/box_shares.py
    counting_operations: int = constant(
        3_000_000, unit="isl operations", source="to count the instances of a part of a box")

    # footprints/conflicts.py
    own_ways_share: float = constant(0.5, unit="1", source="share of the ways of a set that one array may take")

    # footprints/cost.py
    depth_weight: float = constant(16.0, unit="1", source="a statement one loop deeper runs that much more often")
    guard_cost: float = constant(
        0.5, unit="lines per instance",
        source="a statement with one iteration in a loop of others puts a condition around it")
    loop_overhead: float = constant(
        0.01, unit="lines per instance", source="per innermost loop, so that a nest is not distributed without gain")

    # footprints/leading_terms.py
    structure_size: int = constant(
        10, unit="iterations", source="at which relations are looked at, and from which points are counted")
    size_step: int = constant(
        2, unit="iterations", source="between counted sizes; even, for loops that depend on parity")

    # footprints/lower_bound.py
    most_subspaces: int = constant(200, unit="subspaces", source="of iterations that bounds are derived from")

    # footprints/nest.py
    small_size: int = constant(
        16, unit="iterations", source="sizes at which instances are counted to see a triangle's share of its box")
    box_share: float = constant(0.9, unit="1", source="what a symbolic size is taken for when nobody says better")

    # footprints/point_count.py
    counted_samples: int = constant(
        4096, unit="points",
        source="of a box; the count of a part with a tenth of its points is then right to some percent")

    # footprints/references.py
    straight_parts: int = constant(
        16, unit="parts", source="of a statement, along which loops run one way; a ring in four dimensions has so many")
    rim_share: int = constant(
        16, unit="1", source="parts of a domain that are so many times smaller than the largest are left out of models")

    # footprints/reuses.py
    longest_chain: int = constant(
        3, unit="dependences", source="of a path from a statement to itself; fdtd-2d needs two")

    # footprints/streams.py
    streamed_ways: int = constant(
        4, unit="ways", source="of the first cache: a panel of one block of registers that fills as many has its rows "
                               "fetched ahead; a smaller one stays beside the other operands")
    stream_bytes_ahead: int = constant(
        3072, unit="bytes", source="between a row in use and the row that is fetched; experiments/blas")

    # footprints/strides.py
    largest_step: int = constant(
        4, unit="elements", source="the steps of a loop that are tried one by one before isl is asked for the least")
    movement_operations: int = constant(
        100_000, unit="isl operations",
        source="for one access; those of the tests' kernels take less than a tenth of it")

    # footprints/traffic.py
    kept_footprints: int = constant(
        1 << 16, unit="footprints", source="of boxes; a search asks for that of the same box again and again")

    # planning/block_orders.py
    largest_panel_bytes: int = constant(
        1 << 21, unit="bytes", source="of memory for a packed operand of one tile; which cache keeps it the models say")

    # planning/plan.py
    wavefront_edge: int = constant(
        16, unit="iterations", source="of bands around further loops: enough work per tile, enough tiles per wavefront")
    most_uneven_share: float = constant(
        0.01, unit="1", source="of all work that the first thread may do beyond its part, for an operand to be read "
                               "in place: packing it costs more than a hundredth")
    least_gain_share: float = constant(
        0.1, unit="1", source="a tile must save this share of the traffic, or the band stays as it is")

    larger_sizes: int = constant(
        2, unit="1", source="how many times the assumed size loops of unknown length may have, where tiles of tiles "
                            "should still pay")

    # planning/read_in_place.py
    fewest_panel_reads: int = constant(
        4, unit="reads", source="of a panel by blocks of rows, or it is not packed: on AVX-512 a product of 16 rows "
        "had 0.77 of ONNX Runtime with panels and 1.46 without")
    shortest_step_cycles: int = constant(
        8, unit="cycles", source="of multiply-adds per row that hide a row from the last cache: blocks of 6 x 16 (6 "
        "cycles, Zen 3) took 1.2 to 1.8 times as long without panels; for AVX-512 (24 cycles), see fewest_panel_reads")

    # planning/register_shape.py
    kept_tiles: int = constant(
        1 << 14, unit="tiles", source="with register blocks; a search asks for the same ones again and again")
    most_block_rows: int = constant(
        14, unit="rows", source="of a register block that are tried: of one vector, 16 registers hold no more beside "
                                "operands; of several, the registers of the target decide")
    most_block_vectors: int = constant(4, unit="vectors", source="of a row of a register block")
    uneven_rows_cost: float = constant(1.04, unit="1", source="edges that are no power of two divide few tile edges")
    uneven_rows_by_a_diagonal_cost: float = constant(
        1.5, unit="1", source="edges that are no power of two make long bounds where tiles meet a diagonal")
    most_known_rows: int = constant(
        32, unit="rows", source="16 and 32 rows of known number take 1.3 times as long in blocks of 8 x 8 as of 6 x 16")
    most_folded_loads: int = constant(
        4, unit="multiply-adds", source="that share a vector: gcc 12 tuned for Zen reads it from memory in each, and "
        "the model counts so; emitted code reads it once")

    most_row_loss: float = constant(
        1.05, unit="1", source="of rows of a few vectors over rows without an end, by the model: two vectors lose 3 "
                               "percent on AVX-512, one loses 29; three, with fewer rows, took 1.13 times as long for "
                               "48 channels")

    # planning/shared_steps.py
    most_shared_steps: int = constant(
        8, unit="steps", source="of a loop in steps: with more of them, the result is fetched and stored too often")
    pass_transfers: int = constant(
        3, unit="transfers", source="of each byte that is written, where start values or last steps are a nest of "
                                    "their own")

    # planning/skewed_tiles.py
    longest_skewed_edge: int = constant(
        128, unit="iterations", source="of loops around a row: longer edges help only where rows are very short, and "
                                       "make the search long")
    most_time_shares: int = constant(
        8, unit="tiles",
        source="even shares of the time steps: more are shorter than the reuse over time needs, or a power of "
               "two is near them")
    most_wavefront_rows: int = constant(
        1024, unit="rows of tiles", source="rows of tiles along which wavefronts are counted one by one")
    few_steps: int = constant(
        64, unit="iterations", source="of a loop of unknown length that makes the wavefronts: its tiles have to keep "
                                      "threads busy then, too")

    # planning/temporary_rows.py
    temporary_row_operations: int = constant(
        1_000_000, unit="isl operations", source="to find the rows of temporaries that stay in a cache")

    # planning/tile_problem.py
    most_idle_share: float = constant(
        0.13, unit="1", source="share of the time that threads may wait for the one with most tiles")
    most_rounds: int = constant(8, unit="tiles", source="tiles per thread for which even shares are tried")
    fewest_blocks: int = constant(
        8, unit="blocks", source="of rows in a tile, so that the panel of its columns is read that often")
    permuted_loops: int = constant(
        4, unit="loops", source="of a nest whose tile loops are tried in every order; in deeper ones only the "
                                "innermost is chosen")
    fewest_lines: int = constant(
        4, unit="lines", source="of a row of a tile of the result, or two blocks: the last steps keep the panel of "
                                "its rows inside the cache")

    # planning/tile_search.py
    search_seconds: float = constant(
        2.0, unit="s", source="of CP-SAT's own count of work, so a busy machine finds the same tiles")
    search_slack: float = constant(
        1e-5, unit="1", source="of the least cost, from which on no other order of tile loops is tried: what orders of "
                               "elementwise kernels differ by was below 1e-7")
    most_extent: int = constant(
        1 << 62, unit="iterations", source="of a loop whose tiles are searched: the solver's integers have 63 bits")
    kept_searches: int = constant(
        256, unit="searches", source="whose tiles are kept, since codes of one program differ in few bands")

    # rewriting/copies.py
    beside_share: float = constant(
        0.25, unit="1", source="of the first cache: elements of rows that blocks read there again need no copy; a "
        "product of 16 rows, 64 columns at a time, took 6% longer with one (Sapphire Rapids)")
    largest_copy_bytes: int = constant(
        1 << 27, unit="bytes", source="of one, with its parts for all tiles where threads share it")

    # rewriting/register_tiles.py
    sum_part: int = constant(
        8, unit="iterations", source="iterations of a sum that are told apart when statements share a block, at most")

    # rewriting/retiming.py
    loop_instructions: int = constant(
        3, unit="instructions", source="of a step of a loop beside its body: count, compare, branch")

    # rewriting/marking.py
    most_uneven_parts: float = constant(
        0.05, unit="1", source="of the threads' time that is lost where iterations of an outermost loop are no equal "
                               "parts: three images on two cores lose a quarter")

    # rewriting/shared_strips.py
    strip_cache_divisor: int = constant(
        3, unit="1",
        source="of the private cache a strip may take so small a part: other columns pass through it meanwhile")
    fewest_strips: int = constant(4, unit="strips", source="of a loop that is cut for threads")

    # shapes/diamond.py
    most_skew: int = constant(8, unit="1", source="multiple of time by which space is skewed for diamonds")

    # shapes/split_tiles.py
    most_pieces: int = constant(
        16, unit="pieces",
        source="of space whose size is a parameter: to write down where all of them are takes many seconds "
               "beyond that")

    # tile_bands.py
    thread_strip: int = constant(
        256, unit="iterations", source="iterations of a strip: some pages of a row, and few enough for many strips")
    tiling_seconds: float = constant(
        10.0, unit="s",
        source="processor seconds that tiling one schedule may take; the kernels of the tests take less than a "
               "fifth of it")
    copy_operations: int = constant(
        3_000_000, unit="isl operations",
        source="to find the places for copies of operands; the kernels of the tests take less than a "
               "tenth of it")
    most_orders: int = constant(
        128, unit="orders",
        source="orders of loops that are tried for one schedule; the kernels of the tests need less than half of "
               "it")

    # stitch.py
    most_dominant: int = constant(
        2, unit="statements", source="that may be dominant: of those that nothing reads, the ones with most instances")
    largest_stitched_edge: int = constant(
        128, unit="iterations", source="of tiles of stitched kernels that are tried; which of them caches hold the "
                                       "model says")
    most_parts_per_core: int = constant(
        4, unit="tiles", source="of stitched kernels, of equal length: from as many on a short one at the end costs a "
                                "tenth")

    # tree/growing_work.py
    growing_work_operations: int = constant(
        100_000, unit="isl operations", source="to compare the work of early and late iterations")
    growing_work_ratio: float = constant(
        1.25, unit="1", source="how many times as much three quarters of the way do as a quarter of the way")

    # tree/light_iterations.py
    usual_work: int = constant(
        48, unit="operations", source="accesses and operations of an iteration that counts as usual")
    lightest_factor: int = constant(
        4, unit="1", source="times as many iterations as usual that a team needs, at most, for the lightest work: "
                            "more data leave the cache, and two threads load more")
    division_work: int = constant(
        8, unit="operations", source="multiplications that take as long as a division in lanes")

    # tree/rows_in_step.py
    rows_in_step: int = constant(
        8, unit="rows",
        source="rows in step: a division takes three to four times as long as it keeps the divider busy")
    most_lag: int = constant(
        4, unit="columns", source="columns between two rows of a step; more make what is computed row by row longer")
    distance_operations: int = constant(
        1_000_000, unit="isl operations", source="to find the distances between rows in step")


LIMITS = TilingLimits()
