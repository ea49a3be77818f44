"""The limits of this room: budgets of searches and proofs, and sizes from which on a choice pays.

What a machine takes for something stands in `polysched.target.costs`.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class TensorizeLimits:
    """By the module that asks for them."""

    # conformance/cross_compile.py
    cross_run_seconds: int = constant(60, unit="s", source="of one program under an emulator")

    # decision.py
    measured_matches: int = constant(3, unit="matches", source="of which each is measured")
    half_idle_share: float = constant(0.5, unit="1", source="of an instruction's work that may be idle")
    narrow_bits: int = constant(16, unit="bits", source="of what instructions for integers read")
    least_windowed_work: int = constant(
        65536, unit="iterations", source="of a nest whose windows are copied; below, loops run as they are written")

    # description/agreement.py
    host_trials: int = constant(48, unit="trials", source="per filling, of a description compiled for the host")
    emulated_steps: int = constant(12_000, unit="assignments", source="assignments of the emulator, in all")
    most_emulated_trials: int = constant(24, unit="trials", source="per filling, of the emulator")

    # description/host_execution.py
    host_run_seconds: float = constant(10.0, unit="s", source="of a description that runs on the host")

    # description/python_emulator.py
    most_assignments: int = constant(400_000, unit="assignments", source="of one execution: a second or two")

    # emission/blocking.py
    most_unrolled: int = constant(16, unit="iterations", source="of a loop in a block of registers")
    most_ordered: int = constant(4, unit="loops", source="of which every order is tried")
    ragged_cost: float = constant(
        1.02, unit="1", source="the last block computes padding, and its stores take a detour")
    moved_cost: float = constant(
        1.1, unit="1", source="an input that could be read in place has to be packed, to have padding: at least this")
    reused_cache_share: float = constant(
        0.75, unit="1", source="of a cache that reused data may fill; the rest streams through")
    crosswise_cost: float = constant(
        1.1, unit="1", source="neighbouring blocks lie in other rows of the result, whose lines nobody fetches: u8 "
        "1024 on one thread makes 570 to 600 GOP/s, 650 to 690 along the rows")
    least_handed_out: int = constant(
        8, unit="tiles", source="tiles that threads take one by one, so that none waits long for the last")
    shortest_sum: int = constant(
        64, unit="executions",
        source="executions in a tile of a reduction there: shorter ones cost more for results than they save")
    spare_registers: int = constant(
        1, unit="registers",
        source="f32 1024, AVX2, gcc 12: 4 by 3 vectors take all and make 103 GFLOP/s, 2 by 6 leave one, 133")
    worthwhile_share: float = constant(
        0.97, unit="1", source="a tile has to save this much, since every further loop costs something")

    # emission/any_size.py
    grown_sizes: int = constant(
        4, unit="1", source="times the sample sizes for which tiles of code for all sizes count: products of 512 "
        "and 2048 are called alike")

    # emission/copy_c.py
    written_out: int = constant(8, unit="elements", source="of a copy without a loop")

    # emission/correction.py
    correction_strip: int = constant(
        256, unit="sums",
        source="sums that are added to while a row of memory is read: a kilobyte of them, which any first cache "
               "holds beside the row")

    # emission/data_volume.py
    most_order_loops: int = constant(6, unit="loops", source="orders of more are too many to try")

    # emission/nest_c.py
    far_row_lines: int = constant(4, unit="lines", source="between rows that are fetched ahead one by one")

    least_shares: int = constant(
        2, unit="iterations", source="per thread of the loops that threads share, where sizes may be others")
    unequal_shares: float = constant(
        1.1, unit="1", source="the longest share of a thread over the mean; above it, a further loop is shared")

    # emission/place.py
    long_stride_lines: int = constant(4, unit="lines", source="between elements that are packed for reuse")
    long_row_lines: int = constant(16, unit="lines", source="between rows of a tile that is packed for reuse")
    least_far_steps: int = constant(
        9, unit="iterations", source="of a reduction by long strides: shorter ones touch few pages and sets")
    least_far_reuse: int = constant(
        4, unit="reads", source="of each element of an operand that is packed because its elements lie far apart")

    # equality/ladder.py
    exhaustive_bits: int = constant(24, unit="bits", source="of all inputs, whose every value is tried")
    quick_operations: int = constant(
        1 << 22, unit="nodes",
        source="inputs times nodes of both expressions, of what is tried ahead of the solver: some 10 ms")
    quick_conflicts: int = constant(2000, unit="SAT conflicts", source="of the solver ahead of trying more inputs")
    exhaustive_slice: int = constant(
        1 << 20, unit="inputs", source="of all exhaustive ones tried at a time: some vectors of megabytes")
    equality_conflicts: int = constant(100_000, unit="SAT conflicts", source="of the solver: some seconds")
    product_conflicts: int = constant(
        5_000, unit="SAT conflicts",
        source="where two inputs of more than `product_bits` are multiplied: more of them decide nothing")
    product_bits: int = constant(
        9, unit="bits", source="of a factor: equality of wider multipliers is hard for SAT solvers")
    circuit_nodes: int = constant(
        20_000, unit="nodes", source="of expressions that become clauses, shared ones once")
    solver_seconds: float = constant(60.0, unit="s", source="of one question to the solver, on whichever machine")
    equality_samples: int = constant(4096, unit="inputs", source="tried at random ahead of any proof")

    # equality/normal_form.py
    normal_form_steps: int = constant(
        20_000, unit="steps", source="some 100 ms; bodies of shipped instructions take fewer than 200")

    longest_name: int = constant(
        1000, unit="characters", source="of what is no sum or product, beyond which a digest stands for its text")

    # equality/questions.py
    exhaustive_operations: int = constant(
        1 << 30, unit="nodes",
        source="inputs times nodes of both expressions, of all questions of a match together: a second, four with "
               "divisions of 64 bits")

    # functions/expansion.py
    most_cases: int = constant(16, unit="cases", source="of one function that are told apart")
    largest_value_nodes: int = constant(400, unit="nodes", source="nodes of one value")

    # functions/groups.py
    most_statements: int = constant(12, unit="statements", source="of a group that one function may replace")

    # functions/loop_mapping.py
    most_mapped_loops: int = constant(4, unit="loops", source="of a function, every assignment of which is tried")

    # functions/unification.py
    unification_steps: int = constant(20_000, unit="steps", source="of one unification")
    unification_choices: int = constant(
        24, unit="assignments", source="assignments of leaves that the ladder is asked about")
    unification_conflicts: int = constant(1000, unit="SAT conflicts", source="of the solver, per pair of expressions")

    # matching/general_loops.py
    ends_of_a_loop: int = constant(
        4, unit="sums", source="of which the end of a loop is the least: each is a comparison in front of the nest")

    # matching/several_results.py
    most_hindered: int = constant(
        24, unit="assignments", source="assignments that fail their proof, after which no more are tried")
    most_alike: int = constant(
        8, unit="assignments",
        source="assignments that are proved: of a maximum of four there are 24, all of them alike")

    # matching/grouping.py
    most_groups: int = constant(64, unit="sets", source="of statements that are looked at for one instruction")

    # matching/candidates.py
    most_candidates: int = constant(12, unit="candidates", source="of an assignment of loops, per statement")

    # matching/explanation.py
    most_explained_mappings: int = constant(
        100, unit="mappings", source="of which the one that needs least padding is named")

    # matching/functions.py
    function_samples: int = constant(48, unit="points", source="points, every one a number per load")
    largest_sample: int = constant(12, unit="1", source="of these numbers")
    most_function_values: int = constant(
        1 << 23, unit="values", source="combinations times points: an array of so many numbers per node of the update")
    most_tried: int = constant(
        256, unit="combinations", source="combinations that go on to a proof, where nothing can be evaluated here")

    # matching/match.py
    most_mappings: int = constant(
        5000, unit="mappings",
        source="per statement and instruction; convolutions of three dimensions have some hundred")

    # matching/products.py
    most_combinations: int = constant(
        1 << 20, unit="combinations", source="of expressions for the inputs; one array of numbers each")

    # matching/symmetry.py
    most_exchanged: int = constant(4, unit="operands", source="operands, in 24 orders")

    # plan_candidates.py
    measured_blocks: int = constant(4, unit="blocks", source="register blocks of which each is measured")

    # description/blocks.py
    most_value_nodes: int = constant(
        10_000, unit="nodes", source="of what straight-line code of a description computes, with every value "
        "written out: ten branches on one local are compared in a second")

    # description/branches.py
    most_branch_nodes: int = constant(
        2000, unit="nodes", source="of what one branch of a description computes, in terms of values before it; of a "
        "branch of a program with every value written out")

    # preparing/canonical.py
    most_rewrites: int = constant(40, unit="rewrites", source="of one statement to its canonical form")
    most_rounds: int = constant(4, unit="rounds", source="of all steps to the canonical form: one may show another")

    # preparing/copies.py
    most_copied_nodes: int = constant(12, unit="nodes", source="of what is computed from the one element")

    # preparing/guards.py
    most_alternatives: int = constant(
        8, unit="ways", source="ways in which a guard may be false, each proved on its own")
    guard_conflicts: int = constant(2000, unit="SAT conflicts", source="of the solver, for one guard")

    # preparing/rerolling.py
    most_rolled_copies: int = constant(64, unit="copies", source="of a statement that become one loop")

    # preparing/separating.py
    most_parts: int = constant(8, unit="parts", source="of a sum that become statements")

    # probes.py
    probe_trials: int = constant(50, unit="trials", source="of an instruction on this machine")

    # proofs/body_proofs.py
    body_conflicts: int = constant(
        50_000, unit="SAT conflicts", source="of the solver, for the proof that two bodies are the same function")
    range_conflicts: int = constant(5_000, unit="SAT conflicts", source="for a proof that a value fits its operand")

    # proofs/correspondence.py
    correspondence_operations: int = constant(
        200_000, unit="isl operations",
        source="for one operand and mapping: some hundred times what windows need")
    sampled_iterations: int = constant(
        1024, unit="iterations", source="iterations at most, among which two that clash are looked for ahead of isl")

    # registry.py
    kept_files: int = constant(
        64, unit="files", source="of a user that are kept as they were read: every region asks for them several times")


LIMITS = TensorizeLimits()
