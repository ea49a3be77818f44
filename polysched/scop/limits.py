"""The limits of reading and of questions to isl: budgets, and sizes up to which something is read or spelt out.

What a machine takes for something stands in `polysched.target.costs`.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class ScopLimits:
    """By the module that asks for them."""

    # box_points.py
    enumerated_box: int = constant(
        128, unit="points", source="of a box from which on isl takes longer for its points than for its ends")
    largest_box: int = constant(
        1 << 18, unit="points", source="of the boxes that are looked at: some milliseconds, even where hardly any "
        "is in the set")
    numpy_dimensions: int = constant(
        32, unit="dimensions", source="NumPy has arrays of no more dimensions, since its version 2 of twice as many")
    # budget.py
    isl_operations: int = constant(
        5_000_000, unit="isl operations", source="the default budget of one computation: some three seconds; the "
        "kernels of the tests need less than a million")
    seconds_per_operation: float = constant(
        2e-6, unit="s", source="what an operation may take on average before a budget ends by time: three times "
        "what it usually takes")
    least_budget_seconds: float = constant(
        0.25, unit="s", source="no budget is shorter, so that no pause of the machine's own ends one")
    # c_frontend/frontend.py
    reading_isl_operations: int = constant(
        30_000_000, unit="isl operations", source="for one region; random programs of the tests need up to ten "
        "million")
    reading_seconds: float = constant(
        10.0, unit="s", source="of processor time, for one region, whatever the operations")
    # c_frontend/initialisers.py
    single_elements: int = constant(
        32, unit="elements", source="of an initialised array that are assigned one by one; a longer one is filled "
        "by a loop first")
    # c_frontend/rewrites/amounts.py
    small_step: int = constant(1 << 16, unit="1", source="numbers below it are steps whose sums cannot overflow an int")
    # c_frontend/rewrites/inline.py
    inlined_nodes: int = constant(
        400, unit="nodes", source="of the syntax tree of a function that is small enough to be inlined")
    inlined_nodes_together: int = constant(
        4000, unit="nodes", source="of the syntax tree of one call, without the calls inside")
    inlined_depth: int = constant(16, unit="calls", source="inside each other that are inlined")
    inlined_nodes_in_all: int = constant(
        20_000, unit="nodes", source="of the syntax tree of one call, with the calls inside; what is larger takes "
        "many seconds to analyse")
    # c_frontend/rewrites/structures.py
    structure_members: int = constant(
        64, unit="members", source="of a structure that is copied or set member by member")
    # c_frontend/rewrites/switches.py
    switch_cases: int = constant(
        128, unit="cases", source="of a `switch` that becomes a chain of conditions: the dependences of 255 that write "
        "an array need more than their budget, and 1,500 inside one another are too deep for Python")
    # c_frontend/subscripts/affine.py
    spelt_quotients: int = constant(
        2, unit="1", source="a quotient of up to this size, on either side of 0, is spelt out case by case")
    subscript_cases: int = constant(3, unit="cases", source="of a quotient by a parameter that are spelt out")
    # c_frontend/subscripts/delinearise.py
    row_sizes_tried: int = constant(
        16, unit="sums", source="of parameters and numbers that are tried out as the sizes of rows")
    # c_frontend/subscripts/size_values.py
    size_characters: int = constant(200, unit="characters", source="of a value's text; it stands in bounds")
    # construction/size_context.py
    context_pieces: int = constant(
        8, unit="sets", source="of a union of sizes that is kept; what has more is replaced by its simple hull")
    # mlir_frontend/kept_values.py
    expression_nodes: int = constant(
        64, unit="operations", source="of MLIR in one expression; a value with more of them is kept in a variable, "
        "since each use repeats it")
    # python_frontend/extraction.py
    extraction_passes: int = constant(
        200, unit="passes", source="over a Python function, each of which learns one more type; more are a fault")


LIMITS = ScopLimits()
