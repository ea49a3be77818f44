"""Hierarchical partitioning of operators over a mesh; very many of them in several processes.

The parts of the first level know nothing of each other, so each process goes on with some of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from polysched.errors import RunFailedError, UsageError
from polysched.mesh.limits import LIMITS
from polysched.mesh.regions import Region, divided, placed_regions, write_regions
from polysched.mesh.shapes import Rectangle
from polysched.mesh.target import MeshTarget
from polysched.target import host

MODULE = "polysched.mesh.region_worker"


def partitioned(count: int, ends: np.ndarray, sizes: np.ndarray, target: MeshTarget, *,
                seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of a core for each operator; they do not depend on how many processes work on them.

    Parameters
    ----------
    count : of operators, at most the cores that live.
    ends : source and sink of each message, shape (2, messages).
    sizes : bytes of each.

    Raises
    ------
    UsageError : Mt-KaHyPar is not installed, or there are more than `LIMITS.most_operators` operators.
    RunFailedError : Mt-KaHyPar crashed in a process of its own.
    """
    if count > LIMITS.most_operators:
        raise UsageError(f"at most {LIMITS.most_operators} operators are partitioned", witness=str(count),
                         hint="the method order, or operators put together before")
    whole = Region(cores=Rectangle(0, 0, target.rows, target.columns), members=np.arange(count), ends=ends, sizes=sizes)
    if count < LIMITS.fewest_in_processes:
        return placed_regions([whole], count, target.alive, seed)
    return _in_processes(divided(whole, target.alive, seed), count, target.alive, seed)


def _in_processes(regions: Sequence[Region], count: int, alive: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """As `placed_regions`, in as many processes as this one has cores."""
    jobs = min(len(regions), host().cores)
    shares = [regions[n::jobs] for n in range(jobs)]
    rows, columns = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    with ThreadPoolExecutor(jobs) as threads:
        found = threads.map(lambda share: _in_process(share, alive, seed), shares)
        for share, (some_rows, some_columns) in zip(shares, found, strict=True):
            members = np.concatenate([r.members for r in share])
            rows[members], columns[members] = some_rows, some_columns
    return rows, columns


def _in_process(regions: Sequence[Region], alive: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the members of the regions, one region after the other."""
    with tempfile.TemporaryDirectory(prefix="polysched-regions-") as folder:
        given, made = Path(folder) / "regions.npz", Path(folder) / "places.npz"
        write_regions(given, regions, alive, seed)
        done = subprocess.run([sys.executable, "-m", MODULE, str(given), str(made)], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}, check=False)
        if done.returncode:
            raise RunFailedError(
                f"placing {sum(len(r.members) for r in regions)} operators in a process of its own failed",
                witness=(done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1],
                hint="another seed, or the method order")
        with np.load(made) as places:
            return places["rows"], places["columns"]
