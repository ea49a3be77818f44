"""Speed against length: a compiled model whose length stays open, with and without likely values, beside its peers.

Every compiler starts with an empty cache; its compile time is what passes until the first results.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from polysched.experiment import Report
from polysched.graph import load
from polysched.model import CompiledModel, compile_graph
from polysched.model.verification import by_onnxruntime, differences, rested
from polysched.target.build_cache import ENVIRONMENT

LENGTHS = (1, 4, 16, 64, 128, 256, 512, 1024, 2048)
LIKELY = (1, 128, 2048)
WIDTH, INNER, HEADS, DEPTH = 256, 1024, 12, 32
ROUNDS, SHORTEST = 7, 0.002
"""Timed rounds per length, and seconds that one of them takes at least: short calls are repeated."""
Arrays = Mapping[str, np.ndarray]
Run = Callable[[Arrays], Mapping[str, np.ndarray]]


def mlp() -> onnx.ModelProto:
    """Two products with a bias each and a ReLU between, over rows of a number that stays open."""
    rng = np.random.default_rng(0)
    shapes = {"w": (WIDTH, INNER), "b": (INNER,), "v": (INNER, WIDTH), "c": (WIDTH,)}
    weights = [numpy_helper.from_array((rng.standard_normal(s) * 0.05).astype(np.float32), n) for n, s in
               shapes.items()]
    return _model("mlp", [("MatMul", "x w", "p"), ("Add", "p b", "q"), ("Relu", "q", "r"), ("MatMul", "r v", "s"),
                          ("Add", "s c", "y")], {"x": ["N", WIDTH]}, weights)


def attention() -> onnx.ModelProto:
    """Attention of several heads, whose length stays open."""
    scale = numpy_helper.from_array(np.array(DEPTH ** -0.5, np.float32), "scale")
    return _model("attention", [("MatMul", "q k", "a"), ("Mul", "a scale", "b"), ("Softmax", "b", "p"),
                                ("MatMul", "p v", "y")],
                  {"q": [HEADS, "N", DEPTH], "k": [HEADS, DEPTH, "N"], "v": [HEADS, "N", DEPTH]}, [scale])


MODELS = {"mlp by length": mlp, "attention by length": attention}


def _model(name: str, nodes: list[tuple[str, str, str]], inputs: Mapping[str, list[Any]],
           weights: list[onnx.TensorProto]) -> onnx.ModelProto:
    given = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()]
    graph = helper.make_graph([helper.make_node(op, i.split(), [o]) for op, i, o in nodes], name, given,
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], initializer=weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def inputs_of(name: str, length: int) -> dict[str, np.ndarray]:
    """The arrays of one length."""
    rng = np.random.default_rng(length)
    shapes = {"x": (length, WIDTH)} if name.startswith("mlp") else {
        "q": (HEADS, length, DEPTH), "k": (HEADS, DEPTH, length), "v": (HEADS, length, DEPTH)}
    return {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}


def by_torch(model: onnx.ModelProto, threads: int) -> Run:
    """The model by `torch.compile(dynamic=True)`.

    Raises
    ------
    ImportError : the package is not there.
    """
    import torch
    torch.set_num_threads(threads)
    given = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in model.graph.initializer}

    def mlp_of(x: Any) -> Any:
        return torch.relu(x @ given["w"] + given["b"]) @ given["v"] + given["c"]

    def attention_of(q: Any, k: Any, v: Any) -> Any:
        return torch.softmax(q @ k * given["scale"], -1) @ v
    function = torch.compile(mlp_of if model.graph.name == "mlp" else attention_of, dynamic=True)

    def run(arrays: Arrays) -> dict[str, np.ndarray]:
        with torch.no_grad():
            return {"y": function(*(torch.from_numpy(a) for a in arrays.values())).numpy()}
    return run


@contextmanager
def empty_caches() -> Iterator[None]:
    """Every compiler's cache in a new folder."""
    names = (ENVIRONMENT, "TORCHINDUCTOR_CACHE_DIR")
    before = {name: os.environ.get(name) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update({name: str(Path(folder) / name.lower()) for name in names})
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                os.environ.update({name: value} if value is not None else {})


def measured_by_length(name: str, threads: int, report: Report) -> dict[str, Any]:
    """Compile times, and per length the seconds of each way in turn, after a comparison of results."""
    proto = MODELS[name]()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "m.onnx"
        onnx.save(proto, file)
        runs, compile_seconds, model = _compiled(name, proto, file, threads, report)
        rows, wrong = [], []
        for length in LENGTHS:
            report(f"length {length}")
            arrays = inputs_of(name, length)
            wanted = runs["onnxruntime"](arrays)
            wrong += [f"{way} at {length}" for way, run in runs.items() for d in differences(run(arrays), wanted)
                      if d.place is not None]
            rows.append({"length": length, "seconds": _in_turn(runs, arrays)})
    return {"wrong": wrong, "compile_seconds": compile_seconds, "lengths": rows, "likely": list(LIKELY),
            "plan": str(model.plan)}


def _compiled(name: str, proto: onnx.ModelProto, file: Path, threads: int,
              report: Report) -> tuple[dict[str, Run], dict[str, float], CompiledModel]:
    """Every way that is there, behind its first two calls: torch compiles for length 1 on its own."""
    models: dict[str, CompiledModel] = {}

    def ours(likely: dict[str, tuple[int, ...]] | None) -> Run:
        model = compile_graph(load(file), likely=likely)
        models["likely" if likely else "open"] = model
        return model.run
    makers: dict[str, Callable[[], Run]] = {
        "likely": lambda: ours({"N": LIKELY}), "open": lambda: ours(None),
        "onnxruntime": lambda: by_onnxruntime(file, threads), "torch": lambda: by_torch(proto, threads)}
    runs, seconds = {}, {}
    for way, make in makers.items():
        report(f"compiling: {way}")
        with empty_caches():
            started = time.perf_counter()
            try:
                run = make()
            except ImportError:
                continue
            for length in (16, 1):
                run(inputs_of(name, length))
            runs[way], seconds[way] = run, time.perf_counter() - started
    return runs, seconds, models["likely"]


def _in_turn(runs: Mapping[str, Run], arrays: Arrays) -> dict[str, float]:
    """The median seconds of a call, each round every way one after the other, when the others' threads sleep."""
    repeats = {way: max(1, round(SHORTEST / _seconds_of(run, arrays, 1))) for way, run in runs.items()}
    found: dict[str, list[float]] = {way: [] for way in runs}
    for _ in range(ROUNDS):
        for way, run in runs.items():
            found[way].append(_seconds_of(run, arrays, repeats[way]))
    return {way: statistics.median(times) for way, times in found.items()}


def _seconds_of(run: Run, arrays: Arrays, repeats: int) -> float:
    """Seconds of a call, of several on end."""
    rested(run, arrays)
    started = time.perf_counter()
    for _ in range(repeats):
        run(arrays)
    return (time.perf_counter() - started) / repeats


def length_rows(case: str, values: Mapping[str, Any]) -> list[list[str]]:
    """The rows of one model: compile time, then a length each; how many times as fast as the peers."""
    ways = ("open", "onnxruntime", "torch")
    compiled = values["compile_seconds"]
    rows = [[case, "compile time, s", f"{compiled['likely']:.1f}",
             *(f"{compiled[w]:.1f}" if w in compiled else "" for w in ways)]]
    for row in values["lengths"]:
        own = row["seconds"]
        rows.append([case, str(row["length"]), f"{1e6 * own['likely']:.0f} us",
                     *(f"{own[w] / own['likely']:.2f}" if w in own else "" for w in ways)])
    return rows


HEAD = ["model", "length", "with likely lengths", "times as fast as: without", "ONNX Runtime", "torch.compile, dynamic"]
