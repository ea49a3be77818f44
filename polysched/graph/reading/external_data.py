"""Constants of a model file, those in files beside it included; nothing outside the model's folder is opened."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polysched.errors import ModelFileError, UnsupportedGraphError
from polysched.graph.limits import LIMITS
from polysched.graph.values.element_types import NarrowType, element_type

NO_STRINGS = "compile the part of the model behind them, and make its numbers of the strings before"
"""What to do with a model of strings."""


def tensor_array(tensor: Any, folder: Path | None, apart: Mapping[bytes, np.ndarray] | None = None) -> np.ndarray:
    """The elements of a protobuf tensor.

    Parameters
    ----------
    apart : bytes of long tensors by the words that stand for them (`reading.apart`).

    Raises
    ------
    ModelFileError : its data is not where it must be, or does not fit its shape.
    """
    import onnx
    where = f"constant {tensor.name!r}"
    count = 1
    for extent in tensor.dims:
        if extent < 0:
            raise ModelFileError("an extent is negative", where=where, hint="give an extent of at least 0 in dims")
        count *= extent
    if count * 8 > LIMITS.most_bytes:
        raise ModelFileError("the constant is larger than a model may have", where=where, witness=f"{count} elements",
                             hint=f"at most {LIMITS.most_bytes // 8} elements")
    if tensor.data_type == onnx.TensorProto.STRING:
        raise UnsupportedGraphError("strings are not had", where=where, hint=NO_STRINGS)
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return _external(tensor, folder, count, where)
    try:
        own = apart.get(tensor.raw_data) if apart else None
        if own is not None:
            return own.view(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)).reshape(tuple(tensor.dims))
        array: np.ndarray = onnx.numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError) as error:
        raise ModelFileError("the constant's data does not fit its type and shape", where=where,
                             witness=str(error)[:200],
                             hint="give as many elements as dims say, in raw_data or in the field of the element "
                                  "type") from None
    return array


def _external(tensor: Any, folder: Path | None, count: int, where: str) -> np.ndarray:
    """Elements from a file beside the model."""
    import onnx
    entries = {e.key: e.value for e in tensor.external_data}
    if folder is None:
        raise ModelFileError("the constant lies in another file, and the model in none", where=where,
                             hint="load it by its path, load(path), or store it in the model: onnx.save(model, "
                                  "path, save_as_external_data=False)")
    location = entries.get("location", "")
    path = _inside(folder, location)
    if path is None:
        raise ModelFileError("the constant's data must lie in a file in the model's folder", where=where,
                             witness=location[:200],
                             hint="store it beside the model, without .. and links: onnx.save(model, path, "
                                  "save_as_external_data=True)")
    try:
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))
        width = _width(dtype)
        offset, size = int(entries.get("offset", 0)), -(-count * width // 8)
    except (KeyError, ValueError) as error:
        raise ModelFileError("the constant's place is not understood", where=where, witness=str(error),
                             hint="give offset and length in bytes, as onnx.save(model, path, "
                                  "save_as_external_data=True) does") from None
    if offset < 0 or offset + size > path.stat().st_size or int(entries.get("length", size)) != size:
        raise ModelFileError("the constant's data is not wholly in its file", where=where,
                             witness=f"{size} bytes from {offset} on",
                             hint="copy the whole file beside the model, or write it anew: onnx.save(model, path, "
                                  "save_as_external_data=True)")
    if not count:
        return np.empty(tuple(tensor.dims), dtype)
    if width < dtype.itemsize * 8:
        packed = np.fromfile(path, np.uint8, size, offset=offset)
        return onnx.numpy_helper.to_array(onnx.TensorProto(data_type=tensor.data_type, dims=tensor.dims,
                                                           raw_data=packed.tobytes()))
    return np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=tuple(tensor.dims))


def _width(dtype: np.dtype) -> int:
    """The bits of an element in a file: short ones lie close together."""
    own = element_type(dtype)
    return own.width if isinstance(own, NarrowType) else dtype.itemsize * 8


def _inside(folder: Path, location: str) -> Path | None:
    """A file in a folder, links followed; None where it is none, lies outside, or no system has such a name."""
    if "\0" in location:
        return None
    try:
        path = (folder / location).resolve()
        return path if path.is_relative_to(folder) and path.is_file() else None
    except (OSError, RuntimeError):   # names that are too long; links in a circle
        return None
