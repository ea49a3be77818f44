"""The regions that `--autodetect` finds: which of them every stage accepts."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import field
from typing import Generic, TypeVar

from polysched.emit_c import untestable
from polysched.errors import FaultError, PolyschedError, SourceLocation, UnsupportedScopError, UsageError
from polysched.records import dataclass
from polysched.scop.budget import require_budget
from polysched.scop.scop import Scop

logger = logging.getLogger(__name__)

Result = TypeVar("Result")


@dataclass
class DetectedRegions(Generic[Result]):
    """All stages for the regions that are found; for smaller ones where a stage refuses the largest.

    So it is with a region that takes for granted what no test can tell, unless it was said that nothing needs a test.

    Parameters
    ----------
    run : all stages for one region.
    trusted : nothing needs a test at run time, or the user wants the tests that there can be.
    regions : what the stages made of the regions that they accept, in textual order.
    within : runs the search for tests of a region where its time counts.
    seconds : what the stages took.
    first_refusal : why the first region that was found is not transformed as a whole.
    """

    run: Callable[[Scop], Result]
    trusted: bool
    within: Callable[[Scop, Callable[[], Scop]], object] = lambda _, check: check()
    regions: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    first_refusal: PolyschedError | None = None

    def judge(self, scop: Scop) -> PolyschedError | None:
        """Run the stages; why one of them refuses the region, None where all of them accept it.

        A fault of the program at a region that nobody marked is no reason to give up the others: it is told, too.

        Raises
        ------
        UsageError : the options are at fault, not the region.
        """
        started = time.perf_counter()
        try:
            if not self.trusted:
                self.within(scop, lambda: _testable(scop))
            self.regions.append(self.run(scop))
        except (UsageError, MemoryError):
            raise
        except Exception as error:
            refusal = FaultError.of(error)
            logger.info("loops are not taken as a whole, parts of them are tried: %s", refusal)
            logger.debug("that comes from", exc_info=error)
            self.first_refusal = self.first_refusal or refusal
            return refusal
        finally:
            self.seconds += time.perf_counter() - started
        return None


def _testable(scop: Scop) -> Scop:
    """The region, unless it takes for granted what no test at run time can tell."""
    if found := untestable(scop):
        require_budget()   # when it is spent, a test may not have been found in time
        line = scop.statements[0].line if scop.statements else 0
        path = scop.source.path if scop.source is not None else scop.name
        raise UnsupportedScopError(
            "nobody promised what transforming these loops takes for granted, and no test can tell it",
            where=SourceLocation(path, line), witness=found[0].text, hint="--no-guard takes it for granted")
    return scop
