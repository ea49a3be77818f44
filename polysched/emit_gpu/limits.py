"""The limits of this room."""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class EmitGpuLimits:
    """By the module that asks for them."""

    # kernel_loops.py
    largest_private_bytes: int = constant(
        1 << 15, unit="bytes", source="of a temporary of one work item; a device's local memory has more (CUDA C++ "
                                      "Programming Guide, Technical Specifications: 512 KB)")

    private_bytes: int = constant(
        1 << 19, unit="bytes", source="of all temporaries of one work item; CUDA C++ Programming Guide, Technical "
                                      "Specifications: local memory of a thread")
    block_private_bytes: int = constant(
        1 << 22, unit="bytes", source="the same of all work items of a block, which PoCL puts on a thread's stack: "
                                      "half of the 8 MB that Linux gives it; beyond, it crashed")

    # body_text.py
    unrolled_iterations: int = constant(
        32, unit="iterations", source="of an innermost loop over elements of a work item that become copies of its "
                                      "body: eight registers of four doubles; 16 x 32 of a product take 0.6 of the "
                                      "time on PoCL (experiments/block_programs)")

    # emission.py
    register_bytes: int = constant(
        1020, unit="bytes", source="of 255 registers, the most of a thread; CUDA C++ Programming Guide, Technical "
                                   "Specifications")

    # staged_copies.py
    vector_bytes: int = constant(
        16, unit="bytes", source="of the widest load of a work item; PTX ISA, ld; and of float4 in OpenCL C")

    # phases.py
    full_block_pieces: int = constant(
        2, unit="convex sets", source="of the places of blocks all of whose points run: more make a condition that "
                                      "costs more than it spares")

    # shared_runtime.py
    rows_bytes: int = constant(
        1 << 22, unit="bytes", source="of rows that come from a device at a time, to be compared: they stay in a "
                                      "cache, and a copy of so many takes longer than its start; first guess")


LIMITS = EmitGpuLimits()
