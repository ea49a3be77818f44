"""Every automatic scheduler, by the name that `--scheduler` takes.  A new one is one file and one line."""

from __future__ import annotations

from typing import Protocol

from polysched.dependence.dependences import Dependences
from polysched.scheduling.isl_scheduler import isl_schedule
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.original import original
from polysched.scheduling.pluto_scheduler import feautrier, pluto
from polysched.scheduling.schedule import Schedule


class Algorithm(Protocol):
    """A scheduler: dependences in, a legal schedule out."""

    def __call__(self, dependences: Dependences, *, options: SchedulerOptions | None = None) -> Schedule: ...


ALGORITHMS: dict[str, Algorithm] = {
    "pluto": pluto,
    "feautrier": feautrier,
    "isl": isl_schedule,
    "original": original,
}
