"""The limits of this room: budgets of searches and proofs, and sizes from which on a choice pays.

What a machine takes for something stands in `polysched.target.costs`.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class SchedulingLimits:
    """By the module that asks for them."""

    # fusion/row_fusion.py
    least_fused_rows: int = constant(
        32, unit="rows", source="rows below which a fused loop would keep too few threads busy")

    # index_sets.py
    most_cuts: int = constant(
        4, unit="cuts", source="cuts of one program; every statement falls into at most two parts per cut")
    short_distance: int = constant(
        10, unit="iterations",
        source="distances up to this size, a program's usual shifts, are not long in arrays of constant size "
               "either")

    # options.py
    most_coefficient: int = constant(
        4, unit="1", source="of iterators and parameters in a schedule: schedules of PolyBench stay within 2")
    most_shift: int = constant(
        10, unit="iterations", source="between statements of a schedule: those of PolyBench stay within 3")
    solver_seconds: float = constant(
        5.0, unit="s", source="of the solver's deterministic time, for one integer program; all of a kernel of "
                              "PolyBench take up to 0.55 s (Zen 5)")
    all_solver_seconds: float = constant(
        20.0, unit="s", source="of the solver's deterministic time, for all integer programs of one schedule")
    schedule_seconds: float = constant(
        30.0, unit="s", source="of processor time, for one schedule; then the order stays as it is written")

    # primitives/images.py
    closure_operations: int = constant(
        200_000, unit="isl operations", source="for what reaches what among statements that depend on each other in a "
                                               "circle: a tenth of a second")

    # primitives/stitch.py
    computed_again_percent: int = constant(
        50, unit="%", source="of the instances of a producer that several tiles may compute again; first guess")

    # solving/kept_rows.py
    kept_rows_divisor: int = constant(
        4, unit="1", source="the rest may take one part in so many of the budget that the search had")
    kept_rows_operations: int = constant(
        200_000, unit="isl operations", source="for the rest: enough for the trees of the tests' kernels")

    # solving/problem.py
    cone_operations: int = constant(
        200_000, unit="isl operations",
        source="for the cones of one relation: a tenth of a second; most need a tenth "
               "of it")
    cone_seconds: float = constant(
        5.0, unit="s",
        source="processor time that all cones of one program may take; then each relation gets a tenth of the "
               "operations")

    # solving/rows.py
    outer_first: int = constant(
        8, unit="1",
        source="cost of a unit coefficient of the outermost iterator; each further in costs one more: ties keep "
               "the order")

    # primitives/split_reduction.py
    most_parts: int = constant(
        1 << 20, unit="parts, iterations of one", source="of a reduction: more is no number of lanes or threads")

    # strategy.py
    largest_strategy_number: int = constant(
        1_000_000, unit="1", source="of the numbers in a strategy: sums of their products fit the solver's integers")


LIMITS = SchedulingLimits()
