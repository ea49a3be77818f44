"""What Linux says about the processor."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FILE = Path("/proc/cpuinfo")


@cache
def processor_flags() -> frozenset[str]:
    """The features that the system lists for the first core (`flags` of x86, `Features` of ARM); none elsewhere."""
    try:
        lines = FILE.read_text().splitlines()
    except OSError:
        return frozenset()
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return frozenset(value.split())
    return frozenset()
