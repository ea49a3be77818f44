"""Schedules: automatic ones by several algorithms, all of them checked exactly."""

from polysched.scheduling.algorithms import ALGORITHMS
from polysched.scheduling.isl_scheduler import isl_schedule
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.original import original
from polysched.scheduling.pluto_scheduler import by_strategy, feautrier, pluto
from polysched.scheduling.schedule import Schedule, SolverReport
from polysched.scheduling.strategy import STRATEGIES, Strategy

__all__ = ["ALGORITHMS", "STRATEGIES", "Schedule", "SchedulerOptions", "SolverReport", "Strategy", "by_strategy",
           "feautrier", "isl_schedule", "original", "pluto"]

PROVIDED = {
    "Schedule.__str__": "display:schedule_text",
    "Schedule._repr_html_": "display:schedule_html",
    "Schedule.to_text": "interchange.forms:written",
    "Schedule.from_text": "interchange.forms:foreign_tree",
}
"""What methods of values call (`scop.provided`)."""
