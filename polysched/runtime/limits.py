"""The limits of this room."""

from __future__ import annotations

from dataclasses import dataclass

from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class RuntimeLimits:
    """By the module that asks for them."""

    # serving.py
    most_requests: int = constant(
        1 << 20, unit="requests", source="of one job: a latency is kept of each, 24 MB at most")
    most_seconds: float = constant(
        1e9, unit="s", source="from the start to the last request: some thirty years, which a clock can still tell")
    most_yields: int = constant(
        1 << 16, unit="yields", source="whose times are kept; more are counted only")
    most_workers: int = constant(64, unit="threads", source="first guess: of one machine")
    # scheduler_source.py
    fifo_priority: int = constant(
        10, unit="priority", source="of threads under SCHED_FIFO: above all ordinary ones, below those of the kernel")


LIMITS = RuntimeLimits()
