"""The limits of this room: budgets of searches and proofs, and sizes from which on a choice pays.

What a machine takes for something stands in `polysched.target.costs`.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class EmitLimits:
    """By the module that asks for them."""

    # alternatives/crossover.py
    gain_share: float = constant(
        0.5, unit="1", source="of the time as written that counts as saved, to be conservative")
    fewest_steps: int = constant(
        8, unit="addends",
        source="addends of a sum in a register block: reading and writing it takes as long as a few of them")
    least_seconds: float = constant(
        2e-7, unit="s", source="of a region as written: in a shorter one, tests of sizes and partial vectors cost "
                               "what is gained")
    timed_size: int = constant(
        64, unit="iterations", source="the size of all parameters for which the statements are timed as written")
    model_operations: int = constant(2_000_000, unit="isl operations", source="to time the statements as written")

    # alternatives/memory_ranges.py
    memory_range_operations: int = constant(
        200_000, unit="isl operations", source="for the memory of one array, and again for bounds that "
        "take less; five times as many took 0.9 s for a filter behind six conditions, in vain")

    # bodies/extremes.py
    extremes_operations: int = constant(
        100_000, unit="isl operations", source="for the first and the last row that a region touches of an array, "
        "and again for a convex set around all rows")
    more_extremes: float = constant(
        1.1, unit="1", source="times the budget in vain before, from which on it is tried again")
    kept_extremes: int = constant(
        512, unit="sets", source="of rows whose ends are kept; a file of wavelib asks 163 times")

    # alternatives/checked_values.py
    largest_whole: int = constant(8, unit="iterations", source="of a loop of which a check runs all")

    # alternatives/plain_arrays.py
    most_check_bytes: int = constant(1 << 30, unit="bytes", source="of all arrays of a check together")

    # alternatives/smaller_programs.py
    most_check_work: int = constant(
        1 << 24, unit="iterations", source="iterations of one run of the original statement, some 20 ms")
    blocks_kept: float = constant(
        2.5, unit="blocks", source="executions along a dimension of a smaller program: two whole ones and a remainder")
    most_smaller_work: int = constant(1 << 20, unit="iterations", source="iterations of the smaller program")
    sampled_iterations: int = constant(
        3, unit="iterations", source="neighbouring iterations of a loop of the result, at three places")

    # alternatives/standing_twice.py
    most_static_bytes: int = constant(
        1 << 28, unit="bytes",
        source="of static arrays that a copy of their function doubles; code reaches 2 GiB (x86-64 psABI, 3.5.1)")

    # alternatives/row_loops.py
    row_slack: int = constant(
        8, unit="elements", source="elements by which a row may seem longer, so that fewer cases are told apart")

    # distributed/region.py
    most_row_cases: int = constant(
        8, unit="cases", source="of the ends of rows in a message; with more, its elements go one by one; first guess")

    row_operations: int = constant(
        300_000, unit="isl operations", source="for the ends of rows in a message, a second; beyond, its elements "
                                                 "go one by one: those of a random program took minutes")
    poison_operations: int = constant(
        1_000_000, unit="isl operations", source="for the loops that spoil what a rank must not read of an array; "
                                                 "three times the ends of rows")
    message_operations: int = constant(
        5_000_000, unit="isl operations", source="for all loops over the elements of a region's messages; first guess")

    # distributed/runtime.py
    spin_seconds: float = constant(
        5e-5, unit="s", source="that a rank looks for its messages without a rest; first guess")
    rest_microseconds: int = constant(
        20, unit="us", source="of a rank that waits longer; Linux adds some 50, its slack of timers")

    # bodies/array_bounds.py
    read_operations: int = constant(
        50_000, unit="isl operations", source="to prove that an element exists and may be read")

    # bodies/operations.py
    most_beside_division: int = constant(
        10, unit="operations", source="operations that fit into the time of one division of a vector")

    # c_source.py
    loop_operations: int = constant(
        4_000_000, unit="isl operations", source="of one attempt at generating loops: some ten seconds")

    # generation/loop_run.py
    most_nested: int = constant(
        12, unit="loops", source="loops in one Python function; CPython allows 20 nested blocks")

    # generation/order_check.py
    most_order_sizes: int = constant(2, unit="sizes", source="what is moved is moved by numbers, at every size alike")

    # generation/parameter_guard.py
    many_constraints: int = constant(6, unit="constraints", source="of a guard that is printed as one test")

    # generation/scan_check.py
    check_operations: int = constant(
        300_000, unit="isl operations", source="to compare generated loops with the schedule")
    most_instances: int = constant(20_000, unit="instances", source="that such a check runs")
    most_instances_in_pieces: int = constant(
        200_000, unit="instances",
        source="where space is cut into pieces: in small ones the gap in front of a border begins at sizes like "
               "9")

    # loop_ir/carried.py
    carried_operations: int = constant(200_000, unit="isl operations", source="to decide what a loop carries")

    # loop_ir/facts.py
    fact_operations: int = constant(
        500_000, unit="isl operations", source="to prove one condition from the facts around it")
    deepest_facts: int = constant(32, unit="calls", source="inside each other, of Python's thousand")
    kept_questions: int = constant(
        1 << 12, unit="questions and places",
        source="kept with their answers: those of some dozen codes of a program")

    # loop_ir/subscript_cases.py
    most_quotients: int = constant(
        3, unit="quotients", source="of a subscript that goes round, `(i + 2 * n - 1) % n`; each is a comparison")

    # nests/array_contraction.py
    crossing_operations: int = constant(200_000, unit="isl operations", source="to decide which values cross a loop")
    most_choices_of_bounds: int = constant(64, unit="choices", source="of bounds for a buffer")

    # vector_code/tile_fetches.py
    rows_ahead: int = constant(
        6, unit="rows", source="of an operand in place that a block fetches: 16 x 1024 by 1024 x 1024 took 0.81 of the "
        "time with 6 to 8, 0.95 with 12, 1.16 with 16 on a Xeon with AVX-512: rows of 4096 bytes share their sets")
    least_fetching_rows: int = constant(
        4, unit="rows", source="of a block that fetches: multiply-adds of fewer hide no instruction per line")
    least_page_row_bytes: int = constant(
        1 << 11, unit="bytes", source="from one row to the next: shorter strides the hardware follows")

    # nests/prefetch_rows.py
    least_fetched_row_lines: int = constant(
        4, unit="lines", source="of a row that is fetched ahead: shorter ones the hardware follows")
    most_fetched_rows: int = constant(4, unit="rows", source="that one loop fetches ahead")
    long_operations: int = constant(
        16, unit="operations", source="about what a function of math.h or a division takes on vectors")

    # nests/neighbour_rows.py
    neighbour_rows: int = constant(2, unit="rows", source="that share what they read of neighbouring rows")

    # nests/nontemporal_stores.py
    least_past_share: float = constant(0.25, unit="1", source="of the last cache that the array takes by itself")
    past_caches_factor: float = constant(
        2.0, unit="1", source="times the last cache that a region touches, from where nothing of its beginning is "
                              "left at its end")
    least_past_row_bytes: int = constant(1 << 11, unit="bytes", source="that are stored between two fences")

    # nests/independent_rows.py
    jammed_rows_of_several: int = constant(
        4, unit="rows", source="rows side by side where a row has several loops: few enough for the registers")

    # nests/tile_boundaries.py
    strip_iterations: int = constant(
        1 << 15, unit="iterations",
        source="of a lone loop between two looks at the flag: b = 3 a + b in the caches takes 5 us, and 1.04 of the "
               "time of one loop on a busy machine; 1.06 with 4096")

    # nests/strided_loops.py
    strided_copies: int = constant(
        8, unit="iterations",
        source="of a short loop over elements apart that the compiler unrolls; y += a x of 10,000 doubles with steps "
               "of 3 and 2 on a Sapphire Rapids: 6.7 us as written, 5.3 with 8")
    most_strided_accesses: int = constant(
        8, unit="accesses", source="of an iteration whose counting and branching count; twice those of y += a x and "
        "some")

    # nests/summed_rows.py
    summed_rows: int = constant(
        8, unit="rows", source="rows at a time: as many streams as prefetchers of processors follow at least")

    # nests/thread_reductions.py
    work_per_element: int = constant(
        16, unit="iterations",
        source="that setting an element of an array's part, and adding it to the array, are worth")

    # nests/vector_loops.py
    narrowest_tail: int = constant(4, unit="iterations", source="left over at the end of a row; fewer run one by one")

    # region.py
    strided_vectors: int = constant(
        2, unit="vectors",
        source="sums of strided rows side by side, each a vector; more of them would leave more rows to the "
               "plain loop behind")

    # nests/subscripts_by_case.py
    rim_iterations: int = constant(
        8, unit="iterations",
        source="in which a subscript has another case than in the rest of a loop; these choose or divide")
    most_long_cuts: int = constant(
        2, unit="cuts", source="of a loop into two long parts, which repeat its body")

    # register_tiles/register_tiles.py
    narrowest_columns: int = constant(4, unit="columns", source="columns; fewer are summed one by one")
    rows_together: int = constant(
        4, unit="rows", source="of a block that the end of their loop cuts off: of two vectors each, they have as many "
                               "sums as two pipes of four cycles want")

    # register_tiles/shared_rows.py
    sum_step_instructions: int = constant(
        5, unit="instructions", source="of a step of a sum in a loop: counters, addresses, what fetches ahead")
    most_sums_beside_rows_share: float = constant(
        5 / 8, unit="1", source="of the registers, for sums beside elements that the next iteration reads again")

    # register_tiles/strided_reads.py
    most_apart: int = constant(
        3, unit="elements", source="between the elements of a read in lanes: taking every fourth of eight floats, "
                                   "gcc 12 with AVX2 needs eleven instructions, no fewer than one by one")

    # register_tiles/turned_rows.py
    turned_ways: int = constant(
        2, unit="ways", source="of the first cache that the copy may fill; the operands have the others")

    # scalar_code/intervals.py
    most_interval_products: int = constant(
        2, unit="products", source="of 32 bits each, whose sum fits 64 bits")

    # scalar_code/heap.py
    few_bytes: int = constant(
        8192, unit="bytes",
        source="a region-local array of unknown size stands on the stack where it needs no more: a block from the heap "
               "takes as long as some hundred additions")
    stack_bytes: int = constant(
        16384, unit="bytes",
        source="region-local arrays up to this size stay on the stack; larger ones and those of unknown size are "
               "allocated")

    # scalar_code/index_printer.py
    most_nested_arms: int = constant(
        4, unit="arms",
        source="arms of a minimum or maximum that stand in each other: the compiler reads the first one 2^3 "
               "times")

    # scalar_code/openmp.py
    chunk: int = constant(8, unit="iterations", source="iterations of an untiled loop that a thread takes at a time")

    # scalar_code/region_branches.py
    most_repeated_lines: int = constant(
        64, unit="lines", source="of a loop that stands twice: a longer one is a function, whose call weighs less")

    # bodies/narrow_stores.py
    shortest_masked_store: int = constant(
        32, unit="bits", source="Intel SDM, volume 2: VPMASKMOV stores elements of 32 and 64 bits")

    # scalar_code/work.py
    unknown_iterations: int = constant(
        1 << 20, unit="iterations", source="of a loop whose length only the running program knows, for comparisons")

    # vector_code/conversion_steps.py
    far_conversion: int = constant(
        4, unit="1", source="how many times wider the result of a conversion is, from where it takes more than one "
                            "step")

    # vector_code/needed_tiles.py
    most_tests_of_a_tile: int = constant(
        16, unit="tests", source="of conditions on data, ahead of a register tile that none of them may need")

    # vector_code/overlapping_reads.py
    operations_per_load: int = constant(
        2, unit="operations", source="on vectors as wide as a line, in the time that a load of one line takes (Zen 4)")

    # vector_code/panel_copy.py
    largest_panel_on_stack_bytes: int = constant(
        1 << 16, unit="bytes", source="of a panel that is declared as a local array")
    most_unrolled_copies: int = constant(8, unit="iterations", source="of a copy that is written out")
    longest_run: int = constant(64, unit="elements", source="elements of each row that are turned at a time")

    # vector_code/partial_results.py
    shortest_register_bits: int = constant(
        128, unit="bits", source="of SSE and NEON: vectors of integers are halved to it, then combined by lane")

    # vector_code/thread_parts.py
    parts_of_a_thread: int = constant(
        8, unit="parts",
        source="parts for each thread where iterations do not all do the same, so that every thread gets short "
               "and long ones")

    # vector_code/tile_code.py
    most_unrolled_sums: int = constant(8, unit="iterations", source="of a loop of a sum that is unrolled")
    most_unrolled_points: int = constant(512, unit="copies", source="of a body that unrolling loops of sums may make")
    narrowest_overlap_bits: int = constant(
        128, unit="bits", source="of vectors that overlap: a register of SSE or NEON; for less, compilers take scalars")

    # vector_code/transposition.py
    most_transposed_blocks: int = constant(2, unit="blocks", source="whose transposition one tile holds in registers")


LIMITS = EmitLimits()
