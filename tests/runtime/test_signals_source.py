"""The C of signals is a part of the scheduler's, with its numbers filled in."""

import re

from polysched.runtime.limits import LIMITS
from polysched.runtime.scheduler_source import SCHEDULER
from polysched.runtime.signals_source import SIGNALS


def test_its_numbers_are_those_of_the_limits() -> None:
    assert f".ss_size = {LIMITS.crash_bytes}," in SIGNALS
    assert f"tv_nsec = {round(1e9 * LIMITS.again_seconds)}}}" in SIGNALS
    assert not re.search(r"\b[A-Z]+_(CODE|BYTES|NANOSECONDS|SECONDS|SIGNAL|WORKERS|PRIORITY)\b", SCHEDULER)
