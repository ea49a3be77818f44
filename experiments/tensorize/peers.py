"""oneDNN and MKL through PyTorch, OpenBLAS through NumPy: entries that do the same work.

Those called `narrow` write a result of fewer bytes than ours: the reference's, rounded or clamped to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import workloads
from workloads import Arrays, Workload

from polysched.experiment import Entry

Results = Mapping[str, np.ndarray]


def same(results: Results) -> Results:
    return results


def clamped(results: Results) -> Results:
    """To unsigned bytes."""
    return {n: np.clip(a, 0, 255).astype(np.uint8) for n, a in results.items()}


def rounded(results: Results) -> Results:
    """To the nearest bfloat16, ties to even, as its upper 16 bits."""
    found = {}
    for name, values in results.items():
        bits = values.astype(np.float32).view(np.uint32)
        found[name] = ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return found


def variants(workload: Workload, types: str) -> dict[str, tuple[str, str, Callable[[Results], Results]]]:
    """By name the factory, its variant, and what becomes of the reference's results."""
    if workload.result == "Y":
        return {"oneDNN f32": ("convolution", "float32", same), "oneDNN narrow u8": ("convolution", "uint8", clamped)}
    if types == "bytes":
        signed = {"oneDNN _int_mm": ("int_mm", "", same)} if workload.left_bits < 8 else {}   # it has no unsigned bytes
        return {"oneDNN f32": ("integer_product", "float32", same), **signed,
                "oneDNN narrow u8": ("integer_product", "uint8", clamped),
                "oneDNN narrow bf16": ("integer_product", "bfloat16", rounded)}
    if types == "bf16":   # the result is rounded to bf16, there is no other choice
        return {"oneDNN packed": ("packed_product", "", rounded)}
    return {"oneDNN packed": ("packed_product", "", same), "OpenBLAS": ("openblas", "", same),
            "MKL": ("mkl", "", same)}


def openblas(parameters: Mapping[str, Any]) -> Entry:
    """NumPy's product."""
    a = workloads.make(parameters["workload"]).inputs()
    return Entry(call=lambda: np.matmul(a["A"], a["B"], out=a["C"]), results=lambda: {"C": a["C"]},
                 note=f"NumPy {np.__version__}")


def torch_entry(parameters: Mapping[str, Any]) -> Entry:
    """One of `CALLS`; its result is converted to the workload's type, unless it is narrow."""
    import torch
    workload = workloads.make(parameters["workload"])
    torch.set_num_threads(parameters["threads"])
    arrays = workload.inputs()
    run = CALLS[parameters["peer"]](arrays, parameters["variant"], workload)
    last: dict[str, Any] = {}

    def call() -> None:
        with torch.inference_mode():
            last["result"] = run()

    def results() -> Results:
        result, wanted = last["result"], arrays[workload.result]
        if workload.channels_last:
            result = result.permute(0, 2, 3, 1)
        result = result.contiguous()
        if result.dtype == torch.bfloat16:
            return {workload.result: result.view(torch.int16).numpy().view(np.uint16)}
        values = result.numpy()
        return {workload.result: values if values.dtype.itemsize < wanted.dtype.itemsize
                else values.astype(wanted.dtype)}
    call()
    return Entry(call=call, results=results, note=f"PyTorch {torch.__version__}")


def tensor(values: np.ndarray) -> Any:
    import torch
    if values.dtype == np.uint16:
        return torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(values)


def integer_product(arrays: Arrays, variant: str, workload: Workload) -> Callable[[], Any]:
    import torch
    a, b = tensor(arrays["A"]), tensor(arrays["B"])
    n, kind, op = b.shape[1], getattr(torch, variant), torch.ops.onednn
    packed = op.qlinear_prepack(b.t().contiguous(), None)
    scales, zeros = torch.ones(n), torch.zeros(n, dtype=torch.int32)
    return lambda: op.qlinear_pointwise(a, 1.0, 0, packed, scales, zeros, None, 1.0, 0, kind, "none", [], "")


def int_mm(arrays: Arrays, variant: str, workload: Workload) -> Callable[[], Any]:
    """Signed bytes, into a result that is there; values of seven bits are the same as unsigned ones."""
    import torch
    signed, b = tensor(arrays["A"]).to(torch.int8), tensor(arrays["B"])
    c = torch.empty(arrays["C"].shape, dtype=torch.int32)
    return lambda: torch._int_mm(signed, b, out=c)


def packed_product(arrays: Arrays, variant: str, workload: Workload) -> Callable[[], Any]:
    import torch
    a, b, op = tensor(arrays["A"]), tensor(arrays["B"]), torch.ops.mkldnn
    packed = op._reorder_linear_weight(b.t().contiguous(), a.shape[0])
    return lambda: op._linear_pointwise(a, packed, None, "none", [], "")


def mkl(arrays: Arrays, variant: str, workload: Workload) -> Callable[[], Any]:
    import torch
    a, b, c = (tensor(arrays[n]) for n in "ABC")
    return lambda: torch.mm(a, b, out=c)


def convolution(arrays: Arrays, variant: str, workload: Workload) -> Callable[[], Any]:
    import torch
    x, w, kind, op = tensor(arrays["X"]), tensor(arrays["W"]), getattr(torch, variant), torch.ops.onednn
    if workload.channels_last:
        x = x.permute(0, 3, 1, 2)   # the same memory, seen as NCHW
    scales, zeros = torch.ones(w.shape[0]), torch.zeros(w.shape[0], dtype=torch.int32)
    packed = op.qconv_prepack(w, scales, 1.0, 0, [1, 1], [0, 0], [1, 1], 1, list(x.shape))
    return lambda: op.qconv2d_pointwise(x, 1.0, 0, packed, scales, zeros, None, [1, 1], [0, 0], [1, 1], 1, 1.0, 0, kind,
                                        "none", [], "")


CALLS: dict[str, Callable[[Arrays, str, Workload], Callable[[], Any]]] = {
    f.__name__: f for f in (integer_product, int_mm, packed_product, mkl, convolution)}
