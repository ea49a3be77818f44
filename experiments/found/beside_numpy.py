"""A kernel's product called in turn with `np.matmul` in one process, where both thread pools wait for work by spinning.

    python experiments/found/beside_numpy.py [--size 512] [--rounds 40] [--threads 2]

Each setting is a process of its own, since the OpenMP runtime reads its variables when it is loaded: how long threads
of GCC's runtime spin (`GOMP_SPINCOUNT`, `OMP_WAIT_POLICY`), and how long those of OpenBLAS do
(`OPENBLAS_THREAD_TIMEOUT`, 2 to this many cycles).  300,000 turns are what GCC's runtime does by itself.  Printed is
OpenBLAS's time over the kernel's, in turn and in blocks of their own; what both settings of a runtime have in common is
not the runtime's.  The last two columns are processor time that threads of one runtime take, waiting for work, while
the other computes, per call in turn (Linux's `schedstat`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from polysched.experiment.tables import markdown_table

SETTINGS: dict[str, dict[str, str]] = {
    "as loaded": {},
    "GOMP_SPINCOUNT=300000": {"GOMP_SPINCOUNT": "300000"},
    "OMP_WAIT_POLICY=passive": {"OMP_WAIT_POLICY": "passive"},
    "GOMP_SPINCOUNT=0": {"GOMP_SPINCOUNT": "0"},
    "GOMP_SPINCOUNT=10000": {"GOMP_SPINCOUNT": "10000"},
    "OPENBLAS_THREAD_TIMEOUT=4": {"OPENBLAS_THREAD_TIMEOUT": "4"},
    "both asleep": {"OMP_WAIT_POLICY": "passive", "OPENBLAS_THREAD_TIMEOUT": "4"},
}
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Variables that slow OpenBLAS down."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every setting and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512, metavar="N", help="rows and columns (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=40, metavar="N", help="calls of each (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="of each (default: %(default)s)")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        print(json.dumps(measured(given.size, given.rounds)))
        return 0
    rows = []
    for name, variables in SETTINGS.items():
        found = in_a_process(given, variables)
        ways = ("in turn", "in blocks")
        rows.append([name, *(f"{found[way]['numpy'] / found[way]['ours']:.2f}" for way in ways),
                     *(f"{found[way][who] * 1e3:.2f}" for who in ("ours", "numpy") for way in ways),
                     *(f"{found['waiting'][who] * 1e3:.2f}" for who in ("ours", "numpy"))])
    print(markdown_table([
        "setting", "in turn", "in blocks", "kernel, in turn, ms", "kernel, in blocks, ms", "NumPy, in turn, ms",
        "NumPy, in blocks, ms", "OpenBLAS waits, ms", "kernel waits, ms"], rows))
    return 0


def in_a_process(given: argparse.Namespace, variables: dict[str, str]) -> dict[str, dict[str, float]]:
    """The times of one setting."""
    count = str(given.threads)
    environment = {name: value for name, value in os.environ.items() if name not in UNSET}
    environment |= {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count, **variables}
    done = subprocess.run([sys.executable, __file__, "--one", "--size", str(given.size), "--rounds", str(given.rounds)],
                          env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


def measured(size: int, rounds: int) -> dict[str, dict[str, float]]:
    """The median wall time of a call of each, in turn and in blocks of their own."""
    import numpy as np

    import polysched

    @polysched.kernel
    def product(c: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] = 0.0
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    random = np.random.default_rng(1)
    a, b = random.random((size, size), np.float32), random.random((size, size), np.float32)
    c, d = np.empty((size, size), np.float32), np.empty((size, size), np.float32)
    calls: dict[str, Callable[[], object]] = {"ours": lambda: product(c, a, b), "numpy": lambda: np.matmul(a, b, out=d)}
    calls["numpy"]()
    before = set(thread_seconds())
    calls["ours"]()
    threads = {"numpy": before - {str(os.getpid())}, "ours": set(thread_seconds()) - before}
    np.testing.assert_allclose(c, d, rtol=1e-3)
    orders = {"in turn": [name for _ in range(rounds) for name in calls],
              "in blocks": [name for name in calls for _ in range(rounds)]}
    found: dict[str, dict[str, float]] = {}
    for way, names in orders.items():
        seconds: dict[str, list[float]] = {name: [] for name in calls}
        for name in names:
            start = time.perf_counter()
            calls[name]()
            seconds[name].append(time.perf_counter() - start)
        found[way] = {name: median(values) for name, values in seconds.items()}
    return found | {"waiting": waiting_seconds(calls, threads, rounds)}


def waiting_seconds(calls: dict[str, Callable[[], object]], threads: dict[str, set[str]],
                    rounds: int) -> dict[str, float]:
    """Processor time per call, in turn, of the threads of the runtime that is not called."""
    spent: dict[str, list[float]] = {name: [] for name in calls}
    other = {"ours": "numpy", "numpy": "ours"}
    for _ in range(rounds):
        for name, call in calls.items():
            started = thread_seconds()
            call()
            ended = thread_seconds()
            spent[name].append(sum(ended[t] - started[t] for t in threads[other[name]] if t in started and t in ended))
    return {name: median(values) for name, values in spent.items()}


def thread_seconds() -> dict[str, float]:
    """Processor time of each thread of this process, by its number."""
    found = {}
    for folder in Path("/proc/self/task").iterdir():
        found[folder.name] = int((folder / "schedstat").read_text().split()[0]) * 1e-9
    return found


if __name__ == "__main__":
    raise SystemExit(main())
