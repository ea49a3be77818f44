"""The limits of this room: how far a search for steps goes.

What a machine takes for something stands in `polysched.target.costs`.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class DistributeLimits:
    """By the module that asks for them."""

    # owners.py
    most_ranks: int = constant(
        2 ** 31 - 1, unit="ranks", source="of type `int` in MPI 3.1, section 3.2.2; coordinates in a block, too")
    # steps.py
    most_dimensions: int = constant(4, unit="loops", source="of steps, one inside the other")
    largest_coefficient: int = constant(2, unit="1", source="of an iterator in a step; no program tried needs more")
    largest_shift: int = constant(64, unit="steps", source="between statements of one iteration of a step's loops")
    solver_seconds: float = constant(10.0, unit="s", source="deterministic seconds of the integer program of one loop")
    # time_tiles.py
    largest_reach: int = constant(16, unit="coordinates", source="first guess: that values travel in a step; each adds "
                                                                 "a row to the halo for every step of a tile")


LIMITS = DistributeLimits()
