"""A placement executed: every core of the mesh is an MPI rank, and every byte goes from rank to rank along its route.

    mpiexec -n 4 python ranks.py placement.json

Operators are elementwise on vectors of bytes of one length, cut evenly over the cores in row-major order.  Rank 0
prints, as JSON, the bytes that went over each link, and whether the results are those of a run without a mesh.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

Core = tuple[int, int]


def cores_of(operator: Mapping[str, Any]) -> list[Core]:
    """The cores of an operator's rectangle in row-major order."""
    return [(operator["row"] + r, operator["column"] + c) for r in range(operator["rows"])
            for c in range(operator["columns"])]


def slices_of(length: int, count: int) -> list[tuple[int, int]]:
    """A vector cut evenly."""
    return [(length * n // count, length * (n + 1) // count) for n in range(count)]


def pieces(length: int, source: Sequence[Core], sink: Sequence[Core]) -> Iterator[tuple[Core, Core, int, int]]:
    """From which core to which one each range of a vector goes."""
    for start, (a, b) in zip(source, slices_of(length, len(source)), strict=True):
        for end, (c, d) in zip(sink, slices_of(length, len(sink)), strict=True):
            if max(a, c) < min(b, d):
                yield start, end, max(a, c), min(b, d)


def way(start: Core, end: Core, order: str) -> list[Core]:
    """All cores of a route along the row first (`xy`) or the column first (`yx`)."""
    corner = (start[0], end[1]) if order == "xy" else (end[0], start[1])
    cores = [start]
    for goal in (corner, end):
        while cores[-1] != goal:
            row, column = cores[-1]
            cores.append((row + np.sign(goal[0] - row), column + np.sign(goal[1] - column)))
    return [(int(r), int(c)) for r, c in cores]


def computed(number: int, given: Sequence[np.ndarray], first: int, length: int) -> np.ndarray:
    """What an operator makes of the same range of all its inputs, in bytes that wrap around."""
    total = np.arange(first, first + length, dtype=np.int64) * (2 * number + 3)
    for place, each in enumerate(given):
        total += (place + 5) * each.astype(np.int64)
    return np.asarray(total % 251).astype(np.uint8)


def alone(placed: Mapping[str, Any], length: int) -> dict[str, np.ndarray]:
    """All results without a mesh."""
    results: dict[str, np.ndarray] = {}
    for number, operator in enumerate(placed["operators"]):
        given = [results[m["source"]] for m in placed["messages"] if m["sink"] == operator["name"]]
        results[operator["name"]] = computed(number, given, 0, length)
    return results


def main(path: str) -> None:
    """Run all operators, in the order of the file, which is topological."""
    world = MPI.COMM_WORLD
    placed = json.loads(Path(path).read_text())
    columns, length = placed["target"]["columns"], placed["messages"][0]["bytes"]
    me: Core = divmod(world.rank, columns)
    cores = {o["name"]: cores_of(o) for o in placed["operators"]}
    held: dict[str, np.ndarray] = {}          # this core's part of each of its operators' results
    sent = np.zeros((world.size, world.size), dtype=np.int64)
    for number, operator in enumerate(placed["operators"]):
        name, own = operator["name"], {}
        if me in cores[name]:
            first, end = slices_of(length, len(cores[name]))[cores[name].index(me)]
        given = []
        for message in (m for m in placed["messages"] if m["sink"] == name):
            arrived = np.zeros(length, dtype=np.uint8)
            source = cores[message["source"]]
            for start, goal, low, high in pieces(length, source, cores[name]):
                parcel = np.empty(high - low, dtype=np.uint8)
                if me == start:
                    begin = slices_of(length, len(source))[source.index(me)][0]
                    parcel[:] = held[message["source"]][low - begin:high - begin]
                for here, there in itertools.pairwise(way(start, goal, message["order"])):
                    if me == here:
                        world.Send(parcel, dest=there[0] * columns + there[1])
                        sent[world.rank, there[0] * columns + there[1]] += len(parcel)
                    elif me == there:
                        world.Recv(parcel, source=here[0] * columns + here[1])
                if me == goal:
                    arrived[low:high] = parcel
            given.append(arrived)
        if me in cores[name]:
            own = computed(number, [g[first:end] for g in given], first, end - first)
            held[name] = own
    expected, equal = alone(placed, length), True
    for name, result in held.items():
        first, end = slices_of(length, len(cores[name]))[cores[name].index(me)]
        equal = equal and bool((result == expected[name][first:end]).all())
    total = world.reduce(sent, root=0)
    every = world.gather(equal, root=0)
    if world.rank == 0:
        links = {f"{a},{b}": int(total[a, b]) for a, b in np.argwhere(total).tolist()}
        print(json.dumps({"links": links, "equal": all(every)}))


if __name__ == "__main__":
    main(sys.argv[1])
