"""Schedules: automatic ones by several algorithms, all of them checked exactly."""

from polysched.scheduling.algorithms import ALGORITHMS
from polysched.scheduling.isl_scheduler import isl_schedule
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.original import original
from polysched.scheduling.pluto_scheduler import feautrier, pluto
from polysched.scheduling.schedule import Schedule, SolverReport

__all__ = ["ALGORITHMS", "Schedule", "SchedulerOptions", "SolverReport", "feautrier", "isl_schedule", "original",
           "pluto"]
