"""A compiled C function as a contestant: its arguments by name and seed, put back before every call."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polysched.experiment.contestant import Entry, program
from polysched.measure.processes.call_interface import Slot
from polysched.measure.programs.inputs import allocate, fill, set_elements


def described(slots: Sequence[Slot], recipe: str = "dominant") -> dict[str, Any]:
    """What a contestant needs to make the arguments, as JSON values.

    Parameters
    ----------
    recipe : of the values of arrays (`measure.programs.inputs.fill`).
    """
    return {"slots": [{"name": s.name, "dtype": s.dtype.name, "is_array": s.is_array, "shape": list(s.shape),
                       "value": s.value, "index_extent": s.index_extent, "constant": s.constant,
                       "elements": s.elements}
                      for s in slots], "recipe": recipe}


def command(library: Path, slots: Sequence[Slot], folder: Path, name: str, *,
            recipe: str = "dominant") -> tuple[str, ...]:
    """The command that runs a library made from `measure.processes.call_interface.wrapper` as a contestant."""
    return program(Path(__file__), "library_entry", described(slots, recipe) | {"library": str(library)}, folder, name)


class Arguments:
    """The arguments of a call: what every variant of a kernel gets, and how they are put back."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.is_array = {s["name"]: s["is_array"] for s in parameters["slots"]}
        for s in parameters["slots"]:
            array = self.arrays[s["name"]] = allocate(s["dtype"], tuple(s["shape"])).values
            if s["value"] is not None:
                array[...] = s["value"]
            else:
                fill(array, s["dtype"], name=s["name"], recipe=parameters["recipe"], seed=1,
                     index_extent=s["index_extent"])
            set_elements(array, s["elements"])
        self.pristine = {n: a.copy() for n, a in self.arrays.items() if self.is_array[n]}

    def restore(self) -> None:
        """Put the inputs back."""
        for name, value in self.pristine.items():
            np.copyto(self.arrays[name], value)

    def results(self) -> dict[str, np.ndarray]:
        """Every array, as the last call left it."""
        return {n: self.arrays[n] for n in self.pristine}


def library_entry(parameters: Mapping[str, Any]) -> Entry:
    """A compiled C function."""
    arguments = Arguments(parameters)
    called = ctypes.CDLL(parameters["library"]).polysched_call
    called.restype = None
    slots = (ctypes.c_void_p * len(arguments.arrays))(*(a.ctypes.data for a in arguments.arrays.values()))
    return Entry(call=lambda: called(slots), restore=arguments.restore, results=arguments.results)
