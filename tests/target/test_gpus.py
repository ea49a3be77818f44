"""Constants of GPUs that have to fit together, and which of them describe a device."""

import pytest

from polysched.errors import UsageError
from polysched.target.gpus import GPUS, POCL, SM_80, SM_90, XE_LP, Gpu, described, find_gpus


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


@pytest.mark.parametrize(("platform", "device", "gpu"), [
    ("NVIDIA CUDA", "NVIDIA A100-SXM4-40GB", SM_80), ("NVIDIA CUDA", "NVIDIA H100 80GB HBM3", SM_90),
    ("Intel(R) OpenCL HD Graphics", "Intel(R) Iris(R) Xe Graphics [0x9a49]", XE_LP),
    ("NVIDIA CUDA", "NVIDIA RTX A1000", None), ("Portable Computing Language", "NVIDIA GeForce RTX 4090", None),
    ("Intel(R) OpenCL HD Graphics", "Intel(R) Arc(TM) A770 Graphics", None), ("rusticl", "Mali-G610", None)])
def test_a_gpu_is_described_by_its_name(platform: str, device: str, gpu: Gpu | None) -> None:
    assert described(platform=platform, device=device, is_cpu=False, units=40, gigahertz=1.4) is gpu


@pytest.mark.parametrize("platform", ["Portable Computing Language", "Intel(R) OpenCL"])
def test_cores_are_described_by_how_many_they_are(platform: str) -> None:
    own = described(platform=platform, device="some cores", is_cpu=True, units=14, gigahertz=0)
    assert own is not None
    assert (own.name, own.title, own.multiprocessors, own.gigahertz) == ("pocl", "some cores", 14, POCL.gigahertz)
    assert own.memory_bytes_per_second == pytest.approx(POCL.memory_bytes_per_second / 4)
    assert own.per_cycle == POCL.per_cycle


def test_descriptions_by_name() -> None:
    assert find_gpus(("sm_90", "pocl")) == (SM_90, POCL)
    with pytest.raises(UsageError, match="nothing describes the device sm_70"):
        find_gpus(("sm_70",))
