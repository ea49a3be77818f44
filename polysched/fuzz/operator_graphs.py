"""Random operator graphs: elementwise operators, broadcasts, movement, reductions, products, convolutions, gathers,
pools, branches and loops; behind them what `wide_graphs` draws.

    graph = random_graph(seed)
    arrays = graph_inputs(graph, seed)

Every draw is a graph that the interpreter runs; values stay small, so that differences are faults and not roundings.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polysched.fuzz.graph_drawing import (
    COMPARED,
    EXTENTS,
    NUMBERS,
    PAIRS,
    PLAIN,
    SIZED,
    SMOOTH,
    counts,
    moves,
)
from polysched.fuzz.wide_graphs import Wide, opened
from polysched.graph.values.graph import Graph, Node
from polysched.scop.dtypes import BOOL


class _Drawing(Wide):
    """All ways of drawing."""

    def elementwise(self) -> None:
        x = self.any()
        if x is None:
            return
        own = self.inference.types[x]
        if own.dtype.is_float and self.draw.random() < 0.6:
            self.add(self.draw.choice(SMOOTH), x)
        else:
            self.add(self.draw.choice(PLAIN), x)

    def pair(self) -> None:
        x = self.any()
        if x is None:
            return
        own = self.inference.types[x]
        y = self.any(lambda t: t.dtype == own.dtype)
        if self.draw.random() < 0.5 or y is None:
            shape = [e if self.draw.random() < 0.6 else 1 for e in own.extents][self.draw.randint(0, own.rank):]
            y = self.constant(np.random.default_rng(self.draw.getrandbits(30)).integers(-3, 4, shape), own.dtype)
        op = self.draw.choice((*PAIRS, *COMPARED, "Mul"))
        if op == "Mul" and own.dtype.is_float:
            self.add("Mul", x, self.constant(0.5, own.dtype))
        else:
            self.add("Add" if op == "Mul" else op, x, y)

    def select(self) -> None:
        c = self.any(lambda t: t.dtype == BOOL)
        x = self.any()
        if c is not None and x is not None:
            self.add("Where", c, x, self.constant(1, self.inference.types[x].dtype))

    def convert(self) -> None:
        x = self.any(moves)
        if x is not None:
            own = self.inference.types[x].dtype
            to = self.draw.choice([d for d in NUMBERS if d.is_float or own.is_integer])
            self.add("Cast", x, to=to.name)

    def reshape(self) -> None:
        x = self.any(moves)
        if x is None:
            return
        own = self.inference.types[x]
        way = self.draw.randrange(4)
        if way == 0:
            self.add("Reshape", x, self.constant([-1, own.extents[-1]] if own.rank else [-1]))
        elif way == 1:
            self.add("Transpose", x, perm=tuple(self.draw.sample(range(own.rank), own.rank)))
        elif way == 2:
            self.add("Unsqueeze", x, self.constant([self.draw.randint(0, own.rank)]))
        else:
            self.add("Flatten", x, axis=self.draw.randint(0, own.rank))

    def cut(self) -> None:
        x = self.any(lambda t: moves(t) and t.rank > 0)
        if x is None:
            return
        own = self.inference.types[x]
        axis = self.draw.randrange(own.rank)
        extent = own.extents[axis]
        way = self.draw.randrange(4)
        if way == 0:
            step = self.draw.choice((1, 2, -1))
            start, end = (self.draw.randint(0, extent), extent) if step > 0 else (extent, -extent - 1)
            self.add("Slice", x, *(self.constant([v]) for v in (start, end, axis, step)))
        elif way == 1:
            self.add("Concat", x, x, axis=axis)
        elif way == 2 and extent > 1:
            first = self.draw.randint(1, extent - 1)
            self.add("Split", x, self.constant([first, extent - first]), results=2, axis=axis)
        elif extent:
            index = [self.draw.randrange(-extent, extent) for _ in range(self.draw.randint(1, 4))]
            self.add("Gather", x, self.constant(index), axis=axis)

    def reduce(self) -> None:
        x = self.any(lambda t: counts(t) and t.rank > 0)
        if x is None:
            return
        own = self.inference.types[x]
        axes = self.draw.sample(range(own.rank), self.draw.randint(1, own.rank))
        op = self.draw.choice(("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "Softmax", "ArgMax", "CumSum"))
        if op in ("Softmax", "ArgMax"):
            self.add(op, x, axis=axes[0])
        elif op == "CumSum":
            self.add(op, x, self.constant(axes[0]))
        elif op != "ReduceMean" or own.dtype.is_float:
            self.add(op, x, self.constant(axes), keepdims=self.draw.randint(0, 1))

    def product(self) -> None:
        x = self.any(lambda t: counts(t) and t.rank > 1)
        if x is None:
            return
        own = self.inference.types[x]
        rng = np.random.default_rng(self.draw.getrandbits(30))
        if own.rank in (3, 4) and own.dtype.is_float and self.draw.random() < 0.5:
            window = [min(self.draw.randint(1, 3), e) for e in own.extents[2:]]
            weights = rng.normal(size=(2, own.extents[1], *window)) / 4
            self.add("Conv", x, self.constant(weights, own.dtype), pads=(1,) * 2 * len(window))
        else:
            factors = rng.integers(-1, 2, (own.extents[-1], self.draw.choice(EXTENTS)))
            self.add("MatMul", x, self.constant(factors, own.dtype))

    def pool(self) -> None:
        x = self.any(lambda t: counts(t) and t.rank in (3, 4) and t.dtype.is_float)
        if x is None:
            return
        space = self.inference.types[x].extents[2:]
        window = tuple(min(self.draw.randint(1, 3), e) for e in space)
        strides = tuple(self.draw.randint(1, 2) for _ in space)
        self.add(self.draw.choice(("MaxPool", "AveragePool")), x, kernel_shape=window, strides=strides,
                 ceil_mode=self.draw.randint(0, 1))

    def gather(self) -> None:
        """Elements at places that are data: where another value is largest."""
        x = self.any(lambda t: counts(t) and t.rank > 0)
        y = self.any(lambda t: counts(t) and t.rank > 0 and t.dtype.is_float)
        if x is None or y is None:
            return
        own, other = self.inference.types[x], self.inference.types[y]
        fitting = [(a, b) for a in range(own.rank) for b in range(other.rank)
                   if 0 < other.extents[b] <= own.extents[a]]
        if fitting:
            axis, along = self.draw.choice(fitting)
            before = len(self.nodes)
            self.add("ArgMax", y, axis=along, keepdims=0)
            if len(self.nodes) > before:
                self.add("Gather", x, self.nodes[-1].outputs[0], axis=axis)

    def branch(self) -> None:
        """A condition that is known; one side computes, the other may return what stands around it."""
        x = self.any(lambda t: counts(t) and t.dtype.is_float)
        if x is None:
            return
        number = len(self.nodes)
        sides = []
        for side in ("yes", "no"):
            ops = [self.draw.choice((*SMOOTH, *PLAIN)) for _ in range(self.draw.randint(0, 2))]
            names = [x, *(f"{side}{number}_{k}" for k in range(len(ops)))]
            nodes = tuple(Node.of(op, (names[k],), (names[k + 1],)) for k, op in enumerate(ops))
            sides.append(Graph(name=side, inputs=(), nodes=nodes, outputs=(names[-1],)))
        condition = self.constant(self.draw.random() < 0.5, BOOL)
        self.region(Node(op="If", inputs=(condition,), outputs=(f"v{number}_0",), regions=tuple(sides)), [x])

    def loop(self) -> None:
        """A few rounds over a value; every round's value is kept, too."""
        x = self.any(lambda t: counts(t) and t.dtype.is_float and 0 < int(t.elements) <= SIZED // 4)
        if x is None:
            return
        number = len(self.nodes)
        rounds = self.draw.randint(1, 3)
        names = [f"{stem}{number}" for stem in ("step", "goes", "carried", "made", "on")]
        step, goes, carried, made, on = names
        op = self.draw.choice(SMOOTH)
        body = Graph(name="body", inputs=(), parameters=(step, goes, carried), outputs=(on, made, made), nodes=(
            Node.of(op, (carried,), (made,)), Node.of("Identity", (goes,), (on,))))
        own = self.inference.types[x]
        stacked = own.with_shape((rounds, *own.shape))
        node = Node(op="Loop", inputs=(self.constant(rounds), self.constant(True, BOOL), x), regions=(body,),
                    outputs=(f"v{number}_0", f"v{number}_1"))
        self.inference.types |= {node.outputs[0]: own, node.outputs[1]: stacked}
        self.nodes.append(node)


OPEN = 0.3
"""The share of graphs that have open sizes, where some fit."""


def random_graph(seed: int, *, nodes: int = 8, open_sizes: bool = False) -> Graph:
    """A graph that is the same for the same seed.

    Parameters
    ----------
    nodes : how many operators are drawn; those that do not fit are left out.
    open_sizes : some graphs have extents of inputs open; they are else those that they are without.
    """
    drawn = _Drawing(seed)
    ways = (drawn.elementwise, drawn.elementwise, drawn.pair, drawn.pair, drawn.select, drawn.convert, drawn.reshape,
            drawn.reshape, drawn.cut, drawn.cut, drawn.reduce, drawn.reduce, drawn.product, drawn.product, drawn.pool,
            drawn.gather, drawn.branch, drawn.loop, *drawn.wide)
    for _ in range(nodes):
        drawn.draw.choice(ways)()
    read = {i for node in drawn.nodes for i in node.used}
    made = [o for node in drawn.nodes for o in node.outputs]
    outputs = [o for o in made if o not in read] or [drawn.inputs[0][0]]
    extra = [o for o in made if o in read and drawn.draw.random() < 0.2]
    graph = Graph(name=f"random_{seed}", inputs=tuple(drawn.inputs), nodes=tuple(drawn.nodes),
                  outputs=(*outputs, *extra), constants=drawn.constants)
    return opened(graph, drawn.draw) if open_sizes and drawn.draw.random() < OPEN else graph


def graph_inputs(graph: Graph, seed: int, sizes: int | Mapping[str, int] = 3) -> dict[str, np.ndarray]:
    """Small values for a graph's inputs.

    Parameters
    ----------
    sizes : the value of every open size, or of each.
    """
    rng = np.random.default_rng(seed)
    values = dict.fromkeys(graph.symbols, sizes) if isinstance(sizes, int) else sizes
    shapes = {name: own.bound(values).extents for name, own in graph.inputs}
    drawn = {name: rng.uniform(-2, 2, shapes[name]) if t.dtype.is_float else rng.integers(-4, 5, shapes[name])
             for name, t in graph.inputs}
    return {name: drawn[name].astype(t.numpy) for name, t in graph.inputs}
