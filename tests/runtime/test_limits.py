"""The limits of this room are positive, and hold for the C of the scheduler."""

from polysched.runtime.limits import LIMITS
from polysched.runtime.scheduler_source import SCHEDULER


def test_the_scheduler_has_as_many_threads_as_are_allowed() -> None:
    assert f"threads[{LIMITS.most_workers}]" in SCHEDULER
    assert f".sched_priority = {LIMITS.fifo_priority}" in SCHEDULER
    assert LIMITS.most_requests > LIMITS.most_yields > 0
