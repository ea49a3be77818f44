"""The regions that `--autodetect` finds: which of them every stage accepts."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from polysched.emit_c import untestable
from polysched.errors import PolyschedError, SourceLocation, UnsupportedScopError, UsageError
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
    seconds : what the stages took.
    """

    run: Callable[[Scop], Result]
    trusted: bool
    regions: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    accepted: list[Scop] = field(default_factory=list)
    refused: list[tuple[Scop, PolyschedError]] = field(default_factory=list)

    def usable(self, scop: Scop) -> bool:
        """Run the stages; whether every one of them accepts the region.

        Raises
        ------
        UsageError : the options are at fault, not the region.
        """
        started = time.perf_counter()
        try:
            if not self.trusted:
                _check_testable(scop)
            self.regions.append(self.run(scop))
            self.accepted.append(scop)
        except UsageError:
            raise
        except PolyschedError as error:
            logger.info("not as a whole: %s", error)
            self.refused.append((scop, error))
            return False
        finally:
            self.seconds += time.perf_counter() - started
        return True

    @property
    def first_refusal(self) -> PolyschedError | None:
        """Why the first region that was found is not transformed as a whole."""
        return self.refused[0][1] if self.refused else None

    def tell(self) -> None:
        """Warn of every region of which nothing is transformed, once: of its smallest part."""
        smaller = [*self.accepted, *(scop for scop, _ in self.refused)]
        for scop, error in self.refused:
            if not any(other is not scop and _inside(other, scop) for other in smaller):
                logger.warning("left as it is: %s", error)


def _inside(part: Scop, whole: Scop) -> bool:
    """Whether a region is a part of another one."""
    assert part.source is not None
    assert whole.source is not None
    return whole.source.start <= part.source.start and part.source.end <= whole.source.end


def _check_testable(scop: Scop) -> None:
    """Refuse a region that takes for granted what no test at run time can tell."""
    if found := untestable(scop):
        line = scop.statements[0].line if scop.statements else 0
        path = scop.source.path if scop.source is not None else scop.name
        raise UnsupportedScopError(
            "nobody promised what transforming these loops takes for granted, and no test can tell it",
            where=SourceLocation(path, line), witness=found[0].text, hint="--no-guard takes it for granted")
