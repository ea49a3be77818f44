"""Tensor expressions of the experiment: layers with stages behind a convolution, and a product of few rows.

    python experiments/found/expressions.py PROGRAM [--rounds 40]

Each runs in a process of its own on one thread, in turn with the loops as written (gcc -O3) and with ONNX Runtime,
whose weights are constants and thus packed before it is timed.  Prints seconds per call by variant, as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
ROUNDS = 40
CHANNELS, WIDTH = 64, 56
ROWS, COLUMNS = 16, 1024
TOLERANCE = 1e-3
"""Of ONNX Runtime's sums of floats, which have another order, beside the largest."""


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One expression.

    Parameters
    ----------
    stages : the expression of its result, by polysched's.
    nodes : the same by ONNX: operator, inputs and attributes, each node's output being called by its position.
    constants : inputs that are weights there.
    inputs : arrays by name, in the order of the expression's arguments.
    """

    stages: Callable[[], Any]
    nodes: tuple[tuple[str, tuple[str, ...], dict[str, Any]], ...]
    constants: tuple[str, ...]
    inputs: Mapping[str, tuple[int, ...]]


def convolved() -> Any:
    """Sums over windows of 3 x 3."""
    from polysched.scop.expression import axis, compute, placeholder
    from polysched.scop.expression import sum as summed
    image = placeholder("X", (CHANNELS, WIDTH + 2, WIDTH + 2))
    weights = placeholder("W", (CHANNELS, CHANNELS, 3, 3))
    d, r, s = axis("d"), axis("r"), axis("s")
    return compute((CHANNELS, WIDTH, WIDTH),
                   lambda c, y, x: summed(image[d, y + r, x + s] * weights[c, d, r, s], over=(d, r, s)), name="T")


def biased() -> Any:
    from polysched.scop.expression import compute, maximum, placeholder
    t, bias = convolved(), placeholder("b", (CHANNELS,))
    return compute(t.shape, lambda c, y, x: maximum(t[c, y, x] + bias[c], 0.0), name="O")


def residual() -> Any:
    from polysched.scop.expression import compute, maximum, placeholder
    t, bias, skip = convolved(), placeholder("b", (CHANNELS,)), placeholder("R", (CHANNELS, WIDTH, WIDTH))
    shifted = compute(t.shape, lambda c, y, x: t[c, y, x] + bias[c], name="N")
    added = compute(t.shape, lambda c, y, x: shifted[c, y, x] + skip[c, y, x], name="A")
    return compute(t.shape, lambda c, y, x: maximum(added[c, y, x], 0.0), name="O")


def converted() -> Any:
    from polysched.scop.expression import compute, maximum, minimum, placeholder
    t, bias = convolved(), placeholder("b", (CHANNELS,))
    return compute(t.shape, lambda c, y, x: minimum(maximum(t[c, y, x] + bias[c], 0.0), 255.0).astype("uint8"),
                   name="O")


def product() -> Any:
    from polysched.scop.expression import axis, compute, placeholder
    from polysched.scop.expression import sum as summed
    a, b = placeholder("A", (ROWS, COLUMNS)), placeholder("B", (COLUMNS, COLUMNS))
    k = axis("k")
    return compute((ROWS, COLUMNS), lambda i, j: summed(a[i, k] * b[k, j], over=k), name="O")


_IMAGE = {"X": (CHANNELS, WIDTH + 2, WIDTH + 2), "W": (CHANNELS, CHANNELS, 3, 3), "b": (CHANNELS,)}
_CONV = ("Conv", ("X", "W", "b"), {"kernel_shape": [3, 3]})
LAYERS = {
    "conv_relu": Layer(stages=biased, constants=("W", "b"), inputs=_IMAGE, nodes=(_CONV, ("Relu", ("0",), {}))),
    "conv_residual": Layer(
        stages=residual, constants=("W", "b"), inputs={**_IMAGE, "R": (CHANNELS, WIDTH, WIDTH)},
        nodes=(_CONV, ("Add", ("0", "R"), {}), ("Relu", ("1",), {}))),
    "conv_converted": Layer(
        stages=converted, constants=("W", "b"), inputs=_IMAGE,
        nodes=(_CONV, ("Clip", ("0", "least", "most"), {}), ("Cast", ("1",), {"to": 2}))),
    "product_16": Layer(stages=product, constants=("B",), inputs={"A": (ROWS, COLUMNS), "B": (COLUMNS, COLUMNS)},
                        nodes=(("MatMul", ("A", "B"), {}),)),
}
PACKING: dict[str, tuple[str, ...]] = {"packed": ("A", "B"), "unpacked": ()}
"""What a product's register blocks copy into panels, in the place of the model's choice."""


def main(arguments: list[str] | None = None) -> int:
    """Measure one expression and print its times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=[*LAYERS])
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="calls of each (default: %(default)s)")
    given = parser.parse_args(arguments)
    print(json.dumps(measured(given.program, given.rounds)))
    return 0


