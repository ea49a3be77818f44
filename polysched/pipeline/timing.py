"""Stages told before they begin, with their wall time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

logger = logging.getLogger(__name__)
stage_logger = logging.getLogger("polysched.stages")  # told each stage before it begins; progress listens to it

Value = TypeVar("Value")
STAGE_WORDS = {"scop": "reading the program", "dependences": "finding the dependences", "schedule": "scheduling",
               "tests": "finding tests for run time",
               "tiled": "tiling", "tensorized": "computing statements by an instruction",
               "mapped": "mapping the loops to the device", "emitted": "writing C",
               "splice": "putting the C into the file"}

_PROCESSOR: ContextVar[tuple[Callable[[], float], dict[str, float]] | None] = ContextVar(
    "processor_seconds", default=None)


@contextmanager
def processor_seconds(clock: Callable[[], float]) -> Iterator[dict[str, float]]:
    """The processor seconds of each stage inside, as the clock counts them, one that does not end included."""
    found: dict[str, float] = {}
    token = _PROCESSOR.set((clock, found))
    try:
        yield found
    finally:
        _PROCESSOR.reset(token)


def timed(seconds: dict[str, float], stage: str, run: Callable[[], Value]) -> Value:
    """Run one stage and add its wall time to that of earlier runs."""
    stage_logger.info(STAGE_WORDS.get(stage, stage))
    clock, own = _PROCESSOR.get() or (time.thread_time, dict[str, float]())
    started, on_processor = time.perf_counter(), clock()
    try:
        value = run()
    finally:
        own[stage] = own.get(stage, 0.0) + clock() - on_processor
    taken = time.perf_counter() - started
    seconds[stage] = round(seconds.get(stage, 0.0) + taken, 6)
    logger.info("%s took %.3f s", STAGE_WORDS.get(stage, stage), taken)
    return value
