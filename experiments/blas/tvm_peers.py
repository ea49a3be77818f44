"""TVM: the workloads as tensor expressions, with the schedules that MetaSchedule finds by measuring.

    python experiments/blas/tvm_peers.py REQUEST.json      (tunes; `run.py` starts it before the contest)

The records of a search lie in a folder of their own and are used again for the same workload, threads and TVM.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tvm
import workloads
from tvm import te, topi
from tvm.s_tir import meta_schedule
from workloads import Workload

from polysched.experiment import Entry
from polysched.target import host

Placed = dict[str, Any]
Defined = dict[str, Any]

SEED = 1
TRIALS_AT_ONCE = 16
BUILD_SECONDS, RUN_SECONDS = 60.0, 12.0
"""Of one candidate, the start of the process that builds or runs it included."""

# Definitions -------------------------------------------------------------------------------------------------------


def product(w: Workload, a: Placed) -> Defined:
    k = te.reduce_axis((0, w.sizes["K"]), "k")
    return {"C": te.compute(w.shapes["C"], lambda i, j: te.sum(a["A"][i, k] * a["B"][k, j], axis=k), name="C")}


def batched_product(w: Workload, a: Placed) -> Defined:
    k = te.reduce_axis((0, w.sizes["K"]), "k")
    return {"C": te.compute(w.shapes["C"], lambda b, i, j: te.sum(a["A"][b, i, k] * a["B"][b, k, j], axis=k),
                            name="C")}


def convolution(w: Workload, a: Placed) -> Defined:
    c, r, s = (te.reduce_axis((0, w.sizes[n]), n.lower() + str(i)) for i, n in enumerate("KRR"))
    return {"Y": te.compute(w.shapes["Y"], lambda n, y, x: te.sum(a["X"][c, y + r, x + s] * a["W"][n, c, r, s],
                                                                  axis=[c, r, s]), name="Y")}


def depthwise(w: Workload, a: Placed) -> Defined:
    r, s = (te.reduce_axis((0, w.sizes["R"]), n) for n in "rs")
    return {"Y": te.compute(w.shapes["Y"], lambda c, y, x: te.sum(a["X"][c, y + r, x + s] * a["W"][c, r, s],
                                                                  axis=[r, s]), name="Y")}


def softmax(w: Workload, a: Placed) -> Defined:
    return {"Y": topi.nn.fast_softmax(a["X"], axis=1)}


def layer_norm(w: Workload, a: Placed) -> Defined:
    return {"Y": topi.nn.layer_norm(a["X"], a["gamma"], a["beta"], axis=[1], epsilon=1e-5)}


def gelu(w: Workload, a: Placed) -> Defined:
    k = te.reduce_axis((0, w.sizes["K"]), "k")
    p = te.compute(w.shapes["Y"], lambda i, j: te.sum(a["X"][i, k] * a["W"][k, j], axis=k), name="P")
    biased = te.compute(w.shapes["Y"], lambda i, j: p[i, j] + a["bias"][j], name="biased")
    half = topi.fast_erf(topi.multiply(biased, tvm.tirx.const(math.sqrt(0.5), w.dtype)))
    return {"Y": te.compute(w.shapes["Y"], lambda i, j: 0.5 * biased[i, j] * (1.0 + half[i, j]), name="Y")}


def lstm(w: Workload, a: Placed) -> Defined:
    b, h = w.sizes["BATCH"], w.sizes["H"]
    k, q = te.reduce_axis((0, h), "k"), te.reduce_axis((0, h), "q")
    from_x = te.compute((b, 4 * h), lambda i, j: te.sum(a["x"][i, k] * a["Wx"][k, j], axis=k), name="from_x")
    from_h = te.compute((b, 4 * h), lambda i, j: te.sum(a["h"][i, q] * a["Wh"][q, j], axis=q), name="from_h")
    gates = te.compute((b, 4 * h), lambda i, j: from_x[i, j] + from_h[i, j] + a["bias"][j], name="gates")
    c_new = te.compute((b, h), lambda i, j: te.sigmoid(gates[i, j + h]) * a["c"][i, j]
                       + te.sigmoid(gates[i, j]) * te.tanh(gates[i, j + 2 * h]), name="c_new")
    h_new = te.compute((b, h), lambda i, j: te.sigmoid(gates[i, j + 3 * h]) * te.tanh(c_new[i, j]), name="h_new")
    return {"h_new": h_new, "c_new": c_new}


DEFINITIONS: dict[str, Callable[[Workload, Placed], Defined]] = {
    f.__name__: f for f in (product, batched_product, convolution, depthwise, softmax, layer_norm, gelu, lstm)}


def defined(w: Workload) -> tuple[Any, list[str]]:
    """The workload as a function of TVM's, and the names of its arguments in order."""
    inputs = {n: te.placeholder(s, w.dtype, name=n) for n, s in w.shapes.items() if n not in w.results}
    results = DEFINITIONS[w.kind](w, inputs)
    return te.create_prim_func([*inputs.values(), *results.values()]), [*inputs, *results]


