"""Lazy initialisation: tensors of one repeated number stay a number until an element of them is needed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.graph.passes.expressions import is_neutral
from polysched.graph.passes.rewriting import Rewriting, rewritten
from polysched.graph.passes.simple import constant_shape
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.types import TensorType

MOVING = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Expand", "Tile", "Slice", "Identity"})
PAIRS = frozenset({"Add", "Sub", "Mul", "Max", "Min"})


def lazy_initialisation(graph: Graph) -> Graph:
    """Keep tensors of zeros, of ones, or of any repeated number as that number; only what needs elements makes them.

    Rewrite:  let z = ConstantOfShape(s); let t = Transpose(z); let y = Add(x, t)  ->  let y = Add(x, 0)

    Of gradients most start as zeros.  Every rule is exact: 0 is left out of a sum of integers, and -0.0 of floats; 1 of
    a product; a product by the integer 0 is 0.
    """
    filled: dict[str, np.ndarray] = {}
    return rewritten(graph, lambda node, rw: _filled(node, rw, filled))


def number_of(name: str, rw: Rewriting, filled: dict[str, np.ndarray]) -> np.ndarray | None:
    """The number that all elements of a value are, as a scalar; None where they differ or are not known."""
    if name in filled:
        return filled[name]
    value = rw.constants.get(name)
    if value is None or not value.size:
        return None
    first = value.reshape(-1)[:1]
    same = bool((value.reshape(-1).view(f"V{value.dtype.itemsize}") == first.view(f"V{value.dtype.itemsize}")).all())
    return first.reshape(()) if same else None


def _filled(node: Node, rw: Rewriting, filled: dict[str, np.ndarray]) -> Sequence[str] | None:
    """A node whose result is one number, or whose operand is."""
    number = _own_number(node, rw, filled)
    if number is None:
        return _with_scalars(node, rw, filled)
    its_type = rw.result(node)
    made = _as_fill(rw, number, its_type)
    if made is None:
        return None
    filled[made] = number
    return (made,)


def _own_number(node: Node, rw: Rewriting, filled: dict[str, np.ndarray]) -> np.ndarray | None:
    """The number that the result of a node is; None where it is none."""
    numbers = [number_of(name, rw, filled) if name else None for name in node.inputs]
    if node.op == "ConstantOfShape":
        return np.array(node.attribute("value", 0.0), node.attribute("dtype", "float32"))
    if node.op in MOVING or (node.op == "Concat" and _all_same(numbers)):
        return numbers[0]
    if node.op in PAIRS and len(numbers) == 2:
        return _of_pair(node, rw, numbers[0], numbers[1])
    return None


def _all_same(numbers: Sequence[np.ndarray | None]) -> bool:
    return all(n is not None and numbers[0] is not None and n.tobytes() == numbers[0].tobytes() for n in numbers)


def _of_pair(node: Node, rw: Rewriting, a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
    """The number of a sum, a difference, a product or an extremum."""
    if node.op == "Mul" and rw.type(node.inputs[0]).dtype.is_integer and any(n is not None and n == 0 for n in (a, b)):
        return np.zeros((), rw.type(node.inputs[0]).numpy)
    if a is None or b is None:
        return None
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum}[node.op]
    with np.errstate(all="ignore"):
        return np.asarray(function(a, b), a.dtype)


def _with_scalars(node: Node, rw: Rewriting, filled: dict[str, np.ndarray]) -> Sequence[str] | None:
    """A pair with an operand that is one number: nothing of it is left where that changes nothing, else a scalar."""
    if node.op not in PAIRS or len(node.inputs) != 2:
        return None
    result = rw.result(node)
    for own, other in ((0, 1), (1, 0)):
        number = number_of(node.inputs[other], rw, filled)
        if number is None or rw.type(node.inputs[own]) != result:
            continue
        turned = other == 1 or node.op in ("Add", "Mul")
        if node.op in ("Add", "Sub", "Mul") and turned and is_neutral(node.op, number):
            return (node.inputs[own],)
        if rw.type(node.inputs[other]).rank == 0 or rw.type(node.inputs[other]).elements == 1:
            return None
        inputs = list(node.inputs)
        inputs[other] = rw.constant(number)
        return (rw.op(node.op, *inputs),)
    return None


def _as_fill(rw: Rewriting, number: np.ndarray, its_type: TensorType) -> str | None:
    """A number spread over a shape; None where the shape is no constant operand."""
    shape = constant_shape(its_type.shape)
    if shape is None or -1 in shape:
        return None
    return rw.op("Expand", rw.constant(number), rw.constant(shape))
