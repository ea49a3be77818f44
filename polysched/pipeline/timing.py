"""Stages told before they begin, with their wall time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

logger = logging.getLogger(__name__)
stage_logger = logging.getLogger("polysched.stages")  # told each stage before it begins; progress listens to it

Value = TypeVar("Value")
STAGE_WORDS = {"scop": "reading the program", "dependences": "finding the dependences", "schedule": "scheduling",
               "tiled": "tiling", "emitted": "writing C", "splice": "writing C"}


def timed(seconds: dict[str, float], stage: str, run: Callable[[], Value]) -> Value:
    """Run one stage and add its wall time to that of earlier runs."""
    stage_logger.info(STAGE_WORDS.get(stage, stage))
    started = time.perf_counter()
    value = run()
    taken = time.perf_counter() - started
    seconds[stage] = round(seconds.get(stage, 0.0) + taken, 6)
    logger.info("%s took %.3f s", stage, taken)
    return value
