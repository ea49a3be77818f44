"""The child process of `batch`: call functions of a shared object and store what they leave in their arrays.

It imports no room but the light files of measure/, so that it starts quickly.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from polysched.measure.processes.child_side import start
from polysched.measure.programs.inputs import WHOLE, GuardedArray, allocate, fill
from polysched.measure.programs.trace_run import TRACE

MOST_INPUTS = 50
SCALARS: dict[str, Any] = {
    "int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float, "float64": ctypes.c_double,
}


class Keep(Enum):
    """What of a call's arrays comes back."""

    ARRAYS = "arrays"          # all of them
    REFERENCE = "reference"    # nothing; the calls behind it are compared with it
    DIFFERENCE = "difference"  # the first element that differs from the last reference, in words


def main(arguments: list[str]) -> None:
    request, reporter = start(arguments)
    caller = _Caller([ctypes.CDLL(library) for library in request["libraries"]])
    reference: dict[str, np.ndarray] = {}
    for number, job in enumerate(request["jobs"]):
        reporter.phase(f"running {job['label']}")
        arrays, records = caller.call(job)
        stray = [name for name, array in arrays.items() if not array.guards_intact()]
        values = {name: array.values for name, array in arrays.items()}
        keep = Keep(job["keep"])
        if keep is Keep.REFERENCE:
            reference = values
        stored = keep is Keep.ARRAYS or job["trace_size"] > 0
        if stored:
            named: dict[str, Any] = {f"array_{name}": array for name, array in values.items()}
            np.savez(Path(request["outputs"]) / f"{number}.npz", records=records, **named)
        found = "" if keep is not Keep.DIFFERENCE else differences(
            reference, values, job["tolerance"], signed_zeros=job["recipe"] != WHOLE)
        reporter.report(job=f"wrote outside {stray[0]}" if stray else "", stored=stored, difference=found)
    reporter.report(end="finished")


class _Caller:
    """Calls functions of shared objects on arrays of their own."""

    def __init__(self, libraries: list[ctypes.CDLL]) -> None:
        self.libraries = libraries
        self.inputs: dict[tuple[Any, ...], np.ndarray] = {}

    def call(self, job: dict[str, Any]) -> tuple[dict[str, GuardedArray], np.ndarray]:
        """Run one job; its arrays and the instrumentation's reports."""
        library = next(found for found in self.libraries if hasattr(found, job["label"]))
        arrays = {argument["name"]: self.array(argument, job["seed"], job["recipe"]) for argument in job["arguments"]
                  if argument["value"] is None}
        passed = [ctypes.c_void_p(arrays[a["name"]].values.ctypes.data) if a["value"] is None
                  else SCALARS[a["dtype"]](a["value"]) for a in job["arguments"]]
        records = np.zeros(job["trace_size"], np.int64)
        getattr(library, f"{TRACE}_start")(ctypes.c_void_p(records.ctypes.data), ctypes.c_long(records.size))
        function = getattr(library, job["label"])
        function.restype = None
        function(*passed)
        used = getattr(library, f"{TRACE}_stop")()
        if used > records.size > 0:
            raise SystemExit(f"{job['label']} reported {used} numbers, more than there is room for")
        return arrays, records[:used]

    def array(self, argument: dict[str, Any], seed: int, recipe: str) -> GuardedArray:
        """The array of an argument with its input values, which are drawn once."""
        name, dtype, shape = argument["name"], argument["dtype"], tuple(argument["shape"])
        array = allocate(dtype, shape)
        key = (name, dtype, shape, seed, recipe)
        if key not in self.inputs:
            fill(array.values, dtype, name=name, recipe=recipe, seed=seed)
            if len(self.inputs) >= MOST_INPUTS:
                self.inputs.clear()
            self.inputs[key] = array.values.copy()
        array.values[...] = self.inputs[key]
        return array


def differences(expected: Mapping[str, np.ndarray], got: Mapping[str, np.ndarray], tolerance: float = 0.0, *,
                signed_zeros: bool = True) -> str:
    """The first element that differs, in words; empty when all arrays are equal (any not-a-number equals any other).

    Parameters
    ----------
    tolerance : of floats, relative to the largest finite element of the array, 1 at least; infinite ones only have to
        stay so.
    signed_zeros : zeros differ by their signs where there is no tolerance.
    """
    for name, right in expected.items():
        left = got[name]
        same = (left == right) | ((left != left) & (right != right))
        if signed_zeros and not tolerance and right.dtype.kind == "f":
            same &= (np.signbit(left) == np.signbit(right)) | (right != right)
        if tolerance and right.dtype.kind == "f" and not same.all():
            finite = np.isfinite(right)
            scale = np.abs(right[finite]).max(initial=1.0)
            with np.errstate(all="ignore"):
                same |= (np.abs(left - right) <= tolerance * scale) | (~finite & ~np.isfinite(left))
        if not same.all():
            index = tuple(int(i) for i in np.argwhere(~same)[0])
            subscripts = "".join(f"[{i}]" for i in index)
            return f"{name}{subscripts} is {left[index]} instead of {right[index]}"
    return ""


if __name__ == "__main__":
    main(sys.argv)
