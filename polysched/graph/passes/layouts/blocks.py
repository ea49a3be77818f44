"""`Blocks`: values with their channels in blocks that lie last, `[n, c / b, x..., b]`, node by node.

Every node that has a form in blocks gets it, and a copy back behind it; those copies that nothing reads are dead code.
Convolutions by windows of one place take all places of an image as one row, `[n, c / b, places, b]`: blocks of
registers then cut one long row, not many short ones.  One form is a view of the other.  Where what they make is padded,
they make an image of long rows, whose padding then stands around it from the start (`planning.padding`).

A block has as many channels as their number allows: the first of some widths that divides it.  Values of equally many
channels so have equal blocks, except where they were joined of smaller ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from polysched.graph.limits import LIMITS
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.operators.windows import Windows, windows
from polysched.graph.passes.expressions import SHAPES
from polysched.graph.passes.rewriting import Rewriting
from polysched.graph.values.graph import Node

POOLS = ("MaxPool", "SumPool")
SUMS = ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean")


class Blocks:
    """The rule of a graph's nodes, which knows the values that are in blocks.

    Parameters
    ----------
    widths : channels of a block, the best first.
    """

    def __init__(self, widths: Sequence[int]) -> None:
        self.widths = tuple(widths)
        self.inside: dict[str, str] = {}   # values by the name of their plain form

    def width(self, channels: int) -> int:
        """The channels of a block of so many; 0 where they are no number of blocks."""
        return next((b for b in self.widths if channels % b == 0), 0)

    def take(self, node: Node, rw: Rewriting) -> Sequence[str] | None:
        """One node in blocks, and back; None where it stays as it is."""
        if node.op in SUMS and (summed := self._over_channels(node, rw)) is not None:
            return (summed,)
        if node.op in SHAPES:
            return self._viewed(node, rw)
        made = self._made(node, rw)
        if made is None:
            return None
        plain = self._back(made, rw, rw.result(node).extents)
        self.inside[plain] = made
        return (plain,)

    def _viewed(self, node: Node, rw: Rewriting) -> Sequence[str] | None:
        """An image in other spatial dimensions: the same places, which are in blocks, too."""
        if node.inputs[0] not in self.inside:
            return None
        before, after = rw.type(node.inputs[0]), rw.result(node)
        if not after.is_static or after.rank < 3 or after.shape[:2] != before.shape[:2] or after.elements == 0:
            return None
        plain = rw.op(node.op, *node.inputs, **dict(node.attributes))
        self.inside[plain] = self._in_form(self.inside[node.inputs[0]], rw, after.extents[2:])
        return (plain,)

    def _made(self, node: Node, rw: Rewriting) -> str | None:
        if len([o for o in node.outputs if o]) != 1 or not all(rw.type(n).is_static for n in node.inputs if n):
            return None
        rules: dict[str, Callable[[Node, Rewriting], str | None]] = {
            "Conv": self._convolution, "Concat": self._joined, "Gather": self._gathered,
            **dict.fromkeys(POOLS, self._pool),
            **dict.fromkeys(SUMS, self._sum)}
        if node.op in rules:
            return rules[node.op](node, rw)
        operator = OPERATORS.get(node.op)
        return self._elementwise(node, rw) if operator is not None and operator.element is not None else None

    def _back(self, made: str, rw: Rewriting, plain: Sequence[int]) -> str:
        """The plain form of a value in blocks: a transposition of each block, behind a view that keeps it a copy.

        What a sum of products has in lanes is not stored element by element.
        """
        n, c, *space = plain
        places, b = math.prod(space), int(rw.type(made).shape[-1])
        if places > 1:
            matrices = rw.op("Reshape", made, rw.constant([n * c // b, places, b]))
            made = rw.op("Transpose", matrices, perm=(0, 2, 1))
        return rw.op("Reshape", made, rw.constant(list(plain)))

    def _as_image(self, name: str, rw: Rewriting) -> str | None:
        """A value in blocks with all its spatial dimensions, by the name of its plain form."""
        made = self.inside.get(name)
        return None if made is None else self._in_form(made, rw, rw.type(name).extents[2:])

    def _as_row(self, name: str, rw: Rewriting) -> str | None:
        """A value in blocks whose places are one row."""
        made = self.inside.get(name)
        return None if made is None else self._in_form(made, rw, [math.prod(rw.type(name).extents[2:])])

    def _in_form(self, made: str, rw: Rewriting, space: Sequence[int]) -> str:
        n, c, *own, b = rw.type(made).extents
        return made if own == list(space) else rw.op("Reshape", made, rw.constant([n, c, *space, b]))

    def _convolution(self, node: Node, rw: Rewriting) -> str | None:
        x, w = map(rw.type, node.inputs[:2])
        result, groups = rw.result(node), node.attribute("group", 1)
        if rw.value(node.inputs[1]) is None or x.dtype.bits < 32 or not x.dtype.is_float or 0 in x.extents:
            return None
        outputs = int(w.shape[0])
        if not self.width(outputs) or max(result.extents[2:]) == 1:
            return None
        view = windows(rw.inference.site(node), w.extents[2:])
        if groups == 1:
            self._enter(node.inputs[0], rw)
            return self._of_one_group(node, rw, view)
        if groups != outputs or groups != int(x.shape[1]):
            return None
        self._enter(node.inputs[0], rw)
        return self._depthwise(node, rw, view)

    def _enter(self, name: str, rw: Rewriting) -> None:
        """Copy data that a convolution reads into blocks, where their channels are a number of blocks."""
        n, c, *space = rw.type(name).extents
        b = self.width(c)
        if name in self.inside or not b:
            return
        parts = rw.op("Reshape", name, rw.constant([n, c // b, b, *space]))
        self.inside[name] = rw.op("Transpose", parts, perm=(0, 1, *range(3, len(space) + 3), 2))

    def _of_one_group(self, node: Node, rw: Rewriting, view: Windows) -> str:
        """A convolution; data that are not in blocks are read channel by channel."""
        outputs, inputs, *r = rw.type(node.inputs[1]).extents
        by_points = not view.is_padded and max(*view.size, *view.strides) == 1 and not self._is_padded(node, rw)
        data = self._as_row(node.inputs[0], rw) if by_points else self._as_image(node.inputs[0], rw)
        if data is None:
            n, c, *space = rw.type(node.inputs[0]).extents
            own = [math.prod(space)] if by_points else space
            data = rw.op("Reshape", node.inputs[0], rw.constant([n, c, *own, 1]))
        r = [1] if by_points else r
        inner, b = int(rw.type(data).shape[-1]), self.width(outputs)
        parts = rw.op("Reshape", node.inputs[1], rw.constant([outputs // b, b, inputs // inner, inner, *r]))
        weights = rw.op("Transpose", parts, perm=(0, 2, *range(4, len(r) + 4), 3, 1))
        if by_points:
            return rw.op("BlockedConv", data, weights, *_bias(node, rw, b))
        return _convolved("BlockedConv", node, rw, view, data, weights)

    def _is_padded(self, node: Node, rw: Rewriting) -> bool:
        """Whether an image of long rows is made that, behind elementwise operators, only a padded convolution reads."""
        if rw.result(node).extents[-1] < LIMITS.shortest_padded_row:
            return False
        found, padded = [node.outputs[0]], []
        for name in found:   # which grows on the way
            for user in () if name in rw.before.outputs else rw.users_before.get(name, ()):
                if user.op == "Conv" and user.inputs[0] == name and _has_padding(user):
                    padded.append(user)
                elif OPERATORS[user.op].element is None or len(user.outputs) != 1:
                    return False
                elif user.outputs[0] not in found:
                    found.append(user.outputs[0])
        return len(padded) == 1 and not set(found) & set(rw.before.outputs)

    def _depthwise(self, node: Node, rw: Rewriting, view: Windows) -> str | None:
        channels, _, *r = rw.type(node.inputs[1]).extents
        data = self._as_image(node.inputs[0], rw)
        if data is None:
            return None
        b = int(rw.type(data).shape[-1])
        parts = rw.op("Reshape", node.inputs[1], rw.constant([channels // b, b, *r]))
        weights = rw.op("Transpose", parts, perm=(0, *range(2, len(r) + 2), 1))
        return _convolved("BlockedDepthwise", node, rw, view, data, weights)

    def _pool(self, node: Node, rw: Rewriting) -> str | None:
        """A pool whose window holds one place of the last dimension."""
        data = self._as_image(node.inputs[0], rw)
        if data is None:
            return None
        view = windows(rw.inference.site(node), node.attribute("kernel_shape"))
        if node.op == "MaxPool" and rw.type(data).dtype.is_float and not node.attribute("ceil_mode", 0):
            return _largest(data, rw, view)
        before, behind = view.padding
        kept = {k: v for k, v in node.attributes if k in ("ceil_mode", "count_include_pad")}
        return rw.op(node.op, data, kernel_shape=(*view.size, 1), strides=(*view.strides, 1),
                     dilations=(*view.dilations, 1), pads=(*before, 0, *behind, 0), **kept)

    def _sum(self, node: Node, rw: Rewriting) -> str | None:
        """A sum over images, not over channels, that keeps their dimensions."""
        places = self._summed(node, rw)
        if not places or min(places) < 2 or not node.attribute("keepdims", 1):
            return None
        if places == list(range(2, rw.type(node.inputs[0]).rank)):
            return rw.op(node.op, str(self._as_row(node.inputs[0], rw)), rw.constant([2]), keepdims=1)
        return rw.op(node.op, str(self._as_image(node.inputs[0], rw)), rw.constant(places), keepdims=1)

    def _over_channels(self, node: Node, rw: Rewriting) -> str | None:
        """A sum over channels, and over images too or not; its plain form."""
        places = self._summed(node, rw)
        if 1 not in places or 0 in places or not all(rw.type(n).is_static for n in node.inputs if n):
            return None
        data = str(self._as_image(node.inputs[0], rw))
        made = rw.op(node.op, data, rw.constant([*places, rw.type(data).rank - 1]), keepdims=1)
        return rw.op("Reshape", made, rw.constant(list(rw.result(node).extents)))

    def _summed(self, node: Node, rw: Rewriting) -> list[int]:
        """The dimensions over which a value in blocks is summed up; none where they are not known."""
        axes = rw.value(node.inputs[1]) if len(node.inputs) > 1 and node.inputs[1] else None
        if node.inputs[0] not in self.inside or axes is None:
            return []
        return sorted(int(a) % rw.type(node.inputs[0]).rank for a in axes.ravel())

    def _joined(self, node: Node, rw: Rewriting) -> str | None:
        """Values in equal blocks that follow each other along the channels or along an image."""
        parts = [str(self._as_image(n, rw)) for n in node.inputs if n in self.inside]
        axis = int(node.attribute("axis")) % rw.type(node.inputs[0]).rank
        if len(parts) < len(node.inputs) or len({rw.type(part).shape[-1] for part in parts}) > 1:
            return None
        return rw.op("Concat", *parts, axis=axis)

    def _gathered(self, node: Node, rw: Rewriting) -> str | None:
        """Rows or columns of images at known places, as in an image that is enlarged."""
        data, axis = self._as_image(node.inputs[0], rw), int(node.attribute("axis", 0))
        axis %= rw.type(node.inputs[0]).rank
        if data is None or axis < 2 or rw.type(node.inputs[1]).rank != 1:
            return None
        return rw.op("Gather", data, node.inputs[1], axis=axis)

    def _elementwise(self, node: Node, rw: Rewriting) -> str | None:
        """An elementwise operator of which an operand is in blocks and all others can be, without a copy."""
        result = rw.result(node)
        known = [n for n in node.inputs if n in self.inside and rw.type(n).shape == result.shape]
        if not known:
            return None
        made = self.inside[known[0]]
        *space, b = rw.type(made).extents[2:]
        operands = [self._operand(n, rw, result.rank, space, b) if n else n for n in node.inputs]
        if any(o is None for o in operands):
            return None
        return rw.op(node.op, *map(str, operands), **dict(node.attributes))

    def _operand(self, name: str, rw: Rewriting, rank: int, space: Sequence[int], b: int) -> str | None:
        """An operand that broadcasts, in blocks; None where that takes a copy while the model runs.

        Parameters
        ----------
        rank : of the plain result.
        space, b : the spatial dimensions of the result in blocks, and the channels of a block.
        """
        own = rw.type(name)
        if own.elements == 1:
            return rw.op("Reshape", name, rw.constant([]))
        if own.rank > rank:
            return None
        n, c, *places = (1,) * (rank - own.rank) + own.extents
        is_row = len(space) < len(places)
        if is_row and max(places) > 1 and math.prod(places) != math.prod(space):
            return None
        wanted = [math.prod(places)] if is_row else places
        if name in self.inside and own.rank == rank:   # else its channels are another dimension of the result
            own_block = rw.type(self.inside[name]).shape[-1]
            return self._in_form(self.inside[name], rw, wanted) if own_block == b else None
        if c == 1:
            return rw.op("Reshape", name, rw.constant([n, 1, *wanted, 1]))
        if c % b or (max(wanted) > 1 and rw.value(name) is None):
            return None
        parts = rw.op("Reshape", name, rw.constant([n, c // b, b, *wanted]))
        return rw.op("Transpose", parts, perm=(0, 1, *range(3, len(wanted) + 3), 2))


def _has_padding(node: Node) -> bool:
    return any(node.attribute("pads", ())) or "SAME" in str(node.attribute("auto_pad", ""))


def _convolved(op: str, node: Node, rw: Rewriting, view: Windows, data: str, weights: str) -> str:
    """A convolution of padded data."""
    if view.is_padded:
        before, behind = view.padding
        data = rw.op("Pad", data, rw.constant([0, 0, *before, 0, 0, 0, *behind, 0]))
    bias = _bias(node, rw, int(rw.type(weights).shape[-1]))
    return rw.op(op, data, weights, *bias, strides=view.strides, dilations=view.dilations)


def _bias(node: Node, rw: Rewriting, block: int) -> list[str]:
    return [rw.op("Reshape", node.inputs[2], rw.constant([-1, block]))] if len(node.inputs) > 2 else []


def _largest(data: str, rw: Rewriting, view: Windows) -> str:
    """The largest elements of windows over padded data; of large windows along one dimension after the other."""
    dims = range(len(view.size))
    parts = [[d] for d in dims] if math.prod(view.size) > 2 * sum(view.size) else [list(dims)]
    least = rw.constant(np.array(-np.inf, rw.type(data).numpy))

    def of(values: Sequence[int], part: Sequence[int], other: int) -> tuple[int, ...]:
        return (*(int(values[d]) if d in part else other for d in dims), other)
    for part in parts:
        before, behind = (of(side, part, 0) for side in view.padding)
        if any((*before, *behind)):
            data = rw.op("Pad", data, rw.constant([0, 0, *before, 0, 0, *behind]), least)
        data = rw.op("MaxPool", data, kernel_shape=of(view.size, part, 1), strides=of(view.strides, part, 1),
                     dilations=of(view.dilations, part, 1))
    return data
