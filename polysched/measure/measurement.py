"""The Measurement value: one verified comparison with everything that is needed to judge or repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from polysched.measure.programs.comparison import ArrayComparison
from polysched.measure.timing.machine import Conditions, Machine
from polysched.measure.timing.peak import Peaks
from polysched.measure.timing.statistics import Timing
from polysched.records import dataclass
from polysched.scop.provided import provided
from polysched.scop.shown import Shown

FORMAT_VERSION = 2
"""1: the first. 2: `listings` and `peaks`, for reports."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The comparison of the transformed code's results with the untransformed code's.

    Parameters
    ----------
    arrays : one comparison per array, scalar and result.
    recipe : how the inputs were filled (`measure.programs.inputs.RECIPES`).
    seed : of the random numbers.
    amplification : the largest relative change of a result when the inputs change by rounding errors.
    well_conditioned : that change is within the tolerance, so a larger difference is an error of the code.
    problem : why this does not count as a verification; empty when it does.
    """

    arrays: tuple[ArrayComparison, ...]
    recipe: str
    seed: int
    amplification: float
    well_conditioned: bool
    problem: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem and not self.mismatches

    @property
    def mismatches(self) -> int:
        return sum(c.mismatches for c in self.arrays)

    @property
    def largest_absolute(self) -> float:
        return max((c.largest_absolute for c in self.arrays), default=0.0)

    @property
    def largest_relative(self) -> float:
        return max((c.largest_relative for c in self.arrays), default=0.0)

    @property
    def worst(self) -> ArrayComparison | None:
        """The array with the largest relative difference; None when there is no difference."""
        differing = [c for c in self.arrays if c.largest_absolute > 0]
        return max(differing, key=lambda c: c.largest_relative, default=None)


@dataclass(frozen=True, kw_only=True)
class Work:
    """What the regions do at one size, counted from their domains and accesses.

    Parameters
    ----------
    flop_count : floating-point additions, multiplications, divisions and comparisons of all instances; calls count one.
    bytes_moved : bytes of all distinct array elements that are read, plus those that are written.
    """

    flop_count: int
    bytes_moved: int


@dataclass(frozen=True, kw_only=True)
class Build:
    """How a program was compiled.

    Parameters
    ----------
    compiler : its command.
    version : the first line of `--version`.
    flags : options that change the code.
    source_sha256 : of the whole file, as read or as transformed.
    compile_seconds : wall time of the compiler.
    """

    compiler: str
    version: str
    flags: tuple[str, ...]
    source_sha256: str
    compile_seconds: float


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One region for readers: what stood in the file, and what became of it.

    Parameters
    ----------
    line : where the region begins in the file; 0 when it stood in none.
    original : the C of the region as it was read.
    schedule : the tiled schedule tree as indented text.
    transformed : the emitted C.
    """

    line: int
    original: str
    schedule: str
    transformed: str


@dataclass(frozen=True, kw_only=True)
class Measurement(Shown):
    """One function, transformed, verified and timed against the original.

    Parameters
    ----------
    experiment : a hash of what was measured and how (sources, sizes, build, inputs, machine), not of the outcome:
        two measurements with the same one repeat each other.
    source : the file as the user named it.
    function : the function that was called.
    sizes : every parameter by its C spelling.
    threads : OMP_NUM_THREADS of the run.
    cold_cache : the caches were flushed before every call.
    options : what was asked for (scheduler, tile sizes, ...).
    steps : how the schedule came about, as text.
    original : the build of the code as written.
    transformed : the build of the transformed code.
    verification : None when a run failed before the results could be compared.
    timing : None unless the verification passed.
    failure : what went wrong in the child process; empty when nothing did.
    work : None when it could not be counted within its budget.
    peak_flop_per_second : of as many cores as there are threads, for the type of the results; None when
        `polysched machine` has not measured it.
    peaks : everything that `polysched machine` has measured of this machine; None when it has not.
    listings : the regions with their schedules and the emitted C; empty when the caller kept none.
    machine : where it ran.
    conditions : of the machine when the result was recorded.
    libraries : versions of the packages that were used.
    git_revision : of the checkout.
    started : when, in UTC (ISO 8601).
    """

    experiment: str
    source: str
    function: str
    sizes: Mapping[str, int]
    threads: int
    cold_cache: bool
    options: Mapping[str, object]
    steps: tuple[str, ...]
    original: Build
    transformed: Build
    verification: Verification | None
    timing: Timing | None
    failure: str
    work: Work | None
    peak_flop_per_second: float | None
    machine: Machine
    conditions: Conditions
    libraries: Mapping[str, str]
    git_revision: str
    started: str
    peaks: Peaks | None = None
    listings: tuple[Listing, ...] = ()
    format_version: int = field(default=FORMAT_VERSION)

    def __post_init__(self) -> None:
        if self.timing is not None and not self.verified:
            raise ValueError("an unverified result has no time")

    @property
    def flop_per_second(self) -> float | None:
        """What the transformed code reached; None when it was not timed or the work not counted."""
        if self.timing is None or self.work is None:
            return None
        return self.work.flop_count / max(self.timing.transformed_seconds, 1e-9)

    @property
    def share_of_peak(self) -> float | None:
        """The reached operations per second as a share of the machine's."""
        reached = self.flop_per_second
        return None if reached is None or not self.peak_flop_per_second else reached / self.peak_flop_per_second

    @property
    def verified(self) -> bool:
        """Whether the transformed code computed what the original does."""
        return self.verification is not None and self.verification.passed and not self.failure

    def headline(self) -> str:
        """For instance `gemm, n=1024: 5.03 times as fast as the original`, or why there is no time."""
        sizes = "".join(f", {name}={value}" for name, value in self.sizes.items())
        if self.timing is None:
            return f"{self.function}{sizes}: {self.failure or 'not verified'}"
        return f"{self.function}{sizes}: {self.timing.ratio:.3g} times as fast as the original"

    def __str__(self) -> str:
        text: str = provided("measure", "Measurement.__str__")(self)
        return text

    def _repr_html_(self) -> str:
        html: str = provided("measure", "Measurement._repr_html_")(self)
        return html
