"""The limits of analysis and of legality: budgets, and sizes up to which a rewrite is tried.

What a machine takes for something stands in `polysched.target.costs`.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.scop.budget import ISL_OPERATIONS
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class DependenceLimits:
    """By the module that asks for them."""

    # analysis.py
    flow_seconds: float = constant(
        4.0, unit="s", source="of processor time, for all arrays, per kind of dependence, whatever the operations")
    flow_least_seconds: float = constant(0.5, unit="s", source="for an array behind others that took all of it")
    flow_share: float = constant(
        0.2, unit="1", source="of the time that a budget around has left, for all arrays: what is by memory afterwards "
        "took 0.06 s where this ran out of 4, and a region without dependences is lost")
    flow_least_share: float = constant(
        0.1, unit="1", source="of that time, for an array behind others that took all of it")
    # carried_values.py
    substituted_statements: int = constant(
        8, unit="statements", source="of a program that is tried; every substitution is an analysis of its own")
    substituted_values: int = constant(8, unit="values", source="substitutions in one program")
    # collapsing.py
    collapsed_least_loss: float = constant(
        1 / 16, unit="1", source="part of the vectors of a row that is empty from which on rows are joined")
    # expansion.py
    extent_constant: int = constant(
        1 << 30, unit="elements", source="in an extent with parameters; what is more comes from the values of a "
        "type")
    expanded_bytes: int = constant(
        1 << 20, unit="bytes", source="of copies of temporaries that are always allowed, however small the caller's "
                                      "arrays are")
    # legality.py
    legality_isl_operations: int = constant(
        4 * ISL_OPERATIONS, unit="isl operations", source="for one legality check: four times the default; usual ones "
        "need a thousandth of it")
    legality_seconds: float = constant(10.0, unit="s", source="of processor time, for one legality check")
    kept_parts: int = constant(
        4096, unit="relations", source="of the dependences of one program that are kept while its trees are judged; "
        "some 3 KB each")
    # parameter_sizes.py
    parameter_bound: int = constant(
        1 << 30, unit="1", source="a larger bound comes from the values of a type and says nothing")
    bound_isl_operations: int = constant(
        200_000, unit="isl operations", source="for the largest values that the arrays' extents admit")
    # row_walks.py
    constant_row_length: int = constant(
        1 << 31, unit="elements", source="of a row that counts as of constant length; the largest value of a "
                                         "`size_t` is no length, and does not fit a C `long`")
    # substitution.py
    substituted_nodes: int = constant(
        150, unit="nodes", source="of an expression that is put in the place of a read; chains of choices double it "
        "with every step")
    # unrolling.py
    written_out_points: int = constant(32, unit="statements", source="that one becomes")
    written_out_statements: int = constant(
        64, unit="statements", source="of the program afterwards: dependences and schedules of more take too long")
    written_out_stride: int = constant(
        8, unit="elements", source="from one iteration around to the next, beyond which lanes would gather what a row "
        "has in one piece; sums of 32 bytes each ran 0.6 times as fast written out")
    # questions/removals.py
    largest_skew: int = constant(
        3, unit="1", source="the largest factor of a skew that is tried; stencils of radius 1 to 3 need no more")


LIMITS = DependenceLimits()
