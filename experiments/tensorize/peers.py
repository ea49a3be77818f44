"""oneDNN through PyTorch, OpenBLAS through NumPy and MKL through PyTorch: callables that do the same work.

PyTorch is imported before our libraries are loaded, so that both use one OpenMP runtime.
"""

import os
from collections.abc import Callable

import numpy as np
from workloads import Workload

os.environ.setdefault("OMP_PROC_BIND", "true")   # read when the OpenMP runtime is loaded, which PyTorch does
try:
    import torch
except ImportError:
    torch = None   # type: ignore[assignment]

Calls = dict[str, Callable[[], object]]


def onednn(workload: Workload, arrays: dict[str, np.ndarray]) -> Calls:
    """Variants by name; those called `narrow` write a result of fewer bytes than ours."""
    if torch is None:
        return {}
    if "W" in arrays:
        return _convolutions(workload, arrays)
    if arrays["A"].dtype == np.uint8:
        return _integer_products(arrays)
    return _float_products(arrays)


def blas(workload: Workload, arrays: dict[str, np.ndarray]) -> Calls:
    """f32 products by NumPy's OpenBLAS and PyTorch's MKL."""
    if "A" not in arrays or arrays["A"].dtype != np.float32:
        return {}
    a, b, c = arrays["A"], arrays["B"], np.empty_like(arrays["C"])
    calls: Calls = {"OpenBLAS": lambda: np.matmul(a, b, out=c)}
    if torch is not None:
        ta, tb, tc = torch.from_numpy(a), torch.from_numpy(b), torch.from_numpy(np.empty_like(c))
        calls["MKL"] = lambda: torch.mm(ta, tb, out=tc)
    return calls


def _integer_products(arrays: dict[str, np.ndarray]) -> Calls:
    a, b = torch.from_numpy(arrays["A"]), torch.from_numpy(arrays["B"])
    n = b.shape[1]
    packed = torch.ops.onednn.qlinear_prepack(b.t().contiguous(), None)
    scales, zeros = torch.ones(n), torch.zeros(n, dtype=torch.int32)
    signed, c = a.to(torch.int8), torch.empty(a.shape[0], n, dtype=torch.int32)

    def linear(kind: "torch.dtype") -> Callable[[], object]:
        return lambda: torch.ops.onednn.qlinear_pointwise(a, 1.0, 0, packed, scales, zeros, None, 1.0, 0, kind,
                                                          "none", [], "")

    wanted = arrays["A"].astype(np.int32) @ arrays["B"].astype(np.int32)
    assert np.array_equal(linear(torch.float32)().numpy(), wanted)
    assert np.array_equal(torch._int_mm(signed, b).numpy(), wanted)
    return {"f32": linear(torch.float32), "_int_mm": lambda: torch._int_mm(signed, b, out=c),
            "narrow u8": linear(torch.uint8), "narrow bf16": linear(torch.bfloat16)}


def _float_products(arrays: dict[str, np.ndarray]) -> Calls:
    if arrays["A"].dtype == np.float32:
        a, b, name = torch.from_numpy(arrays["A"]), torch.from_numpy(arrays["B"]), "packed f32"
    else:   # bf16: the result is rounded to bf16, there is no other choice
        a, b = (torch.from_numpy(arrays[x].view(np.int16)).view(torch.bfloat16) for x in "AB")
        name = "packed bf16"
    packed = torch.ops.mkldnn._reorder_linear_weight(b.t().contiguous(), a.shape[0])
    return {name: lambda: torch.ops.mkldnn._linear_pointwise(a, packed, None, "none", [], "")}


def _convolutions(workload: Workload, arrays: dict[str, np.ndarray]) -> Calls:
    x, w = torch.from_numpy(arrays["X"]), torch.from_numpy(arrays["W"])
    if workload.channels_last:
        x = x.permute(0, 3, 1, 2)   # the same memory, seen as NCHW
    k = w.shape[0]
    scales, zeros = torch.ones(k), torch.zeros(k, dtype=torch.int32)
    packed = torch.ops.onednn.qconv_prepack(w, scales, 1.0, 0, [1, 1], [0, 0], [1, 1], 1, list(x.shape))

    def convolve(kind: "torch.dtype") -> Callable[[], object]:
        return lambda: torch.ops.onednn.qconv2d_pointwise(x, 1.0, 0, packed, scales, zeros, None, [1, 1], [0, 0],
                                                          [1, 1], 1, 1.0, 0, kind, "none", [], "")

    return {"f32": convolve(torch.float32), "narrow u8": convolve(torch.uint8)}
