"""What every room assumes about programs of which only the running program knows more."""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """Of programs, not of machines."""

    typical_size: int = constant(
        1024, unit="iterations", source="a size whose matrices exceed a second cache, and that edges of tiles divide")


ASSUMED = Assumptions()
