"""The experiment on block programs: kernels by hand compute the same, and its table says what did not run."""

from __future__ import annotations

import importlib.util
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.cli.command import polysched
from tests.emit_gpu.emitted import needs_device
from tests.kernel.block_programs import EXAMPLES
from tests.kernel.on_device import OnDevice
from tests.tiers import and_campaign

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FOLDER = EXPERIMENTS / "block_programs"


def loaded(name: str, folder: Path = FOLDER) -> Any:
    spec = importlib.util.spec_from_file_location(f"block_programs_{name}", folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", and_campaign(["dropout", "grouped_matmul"], [
    "vector_add", "softmax", "matmul", "layer_norm", "attention"]))
def test_kernels_by_hand_compute_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_device()
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    example = EXAMPLES[name]
    arguments = example.arguments(33, np.random.default_rng(33))
    expected = example.expected(**arguments)
    defaults = example.function.__defaults__
    names = example.function.__code__.co_varnames[:example.function.__code__.co_argcount][-len(defaults):]
    loaded("by_hand").compiled(name, arguments, dict(zip(names, defaults, strict=True)), tmp_path)()
    assert np.abs(arguments[example.result] - expected).max() < 1e-12


@pytest.fixture(name="run")
def _run(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", list(sys.path))
    return loaded("run")


def record(case: str, **values: Any) -> Any:
    return SimpleNamespace(case=case, values=values, done=True)


def test_a_row_says_what_ran_and_what_did_not(run: Any) -> None:
    table = run.table([record("c_matmul", difference=3e-15), record("triton_matmul", not_run="Triton is not installed"),
                       record("by_hand_matmul", difference=0.0, times_as_fast=0.93),
                       record("gpu_matmul", registers={"sm_80": 52, "sm_90": 58}, not_run="PyTorch finds no GPU")])
    row = next(line for line in table.splitlines() if line.startswith("| matmul"))
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        "matmul", "3e-15", "", "", "not run", "0.93", "52 / 58", "not run"]
    assert "- gpu: PyTorch finds no GPU" in table
    assert "- triton: Triton is not installed" in table


def test_a_wrong_result_is_a_failure(run: Any) -> None:
    assert run.verdict([record("c_matmul", difference=1e-15)]) == ""
    assert "c_softmax" in run.verdict([record("c_softmax", difference=1e-3)])
    assert "by_hand_matmul" in run.verdict([record("by_hand_matmul", difference=0.0, difference_by_hand=1.0)])
    assert "triton_matmul" in run.verdict([record("triton_matmul", failed="ValueError")])


def test_a_wrong_program_is_seen(run: Any) -> None:
    def wrong(x, y, out):
        out[...] = x
    assert run.difference("vector_add", wrong, 9) > 0.1


def on_a_gpu(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, EXPERIMENTS / "on_a_gpu.py", *words], capture_output=True, text=True,
                          timeout=120, check=False, cwd=folder, env={"PATH": str(folder), "HOME": str(folder)})


def test_without_a_gpu_nothing_runs_and_it_says_so(tmp_path: Path) -> None:
    done = on_a_gpu("--wheels", ".", folder=tmp_path)
    assert done.returncode == 3
    assert done.stderr == "on_a_gpu: nothing ran: there is no nvidia-smi, so no driver of a GPU\n"
    assert on_a_gpu("--wheels", "absent", folder=tmp_path).returncode == 2


def test_a_dry_run_tells_wheels_and_commands(tmp_path: Path) -> None:
    done = on_a_gpu("--wheels", ".", "--dry-run", folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("the wheels do not suffice")
    assert "would run: python -m polysched bench block_programs --only 'gpu_*' 'triton_*'" in done.stdout
    assert done.stdout.endswith("dry run: nothing ran; there is no nvidia-smi, so no driver of a GPU\n")


def test_runs_use_diamonds_and_tensor_cores(tmp_path: Path) -> None:
    script = runpy.run_path(str(EXPERIMENTS / "on_a_gpu.py"))
    script["write_products"](tmp_path)
    expected = {"jacobi_launch_per_step": "__global__", "jacobi_diamonds_8": "at_step", "product_int8": "mma.sync",
                "product_float16": "mma.sync", "product_float": "__shared__ __align__(16) float",
                "product_int8_wmma": "wmma.mma.sync", "product_float16_wmma": "wmma.mma.sync"}
    assert set(expected) < set(script["runnable"]())
    for name, word in expected.items():
        words = script["command"]("python", name, tmp_path)[4:]
        kept = [own for k, own in enumerate(words) if not {own, words[k - 1]} & {"--size", "--pairs", "--results"}]
        done = polysched("c2c", *kept, "-o", "-", folder=EXPERIMENTS.parent)
        assert word in done.stdout, (name, done.stderr)


def test_kernels_on_arrays_of_a_gpu_are_compared_with_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    script = loaded("arrays_on_a_gpu", EXPERIMENTS)
    told = script.compared(OnDevice, lambda array: array.array, size=33, repeats=1)
    assert set(told["product"]) == {"in_place_ms", "copied_ms"}


class Peers:
    """What `aims_on_a_gpu.py` asks of torch."""

    class backends:
        class cuda:
            class matmul:
                allow_tf32 = True

    class nn:
        class functional:
            gelu = staticmethod(lambda value: value)

    matmul = staticmethod(lambda left, right: left.array @ right.array)
    compile = staticmethod(lambda function: lambda: None)


def test_every_aim_of_a_gpu_has_a_figure_and_says_what_did_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    script = loaded("aims_on_a_gpu", EXPERIMENTS)
    monkeypatch.setattr(script, "TIME_TILES", (4,))
    machine = script.Machine(torch=Peers, place=lambda array: OnDevice(array.copy()), back=lambda own: own.array,
                             wait=lambda: None)
    found = dict(script.aims(machine, size=35, stencil=(40, 3), mlp=(9, 17, 33), repeats=1))
    assert set(found) == {"product_float32", "product_float16", "jacobi_2d", "jacobi_2d_beside_ppcg", "gelu_mlp"}
    assert {name: told["aim"] for name, told in found.items()} == {
        "product_float32": 0.7, "product_float16": 0.6, "jacobi_2d": 1.5, "jacobi_2d_beside_ppcg": 1.2, "gelu_mlp": 0.7}
    assert found["jacobi_2d_beside_ppcg"]["not_run"].startswith("no ppcg")
    assert found["product_float16"]["best"] in ("mma", "wgmma")
    assert not Peers.backends.cuda.matmul.allow_tf32
