"""Operators partitioned over a mesh, in one process and in several."""

import dataclasses
import subprocess

import numpy as np
import pytest

from polysched.errors import RunFailedError, UsageError
from polysched.mesh import MeshTarget, partitioning
from polysched.mesh.limits import LIMITS
from polysched.mesh.partitioning import partitioned


def test_two_groups_that_do_not_talk_have_parts_of_their_own() -> None:
    pytest.importorskip("mtkahypar", reason="partitioning needs polysched[mesh]")
    line = np.arange(63)
    ends = np.stack([np.concatenate([line, line + 64]), np.concatenate([line + 1, line + 65])])
    target = MeshTarget(rows=8, columns=16)
    rows, columns = partitioned(128, ends, np.full(126, 9), target)
    assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == 128
    again = partitioned(128, ends, np.full(126, 9), target)
    assert (rows == again[0]).all()
    assert (columns == again[1]).all()


@pytest.mark.parametrize("count", [2, 3, 4, 5, 24, 25, 26])
@pytest.mark.parametrize("rows_alive", [20, 2])
def test_few_operators_have_cores_of_a_large_mesh(count, rows_alive) -> None:
    pytest.importorskip("mtkahypar", reason="partitioning needs polysched[mesh]")
    target = MeshTarget(rows=20, columns=20, dead=tuple((r, c) for r in range(rows_alive, 20) for c in range(20)))
    ends = np.stack([np.arange(count - 1), np.arange(1, count)])
    rows, columns = partitioned(count, ends, np.full(count - 1, 9), target)
    assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == count
    assert target.alive[rows, columns].all()


def test_more_operators_than_were_tried_are_refused() -> None:
    with pytest.raises(UsageError, match="at most 1048576 operators"):
        partitioned((1 << 20) + 1, np.zeros((2, 0), int), np.zeros(0, int), MeshTarget(rows=2000, columns=2000))


def test_a_region_whose_parts_have_no_sizes_of_their_own_is_full() -> None:
    pytest.importorskip("mtkahypar", reason="partitioning needs polysched[mesh]")
    count = 3_600
    ends = np.stack([np.arange(count - 1), np.arange(1, count)])
    rows, columns = partitioned(count, ends, np.ones(count - 1, int), MeshTarget(rows=60, columns=60))
    assert len(np.unique(rows * 60 + columns)) == count > LIMITS.most_weighted
    hops = np.abs(np.diff(rows)) + np.abs(np.diff(columns))
    assert hops.mean() < 30 / 2   # by number along the rows it is nearly 1, drawn at random 40


def drawn_graph(count: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(count)
    sinks = np.arange(1, count)
    return np.stack([np.maximum(0, sinks - draw.integers(1, 30, count - 1)), sinks]), draw.integers(1, 99, count - 1)


def test_processes_place_as_one_does(monkeypatch) -> None:
    pytest.importorskip("mtkahypar", reason="partitioning needs polysched[mesh]")
    ends, sizes = drawn_graph(600)
    target = MeshTarget(rows=25, columns=26, dead=((0, 0), (12, 13), (24, 25)))
    here = partitioned(600, ends, sizes, target)
    monkeypatch.setattr(partitioning, "LIMITS", dataclasses.replace(LIMITS, fewest_in_processes=500))
    elsewhere = partitioned(600, ends, sizes, target)
    assert (np.stack(elsewhere) == np.stack(here)).all()
    assert len(np.unique(here[0] * 26 + here[1])) == 600
    assert target.alive[here].all()


def test_a_crash_elsewhere_is_an_error_here(monkeypatch) -> None:
    pytest.importorskip("mtkahypar", reason="partitioning needs polysched[mesh]")
    monkeypatch.setattr(partitioning, "LIMITS", dataclasses.replace(LIMITS, fewest_in_processes=500))
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run",
                        lambda command, **options: real([command[0], "-c", "import os; os.abort()"], **options))
    ends, sizes = drawn_graph(600)
    with pytest.raises(RunFailedError, match="in a process of its own") as caught:
        partitioned(600, ends, sizes, MeshTarget(rows=25, columns=25))
    assert "exit status -6" in str(caught.value)
