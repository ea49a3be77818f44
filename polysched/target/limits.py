"""What is taken for a machine where the system does not say, or says too much.

What a machine takes for something stands in `polysched.target.costs`.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class TargetLimits:
    """By the module that asks for them."""

    # target.py
    line_bytes: int = constant(
        64, unit="bytes",
        source="of a cache whose line nobody names: that of every current core from AMD and Intel, and most from ARM")
    way_bytes: int = constant(
        4096, unit="bytes",
        source="of a cache whose associativity nobody names: a page, as in first caches whose index is part of it")
    most_guest_share_bytes: int = constant(
        1 << 24, unit="bytes",
        source="of the last cache for each core of a guest, which is shown the whole processor's: a guest with 2 cores "
               "and 260 MB read 16 MB at 27 GB/s, and 32 MB at 14 GB/s, as memory")


LIMITS = TargetLimits()
