"""A function of values computed element by element in the reference interpreter."""

from collections.abc import Callable

import numpy as np

from polysched.scop.construction import values
from polysched.scop.construction.promotion import from_numpy
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import Value
from polysched.scop.interpreter import execute
from polysched.scop.scop import Storage


def computed(function: Callable[..., Value], *columns: np.ndarray) -> np.ndarray:
    """`function` of the elements of columns of one length, in the type that it has itself."""
    region, length = Region("test"), values.number(len(columns[0]))
    names = [f"x{n}" for n in range(len(columns))]
    for name, column in zip(names, columns, strict=True):
        region.declare(name, from_numpy(column.dtype), (length,), storage=Storage.ARGUMENT)
    with region.loop("i", values.number(0), length) as i:
        result = function(*(region.load(name, (i,)) for name in names))
        region.declare("y", result.dtype, (length,), storage=Storage.ARGUMENT)
        region.assign("y", (i,), result.expr)
    found = np.zeros(len(columns[0]), result.dtype.name)
    execute(region.finish(), {}, {**dict(zip(names, columns, strict=True)), "y": found}, wrap_signed=True)
    return found
