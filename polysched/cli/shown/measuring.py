"""How a program is measured, from the options of the command line."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polysched.measure.paired import MeasureOptions

MEBIBYTE = 1 << 20


def measure_options(arguments: argparse.Namespace) -> MeasureOptions:
    """The measuring options from the command line's."""
    from polysched.measure.paired import MeasureOptions
    from polysched.measure.processes.building import DEFAULT_FLAGS
    from polysched.measure.processes.isolation import Limits
    from polysched.measure.timing.machine import available_memory
    memory = arguments.memory * MEBIBYTE if arguments.memory else max(64 * MEBIBYTE, available_memory() * 3 // 4)
    return MeasureOptions(
        cc=arguments.cc, flags=DEFAULT_FLAGS if arguments.cflags is None else tuple(shlex.split(arguments.cflags)),
        threads=arguments.threads, pin=arguments.pin, pairs=arguments.pairs, budget_seconds=arguments.budget,
        cold_cache=arguments.cold_cache, seed=arguments.seed, tolerance=arguments.tolerance,
        limits=Limits(seconds=arguments.timeout, memory_bytes=memory))
