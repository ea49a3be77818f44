"""The limits of this room."""

from __future__ import annotations

from dataclasses import dataclass

from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class EmitGpuLimits:
    """By the module that asks for them."""

    # kernel_loops.py, host_text.py
    loop_operations: int = constant(
        4_000_000, unit="isl operations", source="for the loops of one kernel, or of the host: as for emit_c")


LIMITS = EmitGpuLimits()
