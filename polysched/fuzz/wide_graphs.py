"""More that random graphs have: quantised products, scatters, pads, sorting, normalisations, recurrent cells, control
flow that depends on data, and open sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.fuzz.graph_drawing import PLAIN, SIZED, SMOOTH, Drawing, counts, moves
from polysched.graph.evaluation.inference import infer
from polysched.graph.values.graph import Attribute, Graph, Node
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, FLOAT32, INT8, INT32, UINT8


def _floats(own: TensorType) -> bool:
    return counts(own) and own.dtype.is_float and 0 < int(own.elements) <= SIZED // 4


class Wide(Drawing):
    """Ways to add operators, by name in `wide`."""

    @property
    def wide(self) -> tuple[Callable[[], None], ...]:
        """All of them."""
        return (self.quantise, self.whole_product, self.scatter, self.pad, self.first, self.repeat, self.normalise,
                self.branch_on_data, self.loop_on_data, self.scan, self.parts, self.elements, self.recurrence,
                self.resize, self.round_in_rounds)

    @property
    def rng(self) -> np.random.Generator:
        """For arrays."""
        return np.random.default_rng(self.draw.getrandbits(30))

    def quantise(self) -> None:
        """Bytes, and numbers again."""
        x = self.any(lambda t: t.dtype == FLOAT32)
        if x is not None:
            dtype = self.draw.choice((INT8, UINT8))
            how = (self.constant(0.0625, FLOAT32), self.constant(3, dtype))
            before = len(self.nodes)
            self.add("QuantizeLinear", x, *how)
            if len(self.nodes) > before:
                self.add("DequantizeLinear", self.nodes[-1].outputs[0], *how)

    def whole_product(self) -> None:
        """A product of bytes."""
        x = self.any(lambda t: t.dtype in (INT8, UINT8) and t.rank > 1)
        if x is not None:
            own, to = self.inference.types[x], self.draw.choice((INT8, UINT8))
            factors = self.constant(self.rng.integers(0, 200, (own.extents[-1], 5)).astype(to.name), to)
            self.add("MatMulInteger", x, factors, self.constant(2, own.dtype), self.constant(1, to))

    def scatter(self) -> None:
        """Some elements in place of others, or added to them."""
        x = self.any(lambda t: counts(t) and 0 < t.rank and int(t.elements) > 0)
        if x is None:
            return
        own = self.inference.types[x]
        axis = self.draw.randrange(own.rank)
        shape = [self.draw.randint(1, e) for e in own.extents]
        places = np.argsort(self.rng.random([own.extents[axis] if d == axis else e for d, e in enumerate(shape)]), axis)
        index = np.take(places, range(shape[axis]), axis) - self.draw.choice((0, own.extents[axis]))
        updates = self.constant(self.rng.integers(-3, 4, shape), own.dtype)
        self.add("ScatterElements", x, self.constant(index), updates, axis=axis,
                 reduction=self.draw.choice(("none", "add", "max", "min")))

    def pad(self) -> None:
        """More around, or less."""
        x = self.any(lambda t: moves(t) and 0 < t.rank and min(t.extents) > 2)
        if x is not None:
            mode = self.draw.choice(("constant", "edge", "reflect", "wrap"))
            widths = [self.draw.randint(-1, 2) for _ in range(2 * self.inference.types[x].rank)]
            self.add("Pad", x, self.constant(widths), mode=mode)

    def first(self) -> None:
        """The largest or smallest elements and where they were; equal ones are common."""
        x = self.any(lambda t: counts(t) and t.rank > 0 and min(t.extents) > 0)
        if x is not None:
            axis = self.draw.randrange(self.inference.types[x].rank)
            count = self.draw.randint(1, self.inference.types[x].extents[axis])
            self.add("TopK", x, self.constant([count]), results=2, axis=axis, largest=self.draw.randint(0, 1))

    def repeat(self) -> None:
        """Copies side by side, or along a new dimension."""
        x = self.any(lambda t: moves(t) and 0 < t.rank < 4)
        if x is None:
            return
        own = self.inference.types[x]
        if self.draw.random() < 0.5:
            self.add("Tile", x, self.constant([self.draw.randint(1, 2) for _ in range(own.rank)]))
        else:
            self.add("Expand", x, self.constant([2, *(1 for _ in range(own.rank))]))

    def normalise(self) -> None:
        """Numbers of one mean and one variance."""
        x = self.any(lambda t: _floats(t) and t.rank > 2)
        if x is None:
            return
        own = self.inference.types[x]
        scale, bias, mean, variance = (self.constant(self.rng.uniform(0.5, 1.5, own.extents[1]), own.dtype)
                                       for _ in range(4))
        way = self.draw.randrange(5)
        if way == 0:
            self.add("BatchNormalization", x, scale, bias, mean, variance)
        elif way == 1:
            self.add("InstanceNormalization", x, scale, bias, epsilon=0.1)
        elif way == 2:
            groups = self.draw.choice([g for g in range(1, own.extents[1] + 1) if own.extents[1] % g == 0])
            self.add("GroupNormalization", x, scale, bias, num_groups=groups, epsilon=0.1)
        elif way == 3:
            axes = tuple(self.draw.sample(range(own.rank), self.draw.randint(1, own.rank)))
            self.add("MeanVarianceNormalization", x, axes=axes)
        else:
            axis = self.draw.randrange(own.rank)
            weights = [self.constant(self.rng.uniform(0.5, 1.5, own.extents[axis:]), own.dtype) for _ in range(2)]
            self.add("LayerNormalization", x, *weights, axis=axis - self.draw.choice((0, own.rank)), epsilon=0.1,
                     results=self.draw.choice((1, 3)))

    def recurrence(self) -> None:
        """A recurrent cell over a few steps, or over an open number of them."""
        x = self.any(lambda t: _floats(t) and t.rank == 3)
        if x is None:
            return
        own, hidden = self.inference.types[x], self.draw.randint(1, 3)
        op = self.draw.choice(("RNN", "GRU", "LSTM"))
        direction = self.draw.choice(("forward", "reverse", "bidirectional"))
        first, gates, both = self.draw.randint(0, 1), {"RNN": 1, "GRU": 3, "LSTM": 4}[op], direction == "bidirectional"
        weights = [self.constant(self.rng.normal(size=(1 + both, *shape)) / 4, own.dtype) for shape in (
            (gates * hidden, own.extents[2]), (gates * hidden, hidden), (2 * gates * hidden,))]
        steps, batch = own.extents[first], own.extents[1 - first]
        lengths = self.constant(self.rng.integers(0, steps + 1, batch), INT32) if self.draw.random() < 0.3 else ""
        self.add(op, x, *weights, *([lengths] if lengths else []), direction=direction, layout=first,
                 hidden_size=hidden, results=3 if op == "LSTM" else 2)

    def resize(self) -> None:
        """Elements between others."""
        x = self.any(lambda t: _floats(t) and t.rank > 0)
        if x is None:
            return
        axis = self.draw.randrange(self.inference.types[x].rank)
        mode, place = self.draw.choice(("nearest", "linear", "cubic")), self.draw.choice(("half_pixel", "asymmetric"))
        scale = self.constant([self.draw.choice((0.5, 1.5, 2.0))], FLOAT32)
        self.add("Resize", x, "", scale, axes=(axis,), mode=mode, coordinate_transformation_mode=place,
                 nearest_mode=self.draw.choice(("floor", "round_prefer_ceil")))

    def round_in_rounds(self) -> None:
        """A loop in a loop, whose inner rounds end by data, and a branch behind it."""
        x = self.any(_floats)
        if x is None:
            return
        number, own = len(self.nodes), self.inference.types[x]
        below = self.constant(self.draw.choice((-10.0, 0.7, 10.0)), own.dtype)
        inner, outer, twice = self.constant(self.draw.randint(1, 3)), self.constant(2), self.constant(True, BOOL)
        nodes, names = self.chain(f"in{number}", f"inner{number}")
        top, on = f"top{number}", f"on{number}"
        nodes += [Node.of("ReduceMax", (names[-1],), (top,), {"keepdims": 0}), Node.of("Less", (top, below), (on,))]
        body = Graph(name="inner", inputs=(), parameters=(f"j{number}", f"go{number}", f"in{number}"),
                     nodes=tuple(nodes), outputs=(on, names[-1]))
        made, kept = f"made{number}", f"kept{number}"
        again = Node(op="Loop", inputs=(inner, twice, f"out{number}"), outputs=(made,), regions=(body,))
        sides = []
        for side in ("yes", "no"):
            own_nodes, values = self.chain(made, f"{side}{number}")
            sides.append(Graph(name=side, inputs=(), nodes=tuple(own_nodes), outputs=(values[-1],)))
        rest = [Node.of("ReduceMin", (made,), (f"least{number}",), {"keepdims": 0}),
                Node.of("Less", (f"least{number}", below), (f"is{number}",)),
                Node(op="If", inputs=(f"is{number}",), outputs=(kept,), regions=tuple(sides)),
                Node.of("Identity", (f"goes{number}",), (f"on_and_on{number}",))]
        whole = Graph(name="outer", inputs=(), parameters=(f"i{number}", f"goes{number}", f"out{number}"),
                      nodes=(again, *rest), outputs=(f"on_and_on{number}", kept))
        self.region(Node(op="Loop", inputs=(outer, twice, x), outputs=(f"v{number}_0",), regions=(whole,)), [x])

    def condition(self, x: str) -> str | None:
        """Whether the largest element of a value is above a number."""
        own, before = self.inference.types[x], len(self.nodes)
        self.add("ReduceMax", x, keepdims=0)
        if len(self.nodes) > before:
            self.add("Greater", self.nodes[-1].outputs[0], self.constant(self.draw.choice((-5, 0.3, 0.9)), own.dtype))
        return self.nodes[-1].outputs[0] if len(self.nodes) == before + 2 else None

    def chain(self, x: str, stem: str) -> tuple[list[Node], list[str]]:
        """Some operators, one behind the other, and the names of all values."""
        ops = [self.draw.choice((*SMOOTH, *PLAIN)) for _ in range(self.draw.randint(0, 3))]
        names = [x, *(f"{stem}_{k}" for k in range(len(ops)))]
        return [Node.of(op, (names[k],), (names[k + 1],)) for k, op in enumerate(ops)], names

    def branch_on_data(self) -> None:
        """Two results of either side; a side may have a branch in it."""
        x = self.any(_floats)
        condition = self.condition(x) if x is not None else None
        if x is None or condition is None:
            return
        number, sides = len(self.nodes), []
        for side in ("yes", "no"):
            nodes, names = self.chain(x, f"{side}{number}")
            if self.draw.random() < 0.3:
                inner = []
                for part in ("in", "out"):
                    own, values = self.chain(names[-1], f"{part}{side}{number}")
                    inner.append(Graph(name=part, inputs=(), nodes=tuple(own), outputs=(values[-1],)))
                names.append(f"{side}{number}_nested")
                nodes.append(Node(op="If", inputs=(condition,), outputs=(names[-1],), regions=tuple(inner)))
            sides.append(Graph(name=side, inputs=(), nodes=tuple(nodes), outputs=(names[-1], self.draw.choice(names))))
        self.region(Node(op="If", inputs=(condition,), outputs=(f"v{number}_0", f"v{number}_1"), regions=tuple(sides)),
                    [x, x])

    def loop_on_data(self) -> None:
        """A loop that ends by what it computes, or after a number of rounds that is data."""
        x = self.any(_floats)
        if x is None:
            return
        number, own = len(self.nodes), self.inference.types[x]
        limit, condition = self.constant(self.draw.randint(1, 5)), self.constant(True, BOOL)
        if self.draw.random() < 0.5:
            before = len(self.nodes)
            self.add("Reshape", x, self.constant([-1]))
            self.add("ArgMax", self.nodes[-1].outputs[0], axis=0, keepdims=0)
            self.add("Min", self.nodes[-1].outputs[0], self.constant(4))
            if len(self.nodes) == before + 3:
                limit, number = self.nodes[-1].outputs[0], len(self.nodes)
        step, goes, value, total = (f"{stem}{number}" for stem in ("step", "goes", "value", "total"))
        nodes, names = self.chain(value, f"made{number}")
        below = self.constant(self.draw.choice((-10.0, 0.7, 10.0)), own.dtype)
        nodes += [Node.of("Add", (total, names[-1]), (f"sum{number}",)),
                  Node.of("ReduceMax", (names[-1],), (f"top{number}",), {"keepdims": 0}),
                  Node.of("Less", (f"top{number}", below), (f"on{number}",))]
        body = Graph(name="body", inputs=(), parameters=(step, goes, value, total), nodes=tuple(nodes),
                     outputs=(f"on{number}", names[-1], f"sum{number}"))
        self.region(Node(op="Loop", inputs=(limit, condition, x, x), outputs=(f"v{number}_0", f"v{number}_1"),
                         regions=(body,)), [x, x])

    def scan(self) -> None:
        """A running sum over rows, and what is made of each; rows come and go in either direction."""
        x = self.any(lambda t: _floats(t) and t.rank > 1)
        if x is None:
            return
        number, own = len(self.nodes), self.inference.types[x]
        row = own.with_shape(own.shape[1:])
        start = self.constant(np.zeros(row.extents), own.dtype)
        total, given = f"total{number}", f"row{number}"
        nodes, names = self.chain(given, f"made{number}")
        nodes.append(Node.of("Add", (total, names[-1]), (f"sum{number}",)))
        body = Graph(name="body", inputs=(), parameters=(total, given), nodes=tuple(nodes),
                     outputs=(f"sum{number}", names[-1]))
        how: dict[str, Attribute] = {
            "num_scan_inputs": 1, "scan_input_directions": (self.draw.randint(0, 1),),
            "scan_output_directions": (self.draw.randint(0, 1),)}
        node = replace(Node.of("Scan", (start, x), (f"v{number}_0", f"v{number}_1"), how), regions=(body,))
        self.inference.types |= {node.outputs[0]: row, node.outputs[1]: own}
        self.nodes.append(node)

    def parts(self) -> None:
        """Equal parts along a dimension."""
        x = self.any(lambda t: moves(t) and t.rank > 0 and max(t.extents) > 1)
        if x is not None:
            extents = self.inference.types[x].extents
            axis = max(range(len(extents)), key=lambda d: extents[d])
            count = self.draw.randint(2, min(3, extents[axis]))
            self.add("Split", x, results=count, axis=axis, num_outputs=count)

    def elements(self) -> None:
        """Elements at places that are known."""
        x = self.any(lambda t: moves(t) and t.rank > 0 and min(t.extents) > 0)
        if x is None:
            return
        own = self.inference.types[x]
        axis = self.draw.randrange(own.rank)
        if self.draw.random() < 0.5:
            shape = [self.draw.randint(1, 4) if d == axis else e for d, e in enumerate(own.extents)]
            index = self.rng.integers(-own.extents[axis], own.extents[axis], shape)
            self.add("GatherElements", x, self.constant(index), axis=axis)
        else:
            depth = self.draw.randint(1, own.rank)
            index = np.stack([self.rng.integers(-e, e, (2, 3)) for e in own.extents[:depth]], -1)
            self.add("GatherND", x, self.constant(index))


OPEN_NAMES = ("N", "M", "K")
"""Of open sizes as they are drawn: in no order of the alphabet, and kernels know them in orders of their own."""


def opened(graph: Graph, draw: Random) -> Graph:
    """The graph with extents of its inputs open, where all types still follow: up to three symbols, often one; else
    the graph.

    A symbol stands for one extent, or for all that are equal to it; it may be any size from 1 on.
    """
    for number, name in enumerate(OPEN_NAMES):
        further = None if number and draw.random() < 0.5 else _with_open(graph, draw, name)
        if further is None:
            break
        graph = further
    return graph


def _places_to_open(graph: Graph) -> list[frozenset[tuple[int, int]]]:
    """Operand and dimension of every extent that is a number, alone and with those that are equal."""
    extents = {(k, d): extent.constant for k, (_, own) in enumerate(graph.inputs) for d, extent in enumerate(own.shape)
               if extent.is_constant}
    equal = [frozenset(place for place, own in extents.items() if own == extent) for extent in dict.fromkeys(
        extents.values())]
    return [*(frozenset([place]) for place in extents), *(places for places in equal if len(places) > 1)]


def _with_open(graph: Graph, draw: Random, name: str) -> Graph | None:
    """The graph with one more symbol; None where nothing can be open."""
    ways = _places_to_open(graph)
    for places in draw.sample(ways, len(ways)):
        shapes = [[Size.symbol(name) if (k, d) in places else extent for d, extent in enumerate(own.shape)]
                  for k, (_, own) in enumerate(graph.inputs)]
        inputs = tuple((n, own.with_shape(shape)) for (n, own), shape in zip(graph.inputs, shapes, strict=True))
        try:
            infer(graph.but(inputs=inputs))
        except UnsupportedGraphError:
            continue
        return graph.but(inputs=inputs)
    return None
