"""The process of one case: load the experiment, measure, report.

Started by `measure.processes.isolation.run_isolated` as `python -m polysched.experiment.case_child REQUEST REPORTS`.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from polysched.errors import PolyschedError
from polysched.experiment.case_run import settings_from
from polysched.experiment.folders import load
from polysched.measure.processes.child_side import Reporter, serve
from polysched.measure.processes.threads import pinned_processors


def measure(request: dict[str, Any], reporter: Reporter) -> None:
    """Measure and report the values, or the refusal."""
    case, settings = settings_from(request)
    try:
        if settings.pin:
            os.sched_setaffinity(0, pinned_processors(max(settings.threads)))
        experiment = load(settings.folder)
        values = experiment.measure(case, settings, reporter.phase)
        reporter.report(values=dict(values))
    except PolyschedError as refusal:
        reporter.report(refused=str(refusal))


if __name__ == "__main__":
    serve(measure, sys.argv)
