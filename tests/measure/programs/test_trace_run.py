"""The child that asks an instrumented function twice: how many numbers it reports, then which."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polysched.measure.processes.building import compile_shared
from polysched.measure.programs import trace_run
from polysched.measure.programs.instance_trace import FLAGS, recorder
from polysched.measure.programs.trace_run import TRACE
from polysched.target import find_compiler
from tests.measure.told import Told

TRACED = f"""void traced(long n, long m) {{
    for (long i = 0; i < n; i++) {{
        {TRACE}_0(i, -m);
        if (i & 1) {TRACE}_1();
    }}
}}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = f"#pragma GCC visibility push(default)\n{recorder(2)}{TRACED}#pragma GCC visibility pop\n"
    return compile_shared(text, name="order", folder=tmp_path_factory.mktemp("traced"), compiler=find_compiler(),
                          flags=FLAGS, openmp=False).path


@pytest.mark.parametrize(("values", "expected"), [
    ([0, 5], []), ([1, 1 << 40], [0, 2, 0, -(1 << 40)]),
    ([4, 7], [0, 2, 0, -7, 0, 2, 1, -7, 1, 0, 0, 2, 2, -7, 0, 2, 3, -7, 1, 0])])
def test_every_number_comes_back_in_order(values: list[int], expected: list[int], library: Path, tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    request = {"library": str(library), "values": values, "records": str(tmp_path / "records.npy")}
    told = Told()
    monkeypatch.setattr(trace_run, "start", lambda arguments: (request, told))
    trace_run.main([])
    assert told.reports[-1] == {"end": "finished"}
    records = np.load(tmp_path / "records.npy")
    assert records.dtype == np.int64
    assert records.tolist() == expected
