"""Random programs compute on the CPU, as CUDA, what their originals do, bit for bit, in both orders of threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.emit_gpu import DeviceSource
from polysched.gpu import GpuOptions
from polysched.pipeline.options import PipelineOptions
from tests.emit_gpu.emitted import emitted, largest_difference, verified
from tests.emit_gpu.random_sums import program
from tests.tiers import and_campaign

BLOCKS = ((), (5, 3), (7,), (1, 4, 2))


@pytest.mark.parametrize("seed", and_campaign([2], range(60)))
def test_random_sums(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    monkeypatch.setenv("POLYSCHED_CUDA_REVERSED", str(seed // 4 % 2))
    (tmp_path / "f.c").write_text(program(seed))
    options = PipelineOptions(device="cuda", gpu=GpuOptions(block=BLOCKS[seed % 4]))
    sizes = {"n": 37, "m": 7} if seed % 3 else {"n": 21, "m": 3}
    assert largest_difference(verified(tmp_path / "f.c", sizes, options)) == 0


def test_some_programs_share_memory() -> None:
    sources: list[DeviceSource] = [emitted(program(seed)) for seed in (2, 3, 6)]
    assert any("__local" in source.program for source in sources)
