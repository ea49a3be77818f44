"""Block programs on Triton: the printed module is loaded and called, on a GPU or in Triton's interpreter.

Source: the Triton documentation, "Debugging Triton", for `TRITON_INTERPRET`.
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from polysched.errors import DeviceError
from polysched.scop.block_frontend import BlockSource, triton_text

MISSING = "install it with `python -m pip install -e '.[triton]'`"
CUDA = "cuda"


def triton_module(source: BlockSource) -> types.ModuleType:
    """The program as a loaded Python module, with its kernel and its launcher.

    Raises
    ------
    DeviceError : Triton or PyTorch is not installed.
    UnsupportedScopError : an edge of a tile is no power of two.
    """
    text = triton_text(source)
    path = f"<triton {source.name} {sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)   # Triton reads the source of its functions
    module = types.ModuleType(f"polysched_triton_{source.name}")
    module.__file__ = path
    try:
        exec(compile(text, path, "exec"), module.__dict__)
    except ImportError as error:
        raise DeviceError("there is no Triton", witness=str(error), hint=MISSING) from None
    return module


def is_interpreted() -> bool:
    """Whether Triton was imported with `TRITON_INTERPRET=1`, which it reads once."""
    import triton
    return type(triton.language.cdiv).__name__ == "InterpretedFunction"


def stand_ins(values: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for the checks of a call: NumPy arrays of equal types and shapes for tensors in a GPU's memory."""
    made: dict[int, np.ndarray] = {}
    return {name: made.setdefault(value.data_ptr(), np.empty(tuple(value.shape), str(value.dtype).split(".")[-1]))
            if is_on_gpu(value) else value for name, value in values.items()}


def run_on_triton(launcher: Callable[..., None], values: Mapping[str, Any], written: frozenset[str]) -> None:
    """Run a launcher on arguments that were checked; arrays of the host go to the GPU and come back.

    Parameters
    ----------
    written : the arrays that the program writes.

    Raises
    ------
    DeviceError : there is neither a GPU nor the interpreter.
    """
    import torch
    device = "cpu" if is_interpreted() else CUDA
    if device == CUDA and not torch.cuda.is_available():
        raise DeviceError("Triton runs on a GPU, and PyTorch finds none",
                          hint="set TRITON_INTERPRET=1 before Python starts: Triton's interpreter runs on the CPU")
    tensors = {name: _tensor(torch, value, device) for name, value in values.items()}
    launcher(**tensors)
    for name in written:
        if isinstance(values[name], np.ndarray) and not _shares(tensors[name], values[name]):
            values[name][...] = tensors[name].cpu().numpy()


def is_on_gpu(value: Any) -> bool:
    """Whether an argument is a tensor in a GPU's memory."""
    return getattr(getattr(value, "device", None), "type", "") == CUDA


def _tensor(torch: Any, value: Any, device: str) -> Any:
    """A value as Triton takes it; a tensor has no negative strides, and a float of NumPy keeps its type."""
    if isinstance(value, np.ndarray):
        whole = value if value.flags.writeable and all(s >= 0 for s in value.strides) else value.copy()
        return torch.from_numpy(whole).to(device)
    if isinstance(value, np.floating):
        return torch.from_numpy(np.array([value])).to(device)
    return value.item() if isinstance(value, np.generic) else value


def _shares(tensor: Any, array: np.ndarray) -> bool:
    return bool(tensor.device.type == "cpu") and bool(tensor.data_ptr() == array.__array_interface__["data"][0])
