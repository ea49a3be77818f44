"""The child process of `batch`: call functions of a shared object and store what they leave in their arrays."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np

from polysched.measure.child_side import start
from polysched.measure.inputs import GuardedArray, allocate, fill
from polysched.measure.instance_trace import TRACE

SCALARS: dict[str, Any] = {
    "int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float, "float64": ctypes.c_double,
}


def main(arguments: list[str]) -> None:
    request, reporter = start(arguments)
    library = ctypes.CDLL(request["library"])
    for number, job in enumerate(request["jobs"]):
        reporter.phase(f"running {job['label']}")
        arrays, records = call(library, job, request["recipe"])
        stray = [name for name, array in arrays.items() if not array.guards_intact()]
        stored: dict[str, Any] = {f"array_{name}": array.values for name, array in arrays.items()}
        np.savez(Path(request["outputs"]) / f"{number}.npz", records=records, **stored)
        reporter.report(job=f"wrote outside {stray[0]}" if stray else "")
    reporter.report(end="finished")


def call(library: ctypes.CDLL, job: dict[str, Any], recipe: str) -> tuple[dict[str, GuardedArray], np.ndarray]:
    """Run one job; its arrays and the instrumentation's reports."""
    passed: list[Any] = []
    arrays: dict[str, GuardedArray] = {}
    for argument in job["arguments"]:
        name, dtype = argument["name"], argument["dtype"]
        if argument["value"] is not None:
            passed.append(SCALARS[dtype](argument["value"]))
            continue
        arrays[name] = allocate(dtype, tuple(argument["shape"]))
        fill(arrays[name].values, dtype, name=name, recipe=recipe, seed=job["seed"])
        passed.append(ctypes.c_void_p(arrays[name].values.ctypes.data))
    records = np.zeros(job["trace_size"], np.int64)
    getattr(library, f"{TRACE}_start")(ctypes.c_void_p(records.ctypes.data), ctypes.c_long(records.size))
    function = getattr(library, job["label"])
    function.restype = None
    function(*passed)
    used = getattr(library, f"{TRACE}_stop")()
    if used > records.size > 0:
        raise SystemExit(f"{job['label']} reported {used} numbers, more than there is room for")
    return arrays, records[:used]


if __name__ == "__main__":
    main(sys.argv)
