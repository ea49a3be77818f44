"""The process that places regions."""

import sys

import numpy as np
import pytest

from polysched.mesh import Rectangle, regions
from polysched.mesh.region_worker import main
from polysched.mesh.regions import Region, write_regions


def test_regions_in_places_out(tmp_path) -> None:
    pytest.importorskip("mtkahypar", reason="partitioning needs polysched[mesh]")
    line = np.arange(99)
    given = [Region(cores=Rectangle(10 * n, 0, 10, 10), members=np.arange(100 * n, 100 * n + 100),
                    ends=np.stack([line, line + 1]), sizes=np.full(99, 5)) for n in (1, 0)]
    write_regions(tmp_path / "in.npz", given, np.ones((20, 10), dtype=bool), 3)
    assert main([str(tmp_path / "in.npz"), str(tmp_path / "out.npz")]) == 0
    with np.load(tmp_path / "out.npz") as made:
        rows, columns = made["rows"], made["columns"]
    assert (rows[:100] >= 10).all()
    assert (rows[100:] < 10).all()
    assert len(np.unique(rows * 10 + columns)) == 200


def test_a_library_that_is_missing_is_one_line(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "mtkahypar", None)
    regions._library.cache_clear()
    region = Region(cores=Rectangle(0, 0, 10, 10), members=np.arange(100), ends=np.zeros((2, 0), int),
                    sizes=np.zeros(0, int))
    write_regions(tmp_path / "in.npz", [region], np.ones((10, 10), dtype=bool), 0)
    assert main([str(tmp_path / "in.npz"), str(tmp_path / "out.npz")]) == 1
    regions._library.cache_clear()
    assert "Mt-KaHyPar is not installed" in capsys.readouterr().err
