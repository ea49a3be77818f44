"""Nodes with the names and fields of TVM's, for machines without it; where it is installed, its own are read, too."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def node(kind_: str, /, **fields: Any) -> Any:
    """A node of a class with that name."""
    return type(kind_, (SimpleNamespace,), {"__hash__": object.__hash__})(**fields)


def var(name: str, dtype: str = "int32") -> Any:
    return node("Var", name=name, ty=dtype)


def number(value: float, dtype: str = "int32") -> Any:
    return node("FloatImm" if dtype.startswith("f") else "IntImm", value=value, ty=dtype)


def buffer(name: str, shape: list[Any], dtype: str = "float64") -> Any:
    return node("Var", name=name, ty=SimpleNamespace(shape=shape, dtype=dtype, strides=()))


def binary(name: str, a: Any, b: Any) -> Any:
    return node(name, a=a, b=b, ty=getattr(a, "ty", None))


def load(source: Any, *indices: Any) -> Any:
    return node("TensorLoad", source=source, indices=list(indices), ty=source.ty.dtype)


def store(target: Any, value: Any, *indices: Any) -> Any:
    return node("BufferStore", buffer=target, value=value, indices=list(indices))


def loop(variable: Any, extent: Any, body: Any, kind: int = 0) -> Any:
    return node("For", loop_var=variable, min=number(0), extent=extent, step=None, kind=kind, body=body)


def call(name: str, *arguments: Any, dtype: str = "float64") -> Any:
    return node("Call", op=SimpleNamespace(name=f"tirx.{name}"), args=list(arguments), ty=dtype)


def function(params: list[Any], body: Any) -> Any:
    return SimpleNamespace(params=params, body=body, attrs={})
