"""The peers: NumPy on OpenBLAS, oneDNN through PyTorch with packed weights, PyTorch eager and compiled, Halide.

Each factory raises MissingToolError-like ImportErrors only through `run.py`, which looks for the packages first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import workloads
from workloads import Arrays, Workload

from polysched.experiment import Entry

# NumPy -------------------------------------------------------------------------------------------------------------


def numpy_product(a: Arrays, w: Workload) -> None:
    np.matmul(a["A"], a["B"], out=a["C"])


def numpy_softmax(a: Arrays, w: Workload) -> None:
    e = np.exp(a["X"] - a["X"].max(axis=1, keepdims=True))
    np.divide(e, e.sum(axis=1, keepdims=True), out=a["Y"])


def numpy_layer_norm(a: Arrays, w: Workload) -> None:
    x = a["X"]
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred * centred).mean(axis=1, keepdims=True)
    a["Y"][...] = centred / np.sqrt(variance + np.float32(1e-5)) * a["gamma"] + a["beta"]


def windows(x: np.ndarray, r: int) -> np.ndarray:
    """[channel, y, x, r, s] view of the windows."""
    return np.lib.stride_tricks.sliding_window_view(x, (r, r), axis=(1, 2))


def numpy_convolution(a: Arrays, w: Workload) -> None:
    n, k, h, r = (w.sizes[s] for s in "NKHR")
    columns = windows(a["X"], r).transpose(0, 3, 4, 1, 2).reshape(k * r * r, h * h)
    np.matmul(a["W"].reshape(n, k * r * r), columns, out=a["Y"].reshape(n, h * h))


def numpy_depthwise(a: Arrays, w: Workload) -> None:
    np.einsum("cyxrs,crs->cyx", windows(a["X"], w.sizes["R"]), a["W"], out=a["Y"])


def numpy_erf(v: np.ndarray) -> np.ndarray:
    """Abramowitz and Stegun 7.1.26 is too coarse; the complementary error function by a rational fit (W. J. Cody)."""
    from math import erf
    return np.vectorize(erf, otypes=[np.float64])(v)


def numpy_gelu(a: Arrays, w: Workload) -> None:
    p = a["X"] @ a["W"] + a["bias"]
    a["Y"][...] = 0.5 * p * (1 + numpy_erf(p * np.sqrt(0.5)))


def numpy_lstm(a: Arrays, w: Workload) -> None:
    gates = a["x"] @ a["Wx"]
    gates += a["h"] @ a["Wh"]
    gates += a["bias"]
    i, f, g, o = np.split(gates, 4, axis=1)

    def sigmoid(v: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-v))
    np.add(sigmoid(f) * a["c"], sigmoid(i) * np.tanh(g), out=a["c_new"])
    np.multiply(sigmoid(o), np.tanh(a["c_new"]), out=a["h_new"])


def numpy_jacobi(a: Arrays, w: Workload) -> None:
    for _ in range(w.sizes["STEPS"]):
        for new, old in ((a["b"], a["a"]), (a["a"], a["b"])):
            new[1:-1, 1:-1] = 0.2 * (old[1:-1, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:] + old[:-2, 1:-1] + old[2:, 1:-1])


def numpy_heat(a: Arrays, w: Workload) -> None:
    i = slice(1, -1)
    for _ in range(w.sizes["STEPS"]):
        for new, old in ((a["b"], a["a"]), (a["a"], a["b"])):
            centre = old[i, i, i]
            new[i, i, i] = (0.125 * (old[2:, i, i] - 2 * centre + old[:-2, i, i])
                            + 0.125 * (old[i, 2:, i] - 2 * centre + old[i, :-2, i])
                            + 0.125 * (old[i, i, 2:] - 2 * centre + old[i, i, :-2]) + centre)


NUMPY: dict[str, Callable[[Arrays, Workload], None]] = {
    "product": numpy_product, "batched_product": numpy_product, "convolution": numpy_convolution,
    "depthwise": numpy_depthwise, "softmax": numpy_softmax, "layer_norm": numpy_layer_norm, "gelu": numpy_gelu,
    "lstm": numpy_lstm, "jacobi": numpy_jacobi, "heat": numpy_heat}


def numpy_entry(parameters: Mapping[str, Any]) -> Entry:
    """NumPy as a user would write it."""
    workload = workloads.make(parameters["workload"])
    arrays = workload.inputs()
    pristine = {n: arrays[n].copy() for n in workload.in_place}
    function = NUMPY[workload.kind]

    def restore() -> None:
        for name, value in pristine.items():
            arrays[name][...] = value
    return Entry(call=lambda: function(arrays, workload), restore=restore, note=blas_note(),
                 results=lambda: {n: arrays[n] for n in workload.results})


def blas_note() -> str:
    """The BLAS that NumPy loaded, and the core type that it detected."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return f"NumPy {np.__version__}; core type unknown without threadpoolctl"
    found = [p for p in threadpool_info() if p["user_api"] == "blas"]
    return f"NumPy {np.__version__}; " + ", ".join(
        f"{p['internal_api']} {p['version']}, core type {p.get('architecture')}, {p['num_threads']} threads"
        for p in found)


# PyTorch -----------------------------------------------------------------------------------------------------------

Tensors = dict[str, Any]
Computed = dict[str, Any]


