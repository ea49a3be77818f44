"""Functions of a check, compiled once: a sum as written, and codes in its place of which each has one property."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from polysched.measure.processes.building import compile_shared
from polysched.target import find_compiler

ORIGINAL = "for (long i = 0; i < n; i++) C[i] += A[i];"
CODES = {"right": ORIGINAL, "again": ORIGINAL, "wrong": "for (long i = 0; i < n; i++) C[i] += A[i] + (i == 3);",
         "beside": f"{ORIGINAL} C[n] = 1;", "skips": "skipped_skips = 1;",
         "wrong_and_beside": "for (long i = 0; i <= n; i++) C[i] = 0;"}
HEAD = "(long n, int *C, int *A)"


def library(folder: Path) -> ctypes.CDLL:
    """All of them in one shared object."""
    parts = ["#pragma GCC visibility push(default)"]
    for name, code in CODES.items():
        parts += [f"int skipped_{name}; void prepare_{name}{HEAD} {{ }}",
                  f"void original_{name}{HEAD} {{ {ORIGINAL} }}", f"void replaced_{name}{HEAD} {{ {code} }}",
                  f"double timed_{name}{HEAD} {{ replaced_{name}(n, C, A); return C[0]; }}"]
    made = compile_shared("\n".join(parts), name="sums", folder=folder, compiler=find_compiler(), flags=("-O0",),
                          openmp=False)
    return ctypes.CDLL(str(made.path))


def item(entry: str, **other: Any) -> dict[str, Any]:
    """A check of seven elements, as a request has it."""
    def array(name: str) -> dict[str, Any]:
        return {"name": name, "dtype": "int32", "shape": [7], "values": "any", "most": 0, "compared": True, "boxes": []}

    return {"entry": entry, "instruction": "add", "sizes": "i 7", "arrays": [array("C"), array("A")], "parameters": [7],
            "equality": "bit for bit", "sampled": False, "trials": 6} | other
