"""Options of the automatic schedulers."""

from __future__ import annotations

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.limits import LIMITS
from polysched.scop.budget import ISL_OPERATIONS, in_words
from polysched.target.target import LINE_BYTES, Target

FUSION_POLICIES = ("none", "smart", "max", "typed", "cost")


@dataclass(frozen=True, kw_only=True)
class SchedulerOptions:
    """What a user can choose about an automatic scheduler.

    Parameters
    ----------
    fusion : `none` separates every strongly connected component; `max` separates only what has no common
        row; `smart` fuses components of equal depth that depend on each other when the fused band stays as
        deep, costs no distance that grows with a parameter or exceeds `max_shift`, and keeps an outer parallel
        loop; `typed` also keeps every parallel loop; `cost` is `smart` where more data flows between the
        components than the cache holds.  `smart` and `cost` then fuse single outermost loops of nests that together
        touch more than the cache holds (`row_fusion`).
    input_dependences : also keep reads of one element close together; needs `analyse(..., inputs=True)`.
    cache_bytes : what the policies take for the cache that keeps data between two loop nests; None for what the second
        cache of the target keeps (`Target.kept_bytes`).
    line_bytes : of a cache line, whose elements should be computed together.
    concurrent_start : in how many dimensions tiles of a band without a parallel row shall start together
        (diamond tiling); 0 keeps the rows of least distance.
    split_index_sets : cut statements along dependences that reach around a periodic domain, where that makes more loops
        tileable (`index_sets`); for Pluto's and Feautrier's algorithm, and for strategies.
    max_coefficient : bound on the absolute value of iterator and parameter coefficients.
    max_shift : bound on the absolute value of constant shifts.
    across_cuts : how much further parts of one statement may be shifted against each other: the size of a periodic
        domain that is a number (`index_sets` sets it; a symbolic size needs a shift by a parameter).
    solver_seconds, all_solver_seconds : budget of one integer program and of all those of one schedule, in the
        solver's deterministic seconds.
    isl_operations, seconds : budget of one schedule, in isl operations and in processor seconds; when it runs out, the
        order as written is kept.
    """

    fusion: str = "smart"
    input_dependences: bool = False
    cache_bytes: int | None = None
    line_bytes: int = LINE_BYTES
    concurrent_start: int = 0
    split_index_sets: bool = False
    max_coefficient: int = LIMITS.most_coefficient
    max_shift: int = LIMITS.most_shift
    across_cuts: int = 0
    solver_seconds: float = LIMITS.solver_seconds
    all_solver_seconds: float = LIMITS.all_solver_seconds
    isl_operations: int = ISL_OPERATIONS
    seconds: float = LIMITS.schedule_seconds

    def __post_init__(self) -> None:
        if self.fusion not in FUSION_POLICIES:
            raise UsageError(f"no fusion policy {self.fusion!r}", hint=f"one of {', '.join(FUSION_POLICIES)}")
        for name, least in (("max_coefficient", 1), ("max_shift", 0), ("across_cuts", 0), ("concurrent_start", 0)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} must be at least {least}", witness=f"{name}={getattr(self, name)}")

    @property
    def kept_bytes(self) -> int:
        """What a cache keeps between two loop nests: `cache_bytes`, or that of `Target()`."""
        return Target().kept_bytes(2) if self.cache_bytes is None else self.cache_bytes

    @property
    def isl_budget(self) -> str:
        """The budget of one schedule in words."""
        return in_words(self.isl_operations, self.seconds)

    @property
    def shift_limit(self) -> int:
        """Bound on the absolute value of any constant of a row."""
        return self.max_shift + self.across_cuts