def torch_function(workload: Workload) -> Callable[[Tensors], Computed]:
    """The workload in PyTorch's own words."""
    import torch
    import torch.nn.functional as f

    def lstm(a: Tensors) -> Computed:
        gates = torch.addmm(a["bias"], a["x"], a["Wx"]) + a["h"] @ a["Wh"]
        i, forget, g, o = gates.chunk(4, 1)
        c_new = torch.sigmoid(forget) * a["c"] + torch.sigmoid(i) * torch.tanh(g)
        return {"h_new": torch.sigmoid(o) * torch.tanh(c_new), "c_new": c_new}

    def jacobi(a: Tensors) -> Computed:
        first, second = a["a"].clone(), a["b"].clone()
        for _ in range(workload.sizes["STEPS"]):
            for new, old in ((second, first), (first, second)):
                new[1:-1, 1:-1] = 0.2 * (old[1:-1, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:] + old[:-2, 1:-1]
                                         + old[2:, 1:-1])
        return {"a": first, "b": second}

    def heat(a: Tensors) -> Computed:
        first, second, i = a["a"].clone(), a["b"].clone(), slice(1, -1)
        for _ in range(workload.sizes["STEPS"]):
            for new, old in ((second, first), (first, second)):
                c = old[i, i, i]
                new[i, i, i] = (0.125 * (old[2:, i, i] - 2 * c + old[:-2, i, i])
                                + 0.125 * (old[i, 2:, i] - 2 * c + old[i, :-2, i])
                                + 0.125 * (old[i, i, 2:] - 2 * c + old[i, i, :-2]) + c)
        return {"a": first, "b": second}

    channels = workload.sizes.get("K", 1)
    return {
        "product": lambda a: {"C": a["A"] @ a["B"]},
        "batched_product": lambda a: {"C": torch.bmm(a["A"], a["B"])},
        "convolution": lambda a: {"Y": f.conv2d(a["X"][None], a["W"])[0]},
        "depthwise": lambda a: {"Y": f.conv2d(a["X"][None], a["W"][:, None], groups=channels)[0]},
        "softmax": lambda a: {"Y": torch.softmax(a["X"], 1)},
        "layer_norm": lambda a: {"Y": f.layer_norm(a["X"], a["X"].shape[1:], a["gamma"], a["beta"])},
        "gelu": lambda a: {"Y": f.gelu(torch.addmm(a["bias"], a["X"], a["W"]))},
        "lstm": lstm, "jacobi": jacobi, "heat": heat}[workload.kind]


def torch_entry(parameters: Mapping[str, Any]) -> Entry:
    """PyTorch, eager or (`compiled`) through torch.compile."""
    import torch
    workload = workloads.make(parameters["workload"])
    function = torch_function(workload)
    torch.set_num_threads(parameters["threads"])
    if parameters["compiled"]:
        function = torch.compile(function, dynamic=False)
    tensors = {n: torch.from_numpy(a) for n, a in workload.inputs().items()
               if n not in workload.results or n in workload.in_place}
    return computed_entry(lambda: function(tensors), f"PyTorch {torch.__version__}")


def computed_entry(run: Callable[[], Computed], note: str) -> Entry:
    """An entry whose calls return their results as tensors."""
    import torch
    last: dict[str, Any] = {}

    def call() -> None:
        with torch.inference_mode():
            last.update(run())
    call()
    return Entry(call=call, note=note,
                 results=lambda: {n: t.contiguous().numpy() for n, t in last.items()})


def onednn_function(workload: Workload, tensors: Tensors) -> Callable[[], Computed]:
    """oneDNN's primitives with weights that were packed before; activations in the layout that suits it."""
    import torch
    ops = torch.ops.mkldnn

    def linear(x: str, weights: str, bias: Any, epilogue: str, algorithm: str) -> Callable[[], Any]:
        packed = ops._reorder_linear_weight(tensors[weights].T.contiguous(), tensors[x].shape[0])
        return lambda: ops._linear_pointwise(tensors[x], packed, bias, epilogue, [], algorithm)

    def convolve(groups: int) -> Callable[[], Computed]:
        weights = tensors["W"] if groups == 1 else tensors["W"][:, None].contiguous()
        x = tensors["X"][None].contiguous(memory_format=torch.channels_last)
        packed = ops._reorder_convolution_weight(weights, [0, 0], [1, 1], [1, 1], groups, list(x.shape))
        return lambda: {"Y": ops._convolution_pointwise(x, packed, None, [0, 0], [1, 1], [1, 1], groups, "none", [],
                                                        "")[0]}
    if workload.kind == "product":
        product = linear("A", "B", None, "none", "")
        return lambda: {"C": product()}
    if workload.kind == "gelu":
        fused = linear("X", "W", tensors["bias"], "gelu", "none")
        return lambda: {"Y": fused()}
    if workload.kind == "lstm":
        from_x, from_h = linear("x", "Wx", tensors["bias"], "none", ""), linear("h", "Wh", None, "none", "")

        def cell() -> Computed:
            i, f, g, o = (from_x() + from_h()).chunk(4, 1)
            c_new = torch.sigmoid(f) * tensors["c"] + torch.sigmoid(i) * torch.tanh(g)
            return {"h_new": torch.sigmoid(o) * torch.tanh(c_new), "c_new": c_new}
        return cell
    return convolve(workload.sizes["K"] if workload.kind == "depthwise" else 1)


ONEDNN_KINDS = ("product", "gelu", "lstm", "convolution", "depthwise")


def onednn_takes(kind: str, dtype: str) -> bool:
    """Whether oneDNN has a primitive for it."""
    return kind in ONEDNN_KINDS and dtype == "float32"


def onednn_entry(parameters: Mapping[str, Any]) -> Entry:
    """oneDNN, as it is inside PyTorch."""
    import torch
    workload = workloads.make(parameters["workload"])
    torch.set_num_threads(parameters["threads"])
    tensors = {n: torch.from_numpy(a) for n, a in workload.inputs().items() if n not in workload.results}
    return computed_entry(onednn_function(workload, tensors), f"oneDNN in PyTorch {torch.__version__}")
