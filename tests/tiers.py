"""The quick tier: every test but those of functions that a record names, each of which takes long on average.

A new test is quick until the next record says that it is not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

RECORD = Path(__file__).with_name("not_quick.txt")
MOST_SECONDS = 0.15
"""What a test of the quick tier takes on average over its parameters: several thousand of them fit two minutes."""


def function_of(nodeid: str) -> str:
    """A test's file and function, without its parameters."""
    return nodeid.split("[")[0]


def recorded() -> frozenset[str]:
    return frozenset(RECORD.read_text().split())


def slow_functions(seconds: Iterable[tuple[str, float]], *, most: float = MOST_SECONDS) -> list[str]:
    """The functions whose tests take more than `most` seconds on average.

    Parameters
    ----------
    seconds : node identifiers of tests, each with what its phases took; a test may occur several times.
    """
    taken: dict[str, float] = defaultdict(float)
    for nodeid, duration in seconds:
        taken[nodeid] += duration
    functions: dict[str, list[float]] = defaultdict(list)
    for nodeid, duration in taken.items():
        functions[function_of(nodeid)].append(duration)
    return sorted(name for name, durations in functions.items() if sum(durations) / len(durations) > most)
