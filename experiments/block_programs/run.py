"""Block programs on every target beside the mathematics, and on PoCL and a GPU beside others.  See README.md.

    python experiments/block_programs/run.py
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import polysched
from polysched.errors import PolyschedError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]
by_hand = importlib.import_module("by_hand")
EXAMPLES = importlib.import_module("tests.kernel.block_programs").EXAMPLES

TARGETS = ("c", "opencl", "cuda", "triton")
NAMED_TYPES = {"dropout": {"key": "uint64", "limit": "uint64"}, "grouped_matmul": {"rows": "int64"}}
EXACT = {"POLYSCHED_OPENCL_BUILD": "-DPOLYSCHED_NO_CONTRACTION -cl-fp32-correctly-rounded-divide-sqrt",
         "POLYSCHED_CUDA_BUILD": "--fmad=false"}


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--dry-run", action="store_true",
                       help="of the GPU's cases only compile, and say that nothing ran")


def cases(settings: Settings) -> list[Case]:
    """Every program on every target, beside a kernel by hand, and on a GPU."""
    parts = [*((f"{target}_{name}", "results", target, name) for target in TARGETS for name in EXAMPLES),
             *((f"by_hand_{name}", "by hand", "opencl", name) for name in EXAMPLES),
             *((f"gpu_{name}", "gpu", "triton", name) for name in EXAMPLES)]
    return [Case(name=case, parameters={"part": part, "target": target, "program": name})
            for case, part, target, name in parts]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """One program on one target; what this machine lacks is said."""
    name, target = case.parameters["program"], case.parameters["target"]
    report("running")
    try:
        if case.parameters["part"] == "by hand":
            return beside_by_hand(name, settings)
        if case.parameters["part"] == "gpu":
            return on_gpu(name, settings)
        if target == "triton":
            return in_a_child(name, settings)
        return results(name, target, settings)
    except PolyschedError as error:
        return {"not_run": error.problem}


def results(name: str, target: str, settings: Settings) -> dict[str, Any]:
    """The largest difference to NumPy over all sizes."""
    os.environ.update(EXACT)
    if target == "cuda":
        os.environ.setdefault("POLYSCHED_CUDA_ON_CPU", "0" if "CUDA_HOME" in os.environ else "1")
    program = polysched.block_program(EXAMPLES[name].function, target=None if target == "c" else target)
    return {"difference": max(difference(name, program, size) for size in settings.config["sizes"])}


def difference(name: str, program: Callable[..., None], size: int) -> float:
    """The largest difference to NumPy."""
    example = EXAMPLES[name]
    arguments = example.arguments(size, np.random.default_rng(size))
    expected = example.expected(**arguments)
    program(**arguments)
    return float(np.abs(arguments[example.result] - expected).max())


def in_a_child(name: str, settings: Settings) -> dict[str, Any]:
    """The same by Triton's interpreter, which is chosen before Python starts."""
    if any(importlib.util.find_spec(module) is None for module in ("triton", "torch")):
        return {"not_run": "Triton is not installed: python -m pip install -e '.[triton]'"}
    sizes = ", ".join(map(str, settings.config["sizes"]))
    text = (f"import sys; sys.path[:0] = [{str(Path(__file__).parent)!r}]\nimport run, polysched\n"
            f"program = polysched.block_program(run.EXAMPLES[{name!r}].function, target='triton')\n"
            f"print(max(run.difference({name!r}, program, size) for size in ({sizes},)))\n")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False,
                          env={**os.environ, "TRITON_INTERPRET": "1"})
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1]}
    return {"difference": float(done.stdout)}


def beside_by_hand(name: str, settings: Settings) -> dict[str, Any]:
    """Processor times of whole calls, copies included, in turn: the generated kernel, and the same by hand."""
    example, timed = EXAMPLES[name], settings.config["timed"][name]
    arguments = example.arguments(timed["size"], np.random.default_rng(0))
    expected, result = example.expected(**arguments), arguments[example.result]
    kernel = polysched.block_program(example.function, target="opencl").with_constants(**timed["constants"])
    generated = kernel.prepared(**arguments)
    with tempfile.TemporaryDirectory() as folder:
        calls = (generated, by_hand.compiled(name, arguments, timed["constants"], Path(folder)))
        found = []
        for call in calls:
            result[...] = 0
            call()
            found.append(float(np.abs(result - expected).max()))
        pairs = [[seconds_of(call) for call in calls] for _ in range(settings.config["pairs"])]
    return {"difference": found[0], "difference_by_hand": found[1],
            "milliseconds": 1e3 * statistics.median(own for own, _ in pairs),
            "times_as_fast": statistics.median(other / own for own, other in pairs)}