def target_of(threads: int) -> Any:
    """This processor, as LLVM calls it, less the vector extensions that its name promises and a hypervisor hides."""
    processor = tvm.get_global_func("target.llvm_get_system_cpu")()
    named = tvm.target.Target({"kind": "llvm", "mcpu": processor})
    shown = {f.replace("_", "") for f in host().features}
    promised = sorted(map(str, tvm.get_global_func("target.llvm_get_cpu_features")(named)))
    hidden = [f"-{f}" for f in promised if shown and f.startswith("avx") and f not in shown]
    attributes = {"mattr": hidden} if hidden else {}
    return tvm.target.Target({"kind": "llvm", "mcpu": processor, "num-cores": threads, **attributes})


# Search ------------------------------------------------------------------------------------------------------------


def only_intrinsics_of_x86() -> None:
    """Register the tensor instructions of x86 without those of every GPU.

    MetaSchedule imports the package of all of them in every process that builds, which takes 40 s (of TVM 0.27: each
    one is parsed, and for each the parser asks `inspect` for the module of every frame).
    """
    package = ModuleType("tvm.s_tir.tensor_intrin")
    package.__path__ = [str(Path(tvm.__file__).parent / "s_tir" / "tensor_intrin")]
    sys.modules[package.__name__] = package
    importlib.import_module(f"{package.__name__}.x86")


def tune(request: Mapping[str, Any]) -> None:
    """Search, and leave the records in the folder of the request."""
    only_intrinsics_of_x86()
    function, _ = defined(workloads.make(request["workload"]))
    threads = request["threads"]
    timing = meta_schedule.runner.EvaluatorConfig(number=1, repeat=3, min_repeat_ms=20)
    meta_schedule.tune_tir(
        function, target_of(threads), request["records"], request["trials"], num_trials_per_iter=TRIALS_AT_ONCE,
        seed=SEED, num_tuning_cores=threads,
        builder=meta_schedule.builder.LocalBuilder(max_workers=threads, timeout_sec=BUILD_SECONDS,
                                                   initializer=only_intrinsics_of_x86),
        runner=meta_schedule.runner.LocalRunner(timeout_sec=RUN_SECONDS, evaluator_config=timing))


# Contestant --------------------------------------------------------------------------------------------------------


def entry(parameters: Mapping[str, Any]) -> Entry:
    """The fastest schedule of the records."""
    w = workloads.make(parameters["workload"])
    function, names = defined(w)
    target = target_of(parameters["threads"])
    database = meta_schedule.database.JSONDatabase(work_dir=parameters["records"])
    schedule = meta_schedule.tir_integration.compile_tir(database, function, target)
    if schedule is None:
        raise RuntimeError(f"the search left no schedule that runs in {parameters['records']}")
    called = tvm.compile(schedule.mod, target=target)["main"]
    arrays = w.inputs()
    tensors = [tvm.runtime.from_dlpack(np.from_dlpack(arrays[n])) for n in names]
    return Entry(call=lambda: called(*tensors), results=lambda: {n: arrays[n] for n in w.results},
                 note=f"TVM {tvm.__version__}, the best of {parameters['trials']} trials of MetaSchedule")


if __name__ == "__main__":
    tune(json.loads(Path(sys.argv[1]).read_text()))
