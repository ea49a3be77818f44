"""Contestants of the tests of contests."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from polysched.experiment import Entry
from polysched.measure.measurement import Build


def make(parameters: Mapping[str, Any]) -> Entry:
    """Double a vector in place; `how` says what goes wrong."""
    how, values = parameters["how"], np.arange(1.0, 9.0)
    pristine = values.copy()
    if how == "cannot start":
        raise RuntimeError("no such library")

    def restore() -> None:
        values[:] = pristine

    def call() -> None:
        if how == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if how == "silent":
            time.sleep(60)
        time.sleep(parameters.get("seconds", 0.001))
        values[:] *= 2
        if how == "wrong":
            values[3] += 1e-3
        if how == "contracted":
            values[3] += 1e-4
        if how == "far off":
            values[3] += 1.0
    print("this is no answer", flush=True)
    build = Build(compiler="gcc", version="gcc 12", flags=("-O3",), source_sha256="0" * 64, compile_seconds=0.1)
    return Entry(build=build, call=call, restore=restore, results=lambda: {"values": values}, note="a note")


def where(parameters: Mapping[str, Any]) -> Entry:
    """Say to which processors this process was bound from its start, and how its threads are."""
    return replace(make(parameters), note=f"{len(os.sched_getaffinity(0))} {os.environ.get('OMP_PROC_BIND')}")
