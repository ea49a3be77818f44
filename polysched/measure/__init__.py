"""Compile, run isolated, verify, time.

Names are loaded on first use: the child processes of a measurement import this package, and start quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.lazy_names import loader

if TYPE_CHECKING:
    from polysched.measure.measurement import Measurement, Verification, Work
    from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
    from polysched.measure.processes.building import Binary, compile_shared
    from polysched.measure.processes.isolation import ChildEnd, Limits, run_isolated
    from polysched.measure.timing.statistics import Timing

_HOME = {
    "Binary": "processes.building", "compile_shared": "processes.building",
    "ChildEnd": "processes.isolation", "Limits": "processes.isolation", "run_isolated": "processes.isolation",
    "Measurement": "measurement", "Verification": "measurement", "Work": "measurement",
    "MeasureOptions": "paired", "Subject": "paired", "compare_and_time": "paired",
    "Timing": "timing.statistics",
}

__all__ = ["Binary", "ChildEnd", "Limits", "MeasureOptions", "Measurement", "Subject", "Timing", "Verification", "Work",
           "compare_and_time", "compile_shared", "run_isolated"]

PROVIDED = {
    "Measurement.__str__": "summary:measurement_text",
    "Measurement._repr_html_": "summary:measurement_html",
}
"""What methods of values call (`scop.provided`)."""


__getattr__, __dir__ = loader(__name__, _HOME)
