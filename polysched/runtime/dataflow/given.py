"""What a node is given, as it was then: the caller may change its arrays, and the node may be sent again."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import numpy as np

_FIXED = (bool, int, float, complex, str, bytes, type(None), np.generic)


def is_small(value: Any, most: int) -> bool:
    """Whether a value has at most so many bytes when it travels; what only Ray can pack is not small."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return bool(value.nbytes <= most)
    if isinstance(value, (bool, float, complex, type(None), np.generic)):
        return True
    try:
        return len(pickle.dumps(value, protocol=5)) <= most
    except (pickle.PicklingError, AttributeError, TypeError):
        return False


def is_fixed(value: Any) -> bool:
    """Whether nobody can change a value: numbers, text, frozen records, and tuples of them."""
    if isinstance(value, tuple):
        return all(is_fixed(each) for each in value)
    record = getattr(type(value), "__dataclass_params__", None)
    return isinstance(value, _FIXED) or callable(value) or (record is not None and bool(record.frozen))


def copied(value: Any) -> Any:
    """A value that stays as it is now."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.copy(order="K")
    return value if is_fixed(value) else deepcopy(value)
