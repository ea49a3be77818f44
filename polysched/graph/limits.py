"""The limits of this room: what a model may ask for, and what is computed while compiling."""

from __future__ import annotations

from dataclasses import dataclass

from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class GraphLimits:
    """By the module that asks for them."""

    # evaluation/inference.py
    most_bytes: int = constant(
        1 << 40, unit="bytes", source="of one value: more than the memory of a machine, so that sizes do not overflow")
    most_folded_elements: int = constant(
        1 << 24, unit="elements", source="of a value that is computed while compiling: below a second in NumPy")

    # passes/expansion.py
    most_expansions: int = constant(
        32, unit="levels", source="compositions of compositions; the deepest of the registry has 5")

    # passes/layout.py
    most_rows_of_narrow_panels: int = constant(
        64, unit="rows", source="of a product whose weights stand in panels of one vector: with 16 and 33 rows these "
                                "are up to a third faster than panels of two, with 512 and 2,048 a third slower")

    # planning/partition.py
    most_fused_nodes: int = constant(
        24, unit="nodes", source="of one elementwise kernel: compile time grows with its expression")

    # reading/onnx_reader.py
    most_nodes: int = constant(
        200_000, unit="nodes", source="of a model file with its functions inlined; the largest of the real models "
                                      "has under 10,000")


LIMITS = GraphLimits()
