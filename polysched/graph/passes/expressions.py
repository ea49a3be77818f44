"""Simplify expression: chains of reshapes, transposes and casts become one; what does nothing goes.

Every rule is exact: the values after are those before, bit for bit, signed zeros and NaN included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from polysched.graph.passes.rewriting import Rewriting, until_nothing_fits
from polysched.graph.passes.simple import constant_shape
from polysched.graph.values.element_types import is_narrow
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.sizes import Size
from polysched.scop.dtypes import BOOL, DType

SHAPES = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")
IDEMPOTENT = frozenset({"Relu", "Abs", "Floor", "Ceil", "Round", "Sign"})
INVOLUTIONS = frozenset({"Neg", "Not", "BitwiseNot"})
ONE_OPERAND_IS_ITSELF = frozenset({"Max", "Min", "Sum", "Concat"})
SAME_TYPE_IS_ITSELF = frozenset({"Expand", "Tile", "Pad", "Cast", "Slice"})
MANTISSA = {16: 11, 32: 24, 64: 53}
"""Bits of a float's significand by its width: whole numbers of so many bits are exact (IEEE 754, table 3.5)."""


def simplify_expression(graph: Graph) -> Graph:
    """Merge chains of reshapes, transposes and casts; leave out what does nothing.

    Rewrite:  let a = Transpose(x; perm=[1, 0]); let b = Transpose(a; perm=[1, 0])  ->  x
    """
    return until_nothing_fits(graph, _nothing, _again, _shape, _transpose, _transpose_behind_shape, _cast, _neutral)


def reshaped(rw: Rewriting, x: str, shape: Sequence[Size]) -> str | None:
    """A value in another shape; None where the shape is no constant operand."""
    wanted = constant_shape(shape)
    if wanted is None:
        return None
    return rw.op("Reshape", x, rw.constant(wanted), **({"allowzero": 1} if 0 in wanted else {}))