def in_a_process(program: str, rounds: int) -> dict[str, list[float]]:
    """The times of one expression, measured on one thread in a process of its own."""
    done = subprocess.run([sys.executable, __file__, program, "--rounds", str(rounds)], capture_output=True, text=True,
                          check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(program: str, rounds: int) -> dict[str, list[float]]:
    layer = LAYERS[program]
    random = np.random.default_rng(0)
    given = {name: random.standard_normal(shape).astype(np.float32) for name, shape in layer.inputs.items()}
    called = {**ours(program, given), **by_onnxruntime(layer, given)}
    results = {name: np.array(call()) for name, call in called.items()}
    for name in results:
        if name == "onnxruntime":
            close(results[name].reshape(results["original"].shape), results["original"])
        elif results[name].tobytes() != results["original"].tobytes():
            raise RuntimeError(f"{name} computes something else than the original")
    seconds: dict[str, list[float]] = {name: [] for name in called}
    for _ in range(rounds):
        for name, call in called.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def close(found: Array, wanted: Array) -> None:
    """Refuse what is not the same but for rounding; a byte may be the next one."""
    most = float(np.abs(wanted.astype(np.float64)).max())
    bound = 1 if wanted.dtype == np.uint8 else TOLERANCE * most
    if np.abs(found.astype(np.float64) - wanted).max() > bound:
        raise RuntimeError("ONNX Runtime computes something else")


def ours(program: str, given: Mapping[str, Array]) -> dict[str, Callable[[], Array]]:
    """The loops as written, what the model makes of them, and with each choice of panels."""
    import polysched
    from polysched.pipeline.options import PipelineOptions
    plain = PipelineOptions(scheduler="original", tile="off", vector_bits=0, parallel=False, tensorize=None,
                            expand=False)
    options = {"original": plain, "default": PipelineOptions(), "safe": PipelineOptions(safe=True)}
    if program == "product_16":
        options |= {name: PipelineOptions(packed=arrays) for name, arrays in PACKING.items()}
    calls = {}
    for name, chosen in options.items():
        function = polysched.compile(LAYERS[program].stages(), options=chosen)
        calls[name] = _call(function, given)
    return calls


def _call(function: Callable[..., Array], given: Mapping[str, Array]) -> Callable[[], Array]:
    return lambda: function(**given)


def by_onnxruntime(layer: Layer, given: Mapping[str, Array]) -> dict[str, Callable[[], Array]]:
    """The same layer by ONNX Runtime on one thread; nothing where it is not installed."""
    try:
        import onnxruntime
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        return {}
    batched = {name: array[None] if name in ("X", "R") else array for name, array in given.items()}
    numbers = {"least": np.float32(0), "most": np.float32(255)}
    weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in (
        *((name, batched[name]) for name in layer.constants), *numbers.items())]
    nodes = [helper.make_node(kind, inputs, [str(n)], **attributes)
             for n, (kind, inputs, attributes) in enumerate(layer.nodes)]
    fed = {name: array for name, array in batched.items() if name not in layer.constants}
    last = TensorProto.UINT8 if layer.nodes[-1][0] == "Cast" else TensorProto.FLOAT
    graph = helper.make_graph(nodes, "layer", [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in fed.items()],
        [helper.make_tensor_value_info(str(len(nodes) - 1), last, None)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return {"onnxruntime": lambda: session.run(None, fed)[0]}


if __name__ == "__main__":
    sys.exit(main())