def seconds_of(call: Callable[[], None]) -> float:
    """Processor time of a call, over all threads."""
    before = time.process_time()
    call()
    return time.process_time() - before


def on_gpu(name: str, settings: Settings) -> dict[str, Any]:
    """Registers by Triton's compiler; where there is a GPU, results and times beside PyTorch."""
    kernel = polysched.block_program(EXAMPLES[name].function).with_constants()
    types = kernel.types_of({"": "float32", **NAMED_TYPES.get(name, {})})
    found: dict[str, Any] = {"registers": {
        a: kernel.triton_resources(types, a).registers for a in settings.config["gpu"]["architectures"]}}
    import torch
    if settings.options.get("dry_run"):
        return {**found, "not_run": "a dry run: compiled alone"}
    if not torch.cuda.is_available():
        return {**found, "not_run": "PyTorch finds no GPU: compiled alone"}
    return {**found, **gpu_times(torch, name, settings.config["timed"][name])}


def gpu_times(torch: Any, name: str, timed: Mapping[str, Any]) -> dict[str, Any]:
    """Triton's kernel of the program beside `torch.compile` of the mathematics, in float32."""
    from triton.testing import do_bench
    example = EXAMPLES[name]
    given = example.arguments(timed["size"], np.random.default_rng(0))
    expected = example.expected(**given)
    tensors = {k: torch.from_numpy(v.astype(np.float32) if v.dtype.kind == "f" else v).cuda()
               if isinstance(v, np.ndarray) else v for k, v in given.items()}
    program = polysched.block_program(example.function, target="triton")
    program(**tensors, **timed["constants"])
    made = tensors[example.result].cpu().numpy()
    values = {"gpu": torch.cuda.get_device_name(), "difference": float(np.abs(made - expected).max()),
              "milliseconds": do_bench(lambda: program(**tensors, **timed["constants"]))}
    if name in IN_TORCH:
        other = torch.compile(IN_TORCH[name])
        values["times_as_fast"] = do_bench(lambda: other(torch, tensors)) / values["milliseconds"]
    return values


IN_TORCH: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "vector_add": lambda torch, v: v["x"] + v["y"],
    "softmax": lambda torch, v: torch.softmax(v["X"], 1),
    "matmul": lambda torch, v: v["A"] @ v["B"],
    "layer_norm": lambda torch, v: torch.nn.functional.layer_norm(
        v["X"], (v["X"].shape[1],), v["weight"], v["bias"], v["epsilon"]),
    "attention": lambda torch, v: torch.softmax(v["Q"] @ v["K"].T * v["scale"], 1) @ v["V"]}
"""The same in PyTorch; it has no dropout by the same numbers and no product of groups with own rows."""


def table(records: Sequence[Record]) -> str:
    """A row per program."""
    by_name = {r.case: r.values for r in records if r.done}
    rows = []
    for name in EXAMPLES:
        own, gpu = (by_name.get(f"{part}_{name}", {}) for part in ("by_hand", "gpu"))
        rows.append([name.replace("_", " "), *(shown(by_name.get(f"{t}_{name}", {})) for t in TARGETS),
                     f"{own['times_as_fast']:.2f}" if "times_as_fast" in own else "",
                     " / ".join(str(r) for r in gpu.get("registers", {}).values()),
                     f"{gpu['times_as_fast']:.2f}" if "times_as_fast" in gpu else "not run" if gpu else ""])
    heads = ["program", "C", "OpenCL on PoCL", "CUDA on the CPU", "Triton's interpreter",
             "times as fast as by hand (PoCL)", "registers on sm_80 / sm_90", "times as fast as PyTorch (GPU)"]
    said = sorted({f"- {r.case.partition('_')[0]}: {r.values[key]}" for r in records if r.done
                   for key in ("not_run", "failed") if key in r.values})
    return "\n".join([markdown_table(heads, rows), "", *said])


def shown(values: Mapping[str, Any]) -> str:
    """A largest difference."""
    if "difference" in values:
        return f"{values['difference']:.0e}"
    return "failed" if "failed" in values else "not run" * bool(values)


def verdict(records: Sequence[Record]) -> str:
    """Why the run is a failure."""
    bad = [r.case for r in records if r.done and ("failed" in r.values or max(
        r.values.get("difference", 0), r.values.get("difference_by_hand", 0)) > (1e-3 if "gpu" in r.values else 1e-12))]
    return f"not what the mathematics says: {', '.join(bad)}" if bad else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, add_arguments=add_arguments, verdict=verdict)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
