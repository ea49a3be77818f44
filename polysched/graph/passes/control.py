"""Control flow that is known while compiling: branches are chosen, loops are unrolled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.typed_builder import TypedBuilder
from polysched.graph.limits import LIMITS
from polysched.graph.operators.control import CALL, IF, LOOP, SCAN, check_regions
from polysched.graph.passes.names import fresh_names
from polysched.graph.values.graph import Graph, Node


def resolve_control(graph: Graph) -> Graph:
    """Put the nodes of regions in place of the nodes that have them.

    Rewrite:  const c = true; let y = If(c) { yes: let a = Exp(x); return a ... }  ->  let y = Exp(x)

    Raises
    ------
    UnsupportedGraphError : a condition or a number of iterations depends on data, or a loop is too long to unroll.
    """
    return graph if not any(n.regions for n in graph.nodes) else Resolving(graph).run()


class Resolving(TypedBuilder):
    """Takes nodes one by one, and knows the values so far."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, fresh_names(graph))
        self.graph = graph
        self.entered = 0

    def run(self) -> Graph:
        """The graph without regions."""
        for node in self.graph.nodes:
            self.take(node)
        return self.graph.but(nodes=tuple(self.nodes), constants=self.constants, types={})

    def take(self, node: Node) -> None:
        """One node: kept, or its regions in its place."""
        if not node.regions:
            self.emit(node)
            return
        check_regions(node)
        resolve = {IF: self.branch, LOOP: self.loop, SCAN: self.scan, CALL: self.call}[node.op]
        for name, result in zip(node.outputs, resolve(node), strict=False):
            if name:
                self.take(Node.of("Identity", (result,), (name,), name=node.name))

    def value(self, name: str) -> np.ndarray | None:
        """What is known of a value."""
        return self.inference.known.get(name) if name else None

    def region(self, region: Graph, given: Sequence[str], where: str) -> list[str]:
        """The results of a region for some values: its nodes under fresh names."""
        self.entered += 1
        if self.entered + len(self.nodes) > LIMITS.most_nodes:
            raise UnsupportedGraphError("the loops are too long to unroll", where=where,
                                        hint=f"at most {LIMITS.most_nodes} nodes and iterations")
        names = dict(zip(region.parameters, given, strict=True))
        for name, array in region.constants.items():
            names[name] = self.constant(array)
        for node in region.nodes:
            names |= {o: self.fresh(o) for o in node.outputs if o}
            self.take(renamed(node, names))
        return [names.get(o, o) for o in region.outputs]

    def branch(self, node: Node) -> list[str]:
        """The results of the side that a condition takes."""
        condition = self.value(node.inputs[0])
        if condition is None:
            raise UnsupportedGraphError("a condition depends on data", where=node.where, witness=node.inputs[0],
                                        hint="give the value by values= when the graph is compiled")
        yes, no = node.regions
        return self.region(yes if bool(condition.ravel()[0]) else no, (), node.where)

    def call(self, node: Node) -> list[str]:
        """The results of a function."""
        return self.region(node.regions[0], node.inputs, node.where)

    def loop(self, node: Node) -> list[str]:
        """The results of all iterations; their number, and every condition, is known."""
        limit, condition, carried = self.value(node.inputs[0]), node.inputs[1], list(node.inputs[2:])
        if node.inputs[0] and limit is None:
            raise UnsupportedGraphError("a number of iterations depends on data", where=node.where,
                                        witness=node.inputs[0])
        count = int(limit.ravel()[0]) if limit is not None else None
        condition = condition or self.constant(np.array(True))
        body, step = node.regions[0], 0
        collected: list[list[str]] = [[] for _ in range(len(body.outputs) - 1 - len(carried))]
        while count is None or step < count:
            goes_on = self.value(condition)
            if goes_on is None:
                raise UnsupportedGraphError("whether a loop goes on depends on data", where=node.where,
                                            witness=condition)
            if not bool(goes_on.ravel()[0]):
                break
            results = self.region(body, (self.constant(np.array(step, np.int64)), condition, *carried), node.where)
            condition, carried = results[0], results[1:1 + len(carried)]
            for column, result in zip(collected, results[1 + len(carried):], strict=True):
                column.append(result)
            step += 1
        return [*carried, *(self.stacked(column, 0, node) for column in collected)]

    def scan(self, node: Node) -> list[str]:
        """The results of a scan over slices of its operands."""
        count = int(node.attribute("num_scan_inputs"))
        states, scanned, body = list(node.inputs[:-count]), node.inputs[-count:], node.regions[0]
        axes = node.attribute("scan_input_axes", (0,) * count)
        backwards = node.attribute("scan_input_directions", (0,) * count)
        results_count = len(body.outputs) - len(states)
        out_axes = node.attribute("scan_output_axes", (0,) * results_count)
        out_backwards = node.attribute("scan_output_directions", (0,) * results_count)
        types = [self.inference.types[name] for name in scanned]
        steps = int(types[0].shape[axes[0] % types[0].rank])
        collected: list[list[str]] = [[] for _ in range(results_count)]
        for step in range(steps):
            places = [self.constant(np.array(steps - 1 - step if back else step, np.int64)) for back in backwards]
            slices = [self.op("Gather", name, place, axis=axis)
                      for name, place, axis in zip(scanned, places, axes, strict=True)]
            results = self.region(body, (*states, *slices), node.where)
            states = results[:len(states)]
            for column, result in zip(collected, results[len(states):], strict=True):
                column.append(result)
        return [*states, *(self.stacked(column[::-1] if back else column, axis, node)
                           for column, axis, back in zip(collected, out_axes, out_backwards, strict=True))]

    def stacked(self, values: Sequence[str], axis: int, node: Node) -> str:
        """Values of all iterations along a new axis."""
        if not values:
            raise UnsupportedGraphError("a loop without iterations stacks values of no known type", where=node.where)
        place = self.constant(np.array([axis], np.int64))
        return self.op("Concat", *(self.op("Unsqueeze", v, place) for v in values), axis=axis)


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """A node with other names; in its regions, too, where they mean values around them."""
    return replace(node, inputs=tuple(names.get(i, i) for i in node.inputs),
                   outputs=tuple(names.get(o, o) for o in node.outputs),
                   regions=tuple(_renamed_region(region, names) for region in node.regions))


def _renamed_region(region: Graph, names: Mapping[str, str]) -> Graph:
    own = region.bound
    outer = {name: new for name, new in names.items() if name not in own}
    return region.but(nodes=tuple(renamed(n, outer) for n in region.nodes),
                      outputs=tuple(outer.get(o, o) for o in region.outputs))
