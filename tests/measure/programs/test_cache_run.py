"""The child of a simulation keeps what the library counted."""

from pathlib import Path

import numpy as np

from polysched.measure.processes.building import compile_shared
from polysched.measure.processes.isolation import End, Limits, run_isolated
from polysched.measure.programs.cache_simulation import CHILD_MODULE
from polysched.target import find_compiler

EXPORTED = '__attribute__((visibility("default"))) '


def test_counts_come_back_and_a_library_that_gives_up_leaves_them_below_zero(tmp_path: Path) -> None:
    text = EXPORTED + "void simulate(long *counts, long n) { if (n) counts[1] = n; }"
    binary = compile_shared(text, name="counts", folder=tmp_path, compiler=find_compiler(), openmp=False)
    for value, expected in ((7, [-1, 7]), (0, [-1, -1])):
        request = {"library": str(binary.path), "values": [value], "count": 2, "counts": str(tmp_path / "counts.npy")}
        assert run_isolated(CHILD_MODULE, request, folder=tmp_path, limits=Limits(seconds=60)).end is End.FINISHED
        assert np.load(tmp_path / "counts.npy").tolist() == expected
