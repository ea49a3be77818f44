"""The limits of this room."""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class ModelLimits:
    """By the module that asks for them."""

    # kernels.py
    least_for_a_worker: int = constant(
        12, unit="kernels", source="missing ones from which on a second process pays its start of 3 s")

    # copies.py
    copied_block: int = constant(
        16, unit="elements", source="of a side of the blocks that are transposed at once: 2 x 784 x 16 of float32 took "
                                    "2.3 us, 17 us element by element")

    least_shared_copy: int = constant(
        1 << 16, unit="bytes", source="of a copy that a team shares: 6 us of one core at 10 GB/s, several times what a "
                                      "team costs that is awake")
    copied_part: int = constant(
        1 << 14, unit="bytes", source="of a long row that a team copies in parts: half of a first cache")
    fewest_shared_rows: int = constant(
        16, unit="rows", source="that a team shares as they are: of one row fewer a thread of two loses a fifteenth")

    # likely.py
    sample_ratio: int = constant(
        4, unit="1", source="of sampled sizes: a prediction takes 60 ms, and borders are interpolated between them")

    # planned.py
    most_nodes_by_cost: int = constant(
        64, unit="nodes", source="of a graph that is planned by cost unless said otherwise: its plan takes as long as "
                                 "its kernels, half a minute")
    judged_by_default: int = constant(
        16, unit="patterns", source="whose tiles are looked for; the plan of one BERT layer was within 5% of that by "
                                    "32")

    # stitched.py
    kept_fragments: int = constant(
        64, unit="fragments", source="stitched ones that a plan judged and of which kernels may be made: four plans' "
                                     "worth")

    # variants.py
    most_variants: int = constant(
        3, unit="codes", source="of a kernel: each costs its compilation, and a fourth one gains little regret")

    # tasks.py
    operators_in_a_name: int = constant(
        4, unit="operators", source="of a kernel, in the name that a search tells it by")

    # compiled_model.py
    most_sizes: int = constant(
        16, unit="sizes", source="whose arenas are kept: a model that is called by turns with a few sizes")

    # measured_plans.py
    least_call_seconds: float = constant(
        2e-3, unit="s", source="of calls of one plan that are timed as one: a thousand times what a clock resolves")

    # island.py
    newest_format: int = constant(
        10, unit="version of ONNX's file format", source="of islands: ONNX Runtime reads it since 1.18")

    # running.py
    shortest_pause: float = constant(
        2e-5, unit="s", source="between looks at a flag: a system call, so that waiting takes no core")
    longest_pause: float = constant(
        1e-3, unit="s", source="between looks at a flag: an output that takes long is late by this at most")

    # verification.py
    relative_tolerance: float = constant(
        1e-3, unit="1", source="of a float result: the rtol of ONNX's own tests of operators and models")
    absolute_share: float = constant(
        1e-5, unit="1", source="of the largest element, for elements near 0: a hundred roundings of float32")
    most_of_the_others_error: float = constant(
        2.0, unit="1", source="times the other evaluation's error against float64: another order of a sum doubles it")
    most_loss: float = constant(
        0.05, unit="1", source="of the root mean square, by short storage: bfloat16 rounds to 2**-9, layers add up")
    rounds: int = constant(
        15, unit="pairs", source="of calls that are timed: their quartiles are 4 pairs from each end")

    rest_seconds: float = constant(
        0.03, unit="s", source="ahead of timed calls: threads of libgomp's teams spin for 300,000 turns, 5 to 20 ms, "
                               "if nothing else is set; those of ONNX Runtime stop earlier")

    warm_seconds: float = constant(
        0.02, unit="s", source="of calls behind a rest, untimed: Linux may wake both threads of a team on one core, "
                               "where each waits for the other's time slice of 4 ms until they are spread")

    # onnx_backend.py
    most_specialisations: int = constant(
        32, unit="models", source="kept per CompiledModel for different sizes and steering values")


LIMITS = ModelLimits()
