"""Arithmetic of values with numbers of their type, for compositions that are formulas."""

from __future__ import annotations

import numpy as np

from polysched.graph.operators.builder import Builder


class Numbers:
    """Nodes whose operands are values and numbers.

    Parameters
    ----------
    build : makes the nodes.
    numpy : the type of all.
    """

    def __init__(self, build: Builder, numpy: np.dtype) -> None:
        self.build = build
        self.numpy = numpy

    def op(self, name: str, *operands: str | float) -> str:
        """The name of a result; numbers become constants."""
        return self.build.op(name, *(o if isinstance(o, str) else self.build.constant(np.array(o, self.numpy))
                                     for o in operands))
