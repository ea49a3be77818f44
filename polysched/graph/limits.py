"""The limits of this room: what a model may ask for, and what is computed while compiling."""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class GraphLimits:
    """By the module that asks for them."""

    # evaluation/inference.py
    most_bytes: int = constant(
        1 << 40, unit="bytes", source="of one value: more than the memory of a machine, so that sizes do not overflow")
    most_extent: int = constant(
        1 << 40, unit="elements", source="of one dimension, also beside one of none, and of a size that is open: as "
                                         "many as bytes of a value, so that sizes do not overflow")
    most_folded_elements: int = constant(
        1 << 24, unit="elements", source="of a value that is computed while compiling: below a second in NumPy")
    most_folded_in_all: int = constant(
        1 << 27, unit="elements", source="of all values of a graph that are computed while compiling: 512 MiB of "
                                         "float32, so that a short file does not fill the memory")

    most_remembered_types: int = constant(
        4096, unit="nodes", source="whose types are kept: the passes over a model of some hundred nodes make 3,000")
    most_remembered_elements: int = constant(
        64, unit="elements", source="of a shape or an axis that types follow from; real ones have under 10")

    # evaluation/sequences.py
    most_sequence_elements: int = constant(
        4096, unit="elements", source="of a sequence: each becomes a value of the graph; ONNX's tests have under 10")

    # operators/families/patches.py
    most_determinant_rows: int = constant(
        4, unit="rows", source="of a matrix whose determinant is the sum over all permutations: 24 products")

    # operators/recurrent.py
    most_steps: int = constant(
        4096, unit="steps", source="of a recurrence, which is unrolled: planning takes 8 ms a step, and a million "
                                   "never ended")

    # operators/resampling.py
    most_neighbours: int = constant(
        1 << 20, unit="elements", source="that are weighed for one axis of a `Resize`: some seconds in Python; images "
                                         "have under 100,000")

    # operators/movement.py
    largest_open_extent: int = constant(
        1 << 24, unit="elements", source="larger ends of slices mean the end: exporters write 1e9; tested when it runs")

    # operators/families/padding.py
    most_padding_periods: int = constant(
        4, unit="periods", source="of a padding that are slices of their own; a longer one is cut out of repetitions")

    # values/drawing.py
    most_drawn_nodes: int = constant(
        200, unit="nodes", source="of one picture: some screens; the text form has all")

    # values/refusals.py
    longest_witness: int = constant(
        300, unit="characters", source="of what a refusal quotes from a model: some lines of a terminal")

    # passes/expansion.py
    most_expansions: int = constant(
        32, unit="levels", source="compositions of compositions; the deepest of the registry has 5")

    # planning/drawing.py
    most_reasons: int = constant(
        40, unit="lines", source="below the picture of a plan: half a screen")

    # passes/control.py
    most_unrolled_nodes: int = constant(
        512, unit="nodes", source="of all iterations of a loop that is unrolled; a longer one is run: compile time is "
                                  "linear in the nodes")

    # passes/fusion.py
    most_fused_by_kind: int = constant(
        256, unit="nodes", source="of one group of the baseline; TVM FuseOps, max_depth")

    # passes/channel_layout.py
    channel_block: int = constant(
        8, unit="channels", source="of a blocked layout: elements of float32 in a vector of AVX2")

    # passes/layouts/blocks.py
    shortest_padded_row: int = constant(
        7, unit="places", source="of an image that is made as one: a block of registers along shorter rows has fewer "
                                 "sums than the pipes want; places of all rows together are one long row")

    # passes/arguments.py
    most_arguments: int = constant(
        64, unit="operands", source="of one node after split_arguments: pointers that a C call takes in comfort")

    # passes/rewriting.py
    most_rewritings: int = constant(
        1000, unit="rounds", source="of the rules of one pass over a graph, against rules without end: chains of 200 "
                                    "nodes end in 3")

    # passes/kernel_layout.py
    most_rows_of_wide_panels: int = constant(
        4, unit="rows", source="of a product whose weights stand in panels of four vectors, since two give the pipes "
                               "too few sums: 4 x 256 by 256 x 1024 takes 13.4 us with four, 16.1 with two, 34.4 with "
                               "one; 8 rows and more are fastest with two or three, one is slower than no panels")

    # planning/memory.py
    most_arenas: int = constant(
        64, unit="attempts", source="at a smaller arena: on silero-vad and rapidocr the peak is reached in 2 to 18")
    most_placements: int = constant(
        40_000_000, unit="pairs", source="of buffers that are compared for one arena: a second in Python; with 2,348 "
                                         "buffers the arena of basic-pitch was 1.27 of the peak in one attempt, and is "
                                         "the peak in two")

    # planning/beside.py
    most_beside: int = constant(
        16, unit="kernels", source="in one parallel region, which has one barrier in place of as many")

    # planning/cover.py
    cover_unit_seconds: float = constant(
        1e-9, unit="s", source="of the costs of a cover: far below a team's start")
    cover_work: float = constant(
        10.0, unit="deterministic seconds", source="of the solver, for one cover")
    most_circles: int = constant(
        64, unit="circles", source="of patterns that need each other, forbidden one by one; chosen, then the cover is "
                                   "greedy")

    # passes/common.py
    sampled_elements: int = constant(
        64, unit="elements", source="that tell most constants of one shape apart; those that agree in them are "
        "compared as a whole")

    # planning/fusion_plan.py
    cover_work_in_all: float = constant(
        20.0, unit="deterministic seconds", source="of the solver, for all covers of a graph; then what was judged is "
        "covered: a BERT layer takes 12, a recurrent cell of three steps with lengths had taken 40")
    most_judged: int = constant(
        32, unit="patterns", source="of one graph whose tiles are looked for: about a second each; then the plan is of "
                                    "those that were")
    most_plans: int = constant(
        4, unit="plans", source="that are compiled and timed for one graph, the greedy one among them")

    # planning/online_softmax.py
    online_arrays: int = constant(4, unit="arrays", source="in which a row of a softmax stands: scores to weights")
    online_rows: int = constant(
        4, unit="rows", source="of a softmax that the second cache keeps (`Target.kept_bytes`): longer ones are tried "
                               "in blocks; first guess")
    online_block_rows: int = constant(
        32, unit="rows", source="of a block that the second cache keeps; first guess")

    # planning/patterns.py
    most_patterns: int = constant(
        4, unit="patterns", source="that grow further, of each size that ends at one node; more found no better one "
                                   "on the graphs of experiments/models")
    most_results: int = constant(
        4, unit="values", source="of one pattern that are seen from outside: an LSTM step has 2")

    # planning/partition.py
    most_fused_nodes: int = constant(
        24, unit="nodes", source="of one elementwise or stitched kernel: compile time grows with its expression")

    # reading/apart.py
    least_apart: int = constant(
        1 << 20, unit="bytes", source="of a constant that is read into an array of its own: copies of shorter ones "
                                      "cost little, and shapes, which onnx looks into, are short")
    most_fields: int = constant(
        1 << 20, unit="fields", source="that are walked one by one in Python: some seconds; a file of more is left "
                                       "to protobuf, and real models have one per node, value and constant")

    # reading/checked_nodes.py
    most_attribute_elements: int = constant(
        1 << 16, unit="numbers", source="or characters of one attribute that is no tensor; real models have under 100")

    # reading/functions.py
    most_nodes: int = constant(
        200_000, unit="nodes", source="of a model file with its functions inlined; the largest of the real models "
                                      "has under 10,000")

    # operators/resampling.py
    largest_part_of_a_scale: int = constant(
        1 << 12, unit="whole numbers", source="above and below the line of a scale of an open size: floors of products "
                                              "are exact then; factors of real models are 2 or 1/2")

    # values/sizes.py
    most_factors: int = constant(
        8, unit="factors", source="of one product of open sizes: a loop that squares a size would double them without "
                                  "end; shapes have under 8 dimensions")


LIMITS = GraphLimits()
