"""What every rank of a distributed program runs: load the function, fill its arrays, call it, compare the results.

Started by `measure.ranks` as `python -m polysched.measure.timing.rank_run REQUEST`, below `mpiexec`; alone, with
`reference` in the request, it runs the original and keeps its results.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np

from polysched.measure.processes.perf_counters import PerfCounters
from polysched.measure.programs.inputs import FLOATS, NDArray
from polysched.measure.timing.paired_run import Place, Program, fill_places, make_places, restore


def main(argv: list[str]) -> None:
    """Run one rank; what it found goes to a file of its own in the folder of the request."""
    request: dict[str, Any] = json.loads(Path(argv[1]).read_text())
    folder = Path(argv[1]).parent
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    program = Program("rank", request["library"], ctypes.CDLL(request["timer"]))
    places = make_places(request["places"], [program])
    program.bind(places)
    found = _reference(request, folder, program, places) if request["reference"] else _rank(
        request, folder, program, places)
    target = folder / f"{'reference' if request['reference'] else 'rank'}_{os.getpid()}.json"
    target.with_suffix(".part").write_text(json.dumps(found))
    target.with_suffix(".part").rename(target)


def _reference(request: dict[str, Any], folder: Path, program: Program, places: list[Place]) -> dict[str, Any]:
    """The results under the first recipe that gives finite ones which differ from the inputs."""
    for recipe in request["recipes"]:
        fill_places(places, recipe, request["seed"])
        restore(places, program)
        sample = program.run(PerfCounters())
        results = [place.work["rank"] for place in places]
        changed = any(not _equal(r, p.pristine).all() for r, p in zip(results, places, strict=True))
        finite = all(np.isfinite(r).all() for r, p in zip(results, places, strict=True)
                     if p.dtype in FLOATS and r.dtype.kind == "f")
        if changed and finite:
            break
    for number, result in enumerate(results):
        np.save(folder / f"result_{number}.npy", result)
    return {"recipe": recipe, "changed": changed, "cpu_seconds": sample["process_cpu_seconds"]}


def _rank(request: dict[str, Any], folder: Path, program: Program, places: list[Place]) -> dict[str, Any]:
    fill_places(places, request["recipe"], request["seed"])
    samples, wrong = [], list[dict[str, Any]]()
    sent = (ctypes.c_long * 4)()
    for _ in range(request["repeats"]):
        restore(places, program)
        samples.append(program.run(PerfCounters()))
        if not wrong:
            wrong = _differences(folder, places)
    library = ctypes.CDLL(request["library"])
    library.polysched_sent_so_far(sent)
    overwritten = [p.name for p in places if p.guarded is not None and not p.guarded.guards_intact()]
    return {"cpu_seconds": [s["process_cpu_seconds"] for s in samples],
            "wall_seconds": [s["wall_seconds"] for s in samples],
            "sent": [value / request["repeats"] for value in sent], "wrong": wrong, "overwritten": overwritten}


def _differences(folder: Path, places: list[Place]) -> list[dict[str, Any]]:
    found = []
    for number, place in enumerate(places):
        expected = np.load(folder / f"result_{number}.npy")
        same = _equal(place.work["rank"], expected)
        if not same.all():
            index = np.argwhere(~same.reshape(expected.shape or (1,)))[0] if expected.shape else ()
            found.append({"array": place.name, "elements": int((~same).sum()), "first": [int(i) for i in index]})
    return found


def _equal(a: NDArray, b: NDArray) -> NDArray:
    """Bit for bit, element by element."""
    size = a.dtype.itemsize
    left, right = (np.ascontiguousarray(x).view(np.uint8).reshape((*x.shape, size)) for x in (a, b))
    return np.asarray((left == right).all(axis=-1))


if __name__ == "__main__":
    main(sys.argv)
