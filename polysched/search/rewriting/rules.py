"""Algebraic rules over tensor expressions: each gives other stages that compute the same tensor.

A rule sees one stage and what it reads.  `ORDER` rules only move or copy values: every element is computed by the same
operations in the same order.  `ROUNDING` rules are equalities of a commutative ring: exact for integers that wrap, and
for floats within the bound of `rewriting.errors`.  They are taken where floats may be rounded in another order, and
hold for finite values alone: `inf * 2 - inf * 1` is no number, and `inf * (2 - 1)` is infinite.

Source: M. Steuwer, C. Fensch, S. Lindley, C. Dubach, "Generating Performance Portable Code using Rewrite Rules",
ICFP 2015, section 3 (split and join, map fusion, reduction splits).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum

from polysched.records import dataclass
from polysched.scop.expression import axis, compute
from polysched.scop.expression import sum as sum_over
from polysched.scop.expression.tensors import (
    Axis,
    Constant,
    Convert,
    Expression,
    Operation,
    Read,
    Reduction,
    Tensor,
    rebuilt,
    walk,
)
from polysched.search.limits import LIMITS
from polysched.search.rewriting.terms import (
    axes_in,
    constant_extent,
    factors,
    of_one_type,
    plain_sum,
    product,
    stage_over,
    substituted,
)
from polysched.search.rewriting.winograd import winograd


class Keeps(Enum):
    """What a rule keeps beside the value in exact arithmetic."""

    ORDER = "every operation and its order"
    ROUNDING = "the value up to rounding, of finite numbers"


@dataclass(frozen=True)
class Rule:
    """A rule.

    Parameters
    ----------
    name : in the history of a term.
    keeps : what floats keep.
    rewrite : the stages that may stand for a stage; none where the rule does not fit.
    """

    name: str
    keeps: Keeps
    rewrite: Callable[[Tensor], Iterator[Tensor]]


def map_fusion(stage: Tensor) -> Iterator[Tensor]:
    """`T[i] = f(i); O[i] = g(T[h(i)])` -> `O[i] = g(f(h(i)))`, for a producer without a reduction."""
    assert stage.definition is not None
    producers = dict.fromkeys(n.tensor for n in walk(stage.definition.value) if isinstance(n, Read)
                              and n.tensor.definition is not None and not _is_reduction(n.tensor))
    for producer in producers:
        def inlined(node: Expression, producer: Tensor = producer) -> Expression:
            if not isinstance(node, Read) or node.tensor is not producer:
                return node
            assert producer.definition is not None
            value = substituted(producer.definition.value,
                                dict(zip(producer.definition.axes, node.indices, strict=True)))
            return Convert(value, producer.dtype) if isinstance(value, Constant) else value
        yield _same_axes(stage, rebuilt(stage.definition.value, inlined))


def split_map(stage: Tensor) -> Iterator[Tensor]:
    """`O[i] = f(i)` -> `T[o, k] = f(o * n + k); O[i] = T[i // n, i % n]`: split and join of one dimension."""
    assert stage.definition is not None
    definition = stage.definition
    for place, own in enumerate(definition.axes):
        extent = constant_extent(own)
        for size in LIMITS.split_factors:
            if extent is None or extent % size or extent <= size:
                continue
            outer, inner = axis(f"{own.name}o", extent // size), axis(f"{own.name}i", size)
            axes = (*definition.axes[:place], outer, inner, *definition.axes[place + 1:])
            tiles = stage_over(f"{stage.name}_tiles", axes, substituted(definition.value, {own: outer * size + inner}))
            joined = (*definition.axes[:place], own // size, own % size, *definition.axes[place + 1:])
            yield _same_axes(stage, Read(tiles, joined))


def layout(stage: Tensor) -> Iterator[Tensor]:
    """`f(A[i, j])` -> `T[j, i] = A[i, j]; f(T[j, i])`: the last two dimensions change places."""
    assert stage.definition is not None
    read = dict.fromkeys(n.tensor for n in walk(stage.definition.value) if isinstance(n, Read) and n.tensor.rank > 1
                         and not n.tensor.temporary)
    for tensor in read:
        turned = compute((*tensor.shape[:-2], tensor.shape[-1], tensor.shape[-2]),
                         lambda *i, t=tensor: t[(*i[:-2], i[-1], i[-2])], name=f"{tensor.name}_turned")
        if _is_exchange(tensor):
            continue

        def turn(node: Expression, tensor: Tensor = tensor, turned: Tensor = turned) -> Expression:
            return Read(turned, (*node.indices[:-2], node.indices[-1], node.indices[-2])) if isinstance(
                node, Read) and node.tensor is tensor else node
        yield _same_axes(stage, rebuilt(stage.definition.value, turn))


def im2col(stage: Tensor) -> Iterator[Tensor]:
    """`sum(A[i + r] * W[r])` -> `T[i, r] = A[i + r]; sum(T[i, r] * W[r])`: windows are copied into rows of a matrix."""
    found = plain_sum(stage)
    if found is None:
        return
    assert stage.definition is not None
    for factor in factors(found.operand):
        if not isinstance(factor, Read) or all(isinstance(i, Axis) for i in factor.indices):
            continue
        used = axes_in(factor)
        axes = [a for a in (*stage.definition.axes, *found.axes) if a in used]
        if not set(axes) & set(found.axes) or not set(axes) & set(stage.definition.axes):
            continue
        columns = stage_over(f"{stage.name}_columns", axes, factor)
        yield _same_axes(stage, sum_over(_exchanged(found.operand, factor, Read(columns, tuple(axes))),
                                         over=found.axes))


def split_reduction(stage: Tensor) -> Iterator[Tensor]:
    """`sum(f(k))` -> `P[o] = sum(f(o * n + k)); sum(P[o])`, for an extent that parts of `n` fill."""
    found = plain_sum(stage)
    if found is None:
        return
    assert stage.definition is not None
    for place, own in enumerate(found.axes):
        extent = constant_extent(own)
        for size in LIMITS.split_factors:
            if extent is None or extent % size or extent <= size:
                continue
            outer, inner = axis(f"{own.name}o", extent // size), axis(f"{own.name}i", size)
            body = substituted(found.operand, {own: outer * size + inner})
            partial = stage_over(f"{stage.name}_parts", (*stage.definition.axes, outer),
                                 sum_over(body, over=(*found.axes[:place], inner, *found.axes[place + 1:])))
            again = axis(f"{own.name}p", extent // size)
            yield _same_axes(stage, sum_over(Read(partial, (*stage.definition.axes, again)), over=again))


def factor_out(stage: Tensor) -> Iterator[Tensor]:
    """`sum(a * b[k])` -> `a * sum(b[k])`: what a sum does not move leaves it; and `a * x + a * y` -> `a * (x + y)`.

    A sum of no floats is 0 whatever `a` is, which may be infinite or no number: its extents have to be known.
    """
    found = plain_sum(stage)
    return _out_of_a_sum(stage, found) if found is not None else _common_factors(stage)


def _out_of_a_sum(stage: Tensor, found: Reduction) -> Iterator[Tensor]:
    assert stage.definition is not None
    parts = factors(found.operand)
    moving, still = _parted(parts, found.axes)
    if still and moving and of_one_type(parts) and (not stage.dtype.is_float or all(map(_is_never_empty, found.axes))):
        used = _axes_of(moving)
        axes = [a for a in stage.definition.axes if a in used]
        total = stage_over(f"{stage.name}_sum", axes, sum_over(product(moving), over=found.axes))
        yield _same_axes(stage, product([*still, Read(total, tuple(axes))]))


def _is_never_empty(axis: Axis) -> bool:
    return (constant_extent(axis) or 0) > 0


def _common_factors(stage: Tensor) -> Iterator[Tensor]:
    assert stage.definition is not None
    value = stage.definition.value
    if not isinstance(value, Operation) or value.op not in ("+", "-"):
        return
    left, right = (factors(argument) for argument in value.arguments)
    if min(len(left), len(right)) < 2 or not of_one_type((*left, *right)):
        return
    for one in left:
        same = next((f for f in right if _is_same_read(one, f)), None)
        if same is not None:
            rest = (product([f for f in left if f is not one]), product([f for f in right if f is not same]))
            yield _same_axes(stage, one * Operation(value.op, rest))


def _parted(values: Sequence[Expression], axes: Sequence[Axis]) -> tuple[list[Expression], list[Expression]]:
    """Those that depend on one of the axes, and the others."""
    moving = [value for value in values if axes_in(value) & set(axes)]
    return moving, [value for value in values if value not in moving]


def _axes_of(values: Sequence[Expression]) -> frozenset[Axis]:
    return frozenset[Axis]().union(*map(axes_in, values))


def distribute(stage: Tensor) -> Iterator[Tensor]:
    """`sum((x + y) * c)` -> `sum(x * c) + sum(y * c)`, and the same without a sum."""
    assert stage.definition is not None
    found = plain_sum(stage)
    value = found.operand if found is not None else stage.definition.value
    parts = factors(value)
    for place, part in enumerate(parts):
        if not isinstance(part, Operation) or part.op not in ("+", "-") or not of_one_type((*parts, *part.arguments)):
            continue
        if found is None and len(parts) == 1:
            continue
        sides = [product([*parts[:place], argument, *parts[place + 1:]]) for argument in part.arguments]
        if found is not None:
            whole = [stage_over(f"{stage.name}_side{k}", stage.definition.axes, sum_over(side, over=found.axes))
                     for k, side in enumerate(sides)]
            sides = [Read(side, tuple(stage.definition.axes)) for side in whole]
        yield _same_axes(stage, Operation(part.op, tuple(sides)))


def chain_order(stage: Tensor) -> Iterator[Tensor]:
    """`T = A B; O = T C` -> `U = B C; O = A U`: the order of a chain of products.

    In general: a sum of products one of which is a sum of products itself.  Those factors of both that the outer sum
    moves are summed first.
    """
    found = plain_sum(stage)
    parts = factors(found.operand) if found is not None else ()
    for own in parts:
        inner = plain_sum(own.tensor) if isinstance(own, Read) and own.tensor.definition is not None else None
        if found is not None and inner is not None and isinstance(own, Read) and of_one_type((*parts, inner.operand)):
            yield from _summed_first(stage, found, own, inner)


def _summed_first(stage: Tensor, found: Reduction, own: Read, inner: Reduction) -> Iterator[Tensor]:
    """The sum with the factors that it moves summed before those that only the sum inside `own` moves."""
    assert stage.definition is not None
    assert own.tensor.definition is not None
    fresh = {a: Axis(f"{a.name}c", a.stop) for a in inner.axes}
    indices = {**dict(zip(own.tensor.definition.axes, own.indices, strict=True)), **fresh}
    every = [substituted(f, indices) for f in factors(inner.operand)]
    every += [f for f in factors(found.operand) if f is not own]
    first, last = _parted(every, found.axes)
    used = _axes_of(first)
    if len(first) < 2 or not last or not used & set(fresh.values()):
        return
    axes = [a for a in (*stage.definition.axes, *fresh.values()) if a in used]
    made = stage_over(f"{stage.name}_first", axes, sum_over(product(first), over=found.axes))
    yield _same_axes(stage, sum_over(product([*last, Read(made, tuple(axes))]), over=tuple(fresh.values())))


def _same_axes(stage: Tensor, value: Expression) -> Tensor:
    """A stage over the same axes with another value."""
    assert stage.definition is not None
    return stage_over(stage.name, stage.definition.axes, value)


def _is_reduction(tensor: Tensor) -> bool:
    return tensor.definition is not None and isinstance(tensor.definition.value, Reduction)


def _is_exchange(tensor: Tensor) -> bool:
    """Whether a tensor is another one with its last two dimensions exchanged, which one more exchange would undo."""
    definition = tensor.definition
    if definition is None or not isinstance(definition.value, Read):
        return False
    return definition.value.indices == (*definition.axes[:-2], definition.axes[-1], definition.axes[-2])


def _exchanged(value: Expression, old: Expression, new: Expression) -> Expression:
    """A product with one factor replaced, and its multiplications in the order that they had."""
    if value is old:
        return new
    if isinstance(value, Operation) and value.op == "*":
        return Operation("*", tuple(_exchanged(a, old, new) for a in value.arguments))
    return value


def _is_same_read(one: Expression, other: Expression) -> bool:
    return (isinstance(one, Read) and isinstance(other, Read) and one.tensor is other.tensor
            and one.indices == other.indices)


RULES: tuple[Rule, ...] = (
    Rule("map fusion", Keeps.ORDER, map_fusion), Rule("split and join", Keeps.ORDER, split_map),
    Rule("layout", Keeps.ORDER, layout), Rule("im2col", Keeps.ORDER, im2col),
    Rule("split reduction", Keeps.ROUNDING, split_reduction), Rule("factor", Keeps.ROUNDING, factor_out),
    Rule("distribute", Keeps.ROUNDING, distribute), Rule("chain order", Keeps.ROUNDING, chain_order),
    Rule("Winograd F(2x2, 3x3)", Keeps.ROUNDING, winograd))

__all__ = ["RULES", "Keeps", "Rule"]
