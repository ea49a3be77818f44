"""What is compiled to be run or timed runs through measure/: who else starts processes or loads libraries, and why."""

from __future__ import annotations

import ast
from pathlib import Path

import polysched
from tests.architecture.parsed import imports_of

ROOT = Path(polysched.__file__).parent
STARTS = {
    "experiment/contest.py": "contestants that answer while others wait: peers in their own interpreters",
    "experiment/conversation.py": "the pipe to a contestant",
    "fuzz/targets/checking.py": "programs that compare by themselves, over ranks and on devices",
    "kernel/triton_compiling.py": "ptxas, which compiles and runs nothing",
    "mesh/partitioning.py": "Mt-KaHyPar, which may crash",
    "model/kernels.py": "a second process of polysched that compiles kernels",
    "runtime/isolated.py": "the user's jobs, where one may crash",
    "search/pool.py": "processes of polysched that make candidates; measure/ times them",
    "target/compiler.py": "the compiler",
    "tensorize/conformance/conformance.py": "an instruction's readings are compared below measure/",
    "tensorize/conformance/cross_compile.py": "an instruction's readings are compared below measure/",
    "tensorize/description/host_execution.py": "an instruction's readings are compared below measure/",
}
LOADS = {
    "cli/doctor.py": "whether OpenMP starts two threads",
    "emit_gpu/nvrtc.py": "NVIDIA's compiler",
    "experiment/c_function.py": "a contestant, in its own process",
    "experiment/contestant.py": "the C library: a contestant ends with its parent",
    "fuzz/batch_child.py": "the child of `measure.processes.isolation`",
    "kernel/compiled_scop.py": "the user's call, in the user's process",
    "model/compiled_model.py": "the user's call, in the user's process",
    "model/plan_race_worker.py": "the child of `measure.processes.isolation`",
    "runtime/dataflow/codes.py": "the user's node, on a worker",
    "runtime/dataflow/failure_detector.py": "the C library: a thread with open files of its own, on a worker",
    "runtime/isolated_child.py": "the scheduler and the user's jobs, in their own process",
    "runtime/kernels.py": "the user's call, in the user's process",
    "runtime/models.py": "the user's call, in the user's process",
    "runtime/serving.py": "the scheduler of the user's jobs, in the user's process",
    "scop/c_arithmetic.py": "libm, as C computes",
    "scop/isl_clock.py": "isl and the C library",
    "scop/isl_interrupt.py": "the C library",
}


def importers_of(package: str) -> set[str]:
    return {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") for node in imports_of(path)
            if any(name.split(".")[0] == package for name in (
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]))}


def loaders() -> set[str]:
    texts = {path: text for path in ROOT.rglob("*.py") if "CDLL" in (text := path.read_text())}
    return {str(path.relative_to(ROOT)) for path, text in texts.items() for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "CDLL"}


def outside(found: set[str]) -> set[str]:
    return {name for name in found if not name.startswith("measure/")}


def test_processes_start_in_measure_but_for_these() -> None:
    assert outside(importers_of("subprocess")) == set(STARTS)


def test_libraries_are_loaded_in_measure_but_for_these() -> None:
    assert outside(loaders()) == set(LOADS)