def _nothing(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """Operators that return their operand."""
    if node.op == "Identity":
        return None if _names_an_output(node, rw) else (node.inputs[0],)
    if _is_of_one(node):
        return (node.inputs[0],)
    if node.op == "Where" and node.inputs[1] == node.inputs[2] and rw.result(node) == rw.type(node.inputs[1]):
        return (node.inputs[1],)
    if node.op in SAME_TYPE_IS_ITSELF and rw.result(node) == rw.type(node.inputs[0]):
        return (node.inputs[0],) if _keeps_order(node, rw) else None
    return None


def _is_of_one(node: Node) -> bool:
    """Whether an operator of several operands, or of several results, has one."""
    return (node.op in ONE_OPERAND_IS_ITSELF and len(node.inputs) == 1) or (
        node.op == "Split" and len(node.outputs) == 1)


def _keeps_order(node: Node, rw: Rewriting) -> bool:
    """Whether an operator with a result of the operand's type moves no element: neither padded and cut, nor turned."""
    if node.op == "Pad":
        counts = rw.value(node.inputs[1])
        return counts is not None and not np.any(counts)
    steps = rw.value(node.inputs[4]) if node.op == "Slice" and len(node.inputs) > 4 and node.inputs[4] else np.ones(1)
    return steps is not None and bool((steps == 1).all())


def _names_an_output(node: Node, rw: Rewriting) -> bool:
    """Whether an output of the graph is an input, a constant or another output: then a node says so."""
    outputs = rw.before.outputs
    return node.outputs[0] in outputs and (node.inputs[0] not in rw.producers or node.inputs[0] in outputs)


def _again(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """Operators after themselves."""
    inner = rw.producer(node.inputs[0], node.op) if node.inputs and node.inputs[0] else None
    if inner is None:
        return None
    if node.op in INVOLUTIONS:
        return (inner.inputs[0],)
    return (node.inputs[0],) if node.op in IDEMPOTENT else None


def _shape(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """Shapes of shapes."""
    if node.op not in SHAPES:
        return None
    result = rw.result(node)
    if result == rw.type(node.inputs[0]):
        return (node.inputs[0],)
    inner = rw.producer(node.inputs[0], *SHAPES)
    if inner is None:
        return None
    if result == rw.type(inner.inputs[0]):
        return (inner.inputs[0],)
    made = reshaped(rw, inner.inputs[0], result.shape)
    return None if made is None else (made,)


def _order(node: Node, rw: Rewriting) -> tuple[int, ...]:
    rank = rw.type(node.inputs[0]).rank
    return tuple(a % rank for a in node.attribute("perm", tuple(reversed(range(rank)))))


def _transpose(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """Transposes of transposes, and those that only move extents of 1."""
    if node.op != "Transpose":
        return None
    order, own = _order(node, rw), rw.type(node.inputs[0])
    if order == tuple(range(own.rank)):
        return (node.inputs[0],)
    inner = rw.producer(node.inputs[0], "Transpose")
    if inner is not None:
        first = _order(inner, rw)
        return (rw.op("Transpose", inner.inputs[0], perm=tuple(first[a] for a in order)),)
    moved = [a for a in order if own.shape[a] != 1]
    if moved == sorted(moved):
        made = reshaped(rw, node.inputs[0], [own.shape[a] for a in order])
        return None if made is None else (made,)
    return None


def _transpose_behind_shape(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """Transposes with a change of shape between them: one transpose of the parts that both shapes are made of.

    Rewrite:  let t = Transpose(x: [M, N]; perm=[1, 0]); let r = Reshape(t, [N / 4, 4, M]);
    let y = Transpose(r; perm=[0, 2, 1])
    ->  let p = Reshape(x, [M, N / 4, 4]); let y = Transpose(p; perm=[1, 0, 2])
    """
    view = rw.producer(node.inputs[0], *SHAPES) if node.op == "Transpose" else None
    first = rw.producer(view.inputs[0], "Transpose") if view is not None else None
    if view is None or first is None or rw.is_shared(view.inputs[0]) or rw.is_shared(node.inputs[0]):
        return None
    turned, shaped = rw.type(view.inputs[0]), rw.type(node.inputs[0])
    parts = _common_parts(turned.extents, shaped.extents) if turned.is_static and shaped.is_static else None
    if parts is None:
        return None
    rows, columns = (_grouped(parts, shape) for shape in (turned.extents, shaped.extents))
    before = _in_order(rows, np.argsort(_order(first, rw)))     # as they stand in x
    after = _in_order(columns, _order(node, rw))
    apart = rw.op("Reshape", first.inputs[0], rw.constant([parts[part] for part in before]))
    made = rw.op("Transpose", apart, perm=tuple(before.index(part) for part in after))
    return (rw.op("Reshape", made, rw.constant(list(rw.result(node).extents))),)


def _in_order(groups: Sequence[Sequence[int]], order: Iterable[int]) -> list[int]:
    return [part for place in order for part in groups[place]]


def _common_parts(one: Sequence[int], other: Sequence[int]) -> list[int] | None:
    """The extents of the coarsest shape of which two are views that merge neighbours; None where there is none."""
    if 0 in (*one, *other):
        return None
    ends = sorted({int(end) for shape in (one, other) for end in np.cumprod(shape)})
    parts = []
    for last, end in zip([1, *ends], ends, strict=False):
        if end % last:
            return None
        parts.append(end // last)
    return [part for part in parts if part != 1]


def _grouped(parts: Sequence[int], shape: Sequence[int]) -> list[list[int]]:
    """Which parts, by number, each dimension of a shape is made of."""
    found, number = [], 0
    for extent in shape:
        own, size = [], 1
        while size < extent:
            own.append(number)
            size *= parts[number]
            number += 1
        found.append(own)
    return found


def holds_all(wide: DType, narrow: DType) -> bool:
    """Whether every value of one element type is exactly one of another."""
    if narrow in (wide, BOOL):
        return True
    if is_narrow(wide) or is_narrow(narrow):
        return False   # as far as is asked here
    if wide == BOOL or (narrow.is_float and not wide.is_float):
        return False
    if wide.is_float:
        own = MANTISSA.get(narrow.bits, 0) if narrow.is_float else narrow.bits - int(narrow.is_signed)
        return MANTISSA.get(wide.bits, 0) >= own and (not narrow.is_float or wide.bits > narrow.bits)
    if narrow.is_signed and not wide.is_signed:
        return False
    return wide.bits > narrow.bits


def _cast(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """A conversion behind one that loses nothing."""
    inner = rw.producer(node.inputs[0], "Cast") if node.op == "Cast" else None
    if inner is None or not holds_all(rw.type(node.inputs[0]).dtype, rw.type(inner.inputs[0]).dtype):
        return None
    return (rw.op("Cast", inner.inputs[0], **dict(node.attributes)),)


def _neutral(node: Node, rw: Rewriting) -> Sequence[str] | None:
    """Operands that change nothing: 0 added to integers, 1 multiplied, -0.0 added to floats."""
    if node.op not in ("Add", "Sub", "Mul", "Div"):
        return None
    x, y = node.inputs
    for own, other in ((x, y), (y, x))[:2 if node.op in ("Add", "Mul") else 1]:
        value = rw.value(other)
        if value is None or not value.size or not is_neutral(node.op, value):
            continue
        if rw.result(node) == rw.type(own):
            return (own,)
    return None


def is_neutral(op: str, value: np.ndarray) -> bool:
    """Whether an operand on the right changes no value of the left, whatever it is."""
    if op in ("Mul", "Div"):
        return bool((value == 1).all())
    if not (value == 0).all():
        return False
    return value.dtype.kind != "f" or bool((np.signbit(value) == (op == "Add")).all())
