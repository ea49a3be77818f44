"""Formulas of values and numbers as nodes."""

from __future__ import annotations

import itertools

import numpy as np

from polysched.graph.operators.builder import Builder
from polysched.graph.operators.families.numbers import Numbers


def test_numbers_become_constants_of_the_type() -> None:
    count = itertools.count()
    build = Builder(lambda wish: f"{wish}_{next(count)}")
    own = Numbers(build, np.dtype(np.float16))
    total = own.op("Add", own.op("Mul", "x", 0.1), "y")
    multiplied, added = build.nodes
    assert [n.op for n in build.nodes] == ["Mul", "Add"]
    assert multiplied.inputs[0] == "x"
    assert build.constants[multiplied.inputs[1]].dtype == np.float16
    assert added.inputs == (multiplied.outputs[0], "y")
    assert added.outputs == (total,)
