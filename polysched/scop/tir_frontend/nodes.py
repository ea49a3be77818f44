"""Nodes of TVM's tensor IR, under the names that its versions give them.

Nothing of TVM is imported: a node is known by the name of its class, so that a function of any version is read whose
nodes are named here.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from polysched.scop.dtypes import BY_NAME, DType

_OLDER = {"BufferLoad": "TensorLoad", "Block": "SBlock", "BlockRealize": "SBlockRealize", "SizeVar": "Var"}


def kind(node: Any) -> str:
    """The name of a node's class, as the newest version has it."""
    name = type(node).__name__
    return _OLDER.get(name, name)


def key(node: Any) -> Hashable:
    """What a variable or buffer is looked up by; the equality of TVM's own objects makes expressions."""
    handle = getattr(node, "id_", None)
    return handle if isinstance(handle, int) else hash(node)


def type_name(node: Any) -> str:
    """The type of an expression or of a buffer's elements, `float32`."""
    own = getattr(node, "ty", None)
    if own is not None and hasattr(own, "shape"):
        return str(own.dtype)
    found = str(getattr(node, "dtype", "") or "") if own is None else str(own)
    return found.removeprefix("T.").strip('"')


def dtype_of(node: Any) -> DType | None:
    """The same as a type of elements; None where it is none."""
    return BY_NAME.get(type_name(node))


def shape_of(buffer: Any) -> list[Any]:
    """The extents of a buffer."""
    own = getattr(buffer, "ty", None)
    return list(own.shape if own is not None and hasattr(own, "shape") else buffer.shape)


def has_strides(buffer: Any) -> bool:
    """Whether a buffer has another layout than row after row."""
    own = getattr(buffer, "ty", None)
    return bool(list(getattr(own if own is not None and hasattr(own, "shape") else buffer, "strides", ()) or ()))


def is_buffer(node: Any) -> bool:
    """Whether a parameter is a buffer."""
    return hasattr(getattr(node, "ty", None), "shape") or kind(node) == "Buffer"


def buffer_of(access: Any) -> Any:
    """The buffer that a load or store reaches."""
    return access.source if hasattr(access, "source") else access.buffer


def called(node: Any) -> str:
    """The name of what a call calls, without its dialect."""
    return str(getattr(node.op, "name", node.op)).rpartition(".")[2]
