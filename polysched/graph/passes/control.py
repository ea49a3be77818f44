"""Control flow: branches that are known are chosen, loops unrolled; the others are decided when the model runs.

Sequences and optionals go with it: a loop may make them, a branch may ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.sequences import Structures, item_names
from polysched.graph.evaluation.typed_builder import TypedBuilder
from polysched.graph.limits import LIMITS
from polysched.graph.operators.control import CALL, CLOSED, IF, LOOP, SCAN, check_regions, rows_of
from polysched.graph.operators.families.sequences import MAP, STRUCTURED
from polysched.graph.passes.closing import Form, closed_branch, closed_loop
from polysched.graph.passes.names import fresh_names
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.refusals import Part, Remedy, refused
from polysched.graph.values.sizes import Size
from polysched.records import dataclass
from polysched.scop.dtypes import BOOL, INT64


def resolve_control(graph: Graph) -> Graph:
    """Put the nodes of regions in place of the nodes that have them; what depends on data becomes `Branch` or `Repeat`.

    Rewrite:  const c = true; let y = If(c) { yes: let a = Exp(x); return a ... }  ->  let y = Exp(x)

    Elements take the place of sequences; an output `s` that is a sequence becomes the outputs `s[0]`, `s[1]`, ...

    Raises
    ------
    UnsupportedGraphError : a side or a body is not compiled, an iteration changes a shape, how many rows a loop stacks
        or what a sequence consists of depends on data, or a loop is too long to unroll.
    """
    return graph if not has_structure(graph) else Resolving(graph).run()


def has_structure(graph: Graph) -> bool:
    """Whether it has regions, sequences or optionals."""
    return any(n.regions or n.op in STRUCTURED for n in graph.nodes)


def resolve_sequences(graph: Graph) -> Graph:
    """The graph without sequences and optionals, if it has any: its outputs are tensors.

    Raises
    ------
    UnsupportedGraphError : as `resolve_control`.
    """
    return resolve_control(graph) if any(n.op in STRUCTURED for n in graph.walk()) else graph


@dataclass(eq=False)
class Tried:
    """How many regions were entered in all, those of attempts that failed and of loops in loops included."""

    regions: int = 0


class Resolving(TypedBuilder):
    """Takes nodes one by one, and knows the values so far.

    Parameters
    ----------
    tried : what was tried around it.
    """

    def __init__(self, graph: Graph, tried: Tried | None = None) -> None:
        super().__init__(graph, fresh_names(graph))
        self.graph = graph
        self.entered = 0
        self.tried = tried or Tried()
        self.structures = Structures(self)

    def run(self) -> Graph:
        """The graph without regions and without sequences."""
        for node in self.graph.nodes:
            self.take(node)
        outputs = [element for output in self.graph.outputs for element in self.elements(output)]
        return self.graph.but(nodes=tuple(self.nodes), constants=self.constants, types={}, outputs=tuple(outputs))

    def elements(self, output: str) -> tuple[str, ...]:
        """The outputs that an output becomes: of a sequence, its elements."""
        if output not in self.structures.of:
            return (output,)
        elements = self.structures.of[output] or ()
        names = item_names(output, len(elements), self.graph)
        for name, element in zip(names, elements, strict=True):
            self.emit(Node.of("Identity", (element,), (name,)))
        return names

    def take(self, node: Node) -> None:
        """One node: kept, or its regions or elements in its place."""
        if node.op == MAP:
            self.map(node)
        elif node.op in STRUCTURED or (node.op == "Identity" and node.inputs[:1] and
                                       node.inputs[0] in self.structures.of):
            self.structures.take(node)
        elif not node.regions or node.op in CLOSED:
            self.structures.check_tensors(node)
            self.emit(node)
        else:
            self.resolve(node)

    def resolve(self, node: Node) -> None:
        """One node with regions: these in its place."""
        check_regions(node)
        resolve = {IF: self.branch, LOOP: self.loop, SCAN: self.scan, CALL: self.call}[node.op]
        for name in node.inputs:
            if name and name not in self.inference.types and name not in self.structures.of:
                raise refused(node, f"the value {name!r} is used before it is bound",
                              tuple(p for p, n in enumerate(node.inputs) if n == name),
                              hint="bind it ahead of the node: an input, a constant or an earlier node's result")
        for name, result in zip(node.outputs, resolve(node), strict=False):
            if name:
                self.take(Node.of("Identity", (result,), (name,), name=node.name))

    def map(self, node: Node) -> None:
        """The results of a body for the elements of sequences, which become sequences."""
        structures, first = self.structures, self.structures.sequence(node)
        if len(node.regions) != 1 or len(node.regions[0].parameters) != len(node.inputs) or (
                len(node.regions[0].outputs) != len(node.outputs)):
            raise refused(node, "operands, results and the body do not fit together", Part.WHOLE)
        others = {name: structures.sequence(node, p) for p, name in enumerate(node.inputs) if name in structures.of}
        if any(len(other) != len(first) for other in others.values()):
            raise refused(node, "sequences of different lengths are mapped together", Part.WHOLE,
                          hint="give sequences of one length")
        rows = [self.region(node.regions[0], [others[n][k] if n in others else n for n in node.inputs], node.where)
                for k in range(len(first))]
        for place, output in enumerate(node.outputs):
            structures.bind(node, output, tuple(row[place] for row in rows))

    def value(self, name: str) -> np.ndarray | None:
        """What is known of a value."""
        return self.inference.known.get(name) if name else None

    def region(self, region: Graph, given: Sequence[str], where: str) -> list[str]:
        """The results of a region for some values: its nodes under fresh names."""
        self.entered, self.tried.regions = self.entered + 1, self.tried.regions + 1
        if max(self.entered + len(self.nodes), self.tried.regions) > LIMITS.most_nodes:
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
        self.inference.check_single(node, node.inputs[0], BOOL, "a condition")
        condition = self.value(node.inputs[0])
        if condition is None:
            return self.closing("a condition depends on data", node,
                                lambda: closed_branch(node, self, self.resolved))
        yes, no = node.regions
        return self.region(yes if bool(condition.ravel()[0]) else no, (), node.where)

    def call(self, node: Node) -> list[str]:
        """The results of a function."""
        return self.region(node.regions[0], node.inputs, node.where)

    def closing(self, reason: str, node: Node, close: Callable[[], list[str]]) -> list[str]:
        """The results of a node that is decided when the model runs.

        Raises
        ------
        UnsupportedGraphError : it cannot be; the reason says why that is asked, and why not.
        """
        before = len(self.nodes)
        try:
            self.structures.check_tensors(node)
            return close()
        except UnsupportedGraphError as error:
            del self.nodes[before:]
            raise refused(node, f"{reason}, and it is not compiled: {error.problem}", Part.WHOLE,
                          witness=error.witness, hint=Remedy.VALUES) from None

    def resolved(self, region: Graph) -> Graph:
        """A region that runs when the model does, as `resolve_control` has it."""
        return region if not has_structure(region) else Resolving(region, self.tried).run()

    def is_long(self, count: Size | None, region: Graph) -> bool:
        """Whether a loop is rather run than unrolled."""
        return count is None or not count.is_constant or (
            count.constant * max(self.unrolled_nodes(region), 1) > LIMITS.most_unrolled_nodes)

    def unrolled_nodes(self, region: Graph) -> int:
        """The nodes of a region, those of loops in it as often as they are known to run."""
        total = len(region.nodes)
        for node in region.nodes:
            limit = "".join(node.inputs[:1]) if node.op == LOOP else ""
            known = region.constants.get(limit, self.inference.known.get(limit)) if limit else None
            often = 1 if known is None or known.dtype.kind != "i" or not known.size else max(int(known.ravel()[0]), 0)
            total += often * sum(self.unrolled_nodes(inner) for inner in node.regions)
        return total

    def run_or_unrolled(self, node: Node, form: Form, unroll: Callable[[], list[str]]) -> list[str]:
        """The results of a long loop: run, where that is possible."""
        before = len(self.nodes)
        try:
            self.structures.check_tensors(node)
            return closed_loop(node, form, self, self.resolved)
        except UnsupportedGraphError:
            del self.nodes[before:]
            return unroll()

    def loop(self, node: Node) -> list[str]:
        """The results of all iterations."""
        limit, condition, carried = node.inputs[0], node.inputs[1], node.inputs[2:]
        region = node.regions[0]
        stacked = [k for k in range(1 + len(carried), len(region.outputs)) if "".join(node.outputs[k - 1:k])]
        made = region.outputs[:1 + len(carried)] + tuple(region.outputs[k] for k in stacked)
        form = Form(limit=limit, condition=condition, carried=carried, region=region.but(outputs=made),
                    stacked_backwards=(False,) * len(stacked))
        results = self._loop(node, form)
        places = [*range(len(carried)), *(k - 1 for k in stacked)]
        named = dict(zip(places, results, strict=True))
        return [named.get(k, "") for k in range(len(node.outputs))]

    def _loop(self, node: Node, form: Form) -> list[str]:
        """The results of a form, run or unrolled."""
        def close() -> list[str]:
            return closed_loop(node, form, self, self.resolved)
        self.inference.check_single(node, form.limit, INT64, "a number of iterations")
        self.inference.check_single(node, form.condition, BOOL, "a condition")
        known = self.inference.known.get(form.limit) if form.limit else None
        if form.limit and (known is None or known.dtype == object):
            return self.closing("a number of iterations depends on data", node, close)
        if form.condition and self.value(form.condition) is None:
            return self.closing("whether a loop goes on depends on data", node, close)
        count = int(known.ravel()[0]) if known is not None else None
        if count is not None and self.is_long(Size(max(count, 0)), form.region):
            return self.run_or_unrolled(node, form, lambda: self.unrolled(node, form, count))
        before, entered = len(self.nodes), self.entered
        try:
            return self.unrolled(node, form, count)
        except _RunsRather as reason:
            del self.nodes[before:]
            self.entered = entered
            return self.closing(str(reason), node, close)

    def unrolled(self, node: Node, form: Form, count: int | None) -> list[str]:
        """The results of a loop whose number of iterations, and every condition, is known."""
        condition, carried = form.condition or self.constant(np.array(True)), list(form.carried)
        body, step = form.region, 0
        collected: list[list[str]] = [[] for _ in range(len(body.outputs) - 1 - len(carried))]
        while count is None or step < count:
            self.inference.check_single(node, condition, BOOL, "a condition")
            goes_on = self.value(condition)
            if goes_on is None:
                raise _RunsRather("whether a loop goes on depends on data")
            if not bool(goes_on.ravel()[0]):
                break
            if count is None and self.is_long(Size(step), body):
                raise _RunsRather("the loop is too long to unroll")
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
        types = [self.inference.types[self.structures.tensor(node, len(states) + k)] for k in range(count)]
        extent = rows_of(node, types)
        if self.is_long(extent, body):
            def run() -> list[str]:
                return self.scan_loop(node, scanned, axes, backwards, out_axes, out_backwards)
            if not extent.is_constant:
                return self.closing("a number of iterations is open", node, run)
            before = len(self.nodes)
            try:
                return run()
            except UnsupportedGraphError:
                del self.nodes[before:]
        steps = int(extent)
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

    def scan_loop(self, node: Node, scanned: Sequence[str], axes: Sequence[int], backwards: Sequence[int],
                  out_axes: Sequence[int], out_backwards: Sequence[int]) -> list[str]:
        """The results of a scan that runs when the model does."""
        states = node.inputs[:-len(scanned)]
        first = [self.moved(name, axis, 0) for name, axis in zip(scanned, axes, strict=True)]
        limit = self.op("Squeeze", self.op("Gather", self.op("Shape", first[0]), self.constant([0]), axis=0))
        region, names = node.regions[0], self.fresh
        index, before, behind = names("iteration"), names("condition"), names("condition")
        region = region.but(parameters=(index, before, *region.parameters), outputs=(behind, *region.outputs),
                            constants={**region.constants, behind: np.array(True)})
        form = Form(limit=limit, condition="", carried=states, region=region,
                    sliced=tuple((n, bool(b)) for n, b in zip(first, backwards, strict=True)),
                    stacked_backwards=tuple(map(bool, out_backwards)))
        results = closed_loop(node, form, self, self.resolved)
        return [*results[:len(states)], *(self.moved(r, 0, axis) for r, axis in zip(results[len(states):], out_axes,
                                                                                  strict=True))]

    def moved(self, name: str, source: int, target: int) -> str:
        """A value with one axis at another place."""
        rank = self.inference.types[name].rank
        if source % rank == target % rank:
            return name
        order = [d for d in range(rank) if d != source % rank]
        order.insert(target % rank, source % rank)
        return self.op("Transpose", name, perm=tuple(order))

    def stacked(self, values: Sequence[str], axis: int, node: Node) -> str:
        """Values of all iterations along a new axis."""
        if not values:
            raise refused(node, "a loop without iterations stacks values of no known type", Part.WHOLE,
                          hint="give a number of iterations of at least 1")
        place = self.constant(np.array([axis], np.int64))
        return self.op("Concat", *(self.op("Unsqueeze", v, place) for v in values), axis=axis)


class _RunsRather(Exception):
    """A loop cannot be unrolled, or is long: why."""


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """A node with other names; in its regions, too, where they mean values around them."""
    if not node.regions and not any(name in names for name in (*node.inputs, *node.outputs)):
        return node
    return replace(node, inputs=tuple(names.get(i, i) for i in node.inputs),
                   outputs=tuple(names.get(o, o) for o in node.outputs),
                   regions=tuple(_renamed_region(region, names) for region in node.regions))


def _renamed_region(region: Graph, names: Mapping[str, str]) -> Graph:
    own = region.bound
    outer = {name: new for name, new in names.items() if name not in own}
    return region.but(nodes=tuple(renamed(n, outer) for n in region.nodes),
                      outputs=tuple(outer.get(o, o) for o in region.outputs))
