"""Constants of GPUs that have to fit together."""

import pytest

from polysched.target.gpus import GPUS, Gpu


@pytest.mark.parametrize("gpu", GPUS.values(), ids=str)
def test_peak_rates_are_those_that_the_makers_give(gpu: Gpu) -> None:
    rate = 2 * gpu.multiprocessors * gpu.gigahertz / 1e3
    peak = {name: rate * gpu.per_cycle.get(name, 0) for name in ("float32", "float64")}
    told = {"sm_80": (19.5, 9.7), "sm_90": (66.9, 33.5), "xe_lp": (2.07, 0),   # TFLOP/s of the data sheets
            "pocl": (7.17, 3.58)}[gpu.name]
    assert (peak["float32"], peak["float64"]) == pytest.approx(told, rel=0.01)


@pytest.mark.parametrize("gpu", GPUS.values(), ids=str)
def test_full_occupancy_leaves_registers(gpu: Gpu) -> None:
    assert gpu.registers // gpu.threads == {"sm_80": 32, "sm_90": 32, "xe_lp": 64, "pocl": 255}[gpu.name]
    assert gpu.threads % gpu.warp == 0
    assert gpu.source
