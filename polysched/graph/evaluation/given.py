"""What is given for a value, as an array: of NumPy, of PyTorch, or what NumPy makes one of."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from polysched.errors import UsageError
from polysched.graph.values.element_types import ELEMENT_TYPES, array_type, is_narrow


def given_array(name: str, value: Any) -> np.ndarray:
    """What is given for a value, as an array; of a tensor that records gradients, its data.

    Raises
    ------
    UsageError : it is a masked array, whose mask would be lost, or NumPy makes no array of it.
    """
    if type(value) is np.ndarray:
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise UsageError(f"the value {name!r} is a masked array, and models see no mask",
                         hint="pass its data, or what filled() gives")
    try:
        return np.asarray(_of_torch(value))
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise UsageError(f"NumPy makes no array of the value {name!r}", where=type(value).__name__,
                         witness=str(error).strip().partition("\n")[0][:300] or None,
                         hint="pass a NumPy array, or a tensor in the memory of the CPU") from None


def _of_torch(value: Any) -> Any:
    """A tensor of PyTorch as an array on the same memory; anything else as it is."""
    torch = sys.modules.get("torch")   # a tensor is there only where its package is
    if torch is None or not isinstance(value, torch.Tensor):
        return value
    own = ELEMENT_TYPES.get(str(value.dtype).removeprefix("torch."))
    data = value.detach().resolve_neg()
    if own is None or not is_narrow(own):
        return data.numpy()
    bits = torch.int16 if own.bytes == 2 else torch.uint8
    return data.contiguous().view(bits).numpy().view(array_type(own))
