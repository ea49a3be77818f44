"""Features of classical models: thresholds and columns.

Source: the ONNX operators Binarizer and ArrayFeatureExtractor of `ai.onnx.ml`, version 1.
"""

from __future__ import annotations

import math

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, INT64

DOMAIN = "ai.onnx.ml"


def _binarizer_types(site: Site) -> tuple[TensorType, ...]:
    threshold = float(site.attribute("threshold", 0.0))
    if site.type().dtype == BOOL or not math.isfinite(threshold):
        raise site.refusal("numbers and a finite threshold are wanted", "threshold",
                           witness=f"{site.type()}, {threshold}",
                           hint="give a finite number, and data that are no truth values")
    return (site.type(),)


def _binarizer(site: Site, build: Builder, x: str) -> str:
    own = site.type()
    threshold = float(site.attribute("threshold", 0.0))
    if own.dtype.is_integer:   # what is greater than a number is greater than the largest whole one below
        low, high = own.dtype.value_range()
        whole = math.floor(threshold)
        above = build.op("GreaterOrEqual" if whole < low else "Greater", x,
                         build.constant(np.array(min(max(whole, low), high), own.numpy)))
    else:
        above = build.op("Greater", build.op("Cast", x, to="float64"), build.constant(np.array(threshold)))
    return build.op("Cast", above, to=own.dtype.name)


def _columns_types(site: Site) -> tuple[TensorType, ...]:
    own, index = site.type(), site.type(1)
    if own.rank < 1 or index.dtype != INT64 or index.elements == 0:
        raise site.refusal("features and their numbers are wanted", (0, 1), witness=f"{own} and {index}",
                           hint="give data of at least one dimension, and int64 columns")
    return (own.with_shape((*(own.shape[:-1] if own.rank > 1 else (1,)), index.elements)),)


def _columns(site: Site, build: Builder, x: str, index: str) -> str:
    flat = build.op("Reshape", index, build.constant([-1]))
    rows = build.op("Unsqueeze", x, build.constant([0])) if site.type().rank == 1 else x
    return build.op("Gather", rows, flat, axis=-1)


def _np_columns(site: Site, x: np.ndarray, index: np.ndarray) -> np.ndarray:
    rows = x if x.ndim > 1 else x[None]
    return np.asarray(rows[..., index.reshape(-1)])


OPERATORS = (
    Operator(name="Binarizer", kind=Kind.ELEMENTWISE, types=_binarizer_types, composition=_binarizer,
             reference=lambda site, x: np.greater(x, np.float64(site.attribute("threshold", 0.0))).astype(x.dtype)),
    Operator(name="ArrayFeatureExtractor", kind=Kind.INJECTIVE, types=_columns_types, reference=_np_columns,
             composition=_columns))
