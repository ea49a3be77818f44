"""A region to an accelerator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polysched import PipelineOptions, optimize
from polysched.errors import UsageError
from polysched.gpu import GpuOptions
from polysched.gpu.scratchpad import ScratchpadOptions
from polysched.pipeline.explained import explained
from polysched.tensorize.options import BY_DEFAULT
from tests.gpu.scratchpad.accelerated import norm, program

SIZED = program("int n, float x[n]", "for (int i = 0; i < n; i++) x[i] = 2.0f * x[i];")


def _file(folder: Path, text: str) -> str:
    (folder / "f.c").write_text(text)
    return str(folder / "f.c")


def test_the_stages_of_a_region(tmp_path: Path) -> None:
    made = optimize(_file(tmp_path, norm(8, 8)), PipelineOptions(device="davinci", tile=4))
    assert made.accelerator is not None
    (own,) = made.accelerator.groups.values()
    assert own.plan.edges == (4,)
    told = explained(made)
    assert told.to_json()["accelerator"]["target"] == "davinci"
    assert "simulated:" in str(told)


def test_sizes_come_from_the_options(tmp_path: Path) -> None:
    options = PipelineOptions(device="gemmini", tensorize=replace(BY_DEFAULT, sizes={"n": 9}))
    path = _file(tmp_path, SIZED)
    assert "if (n == 9)" in optimize(path, options).text
    with pytest.raises(UsageError, match="the size n of f is not known"):
        optimize(path, PipelineOptions(device="gemmini"))


@pytest.mark.parametrize("given", [
    {"device": "davinci", "scheduler": "feautrier"}, {"device": "davinci", "tile": "off"},
    {"device": "davinci", "gpu": GpuOptions(block=(32,))},
    {"scratchpad": ScratchpadOptions(share=False)}, {"device": "opencl", "scratchpad": ScratchpadOptions(share=False)}])
def test_options_that_would_do_nothing_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        PipelineOptions(**given)
