"""ONNX's `Gradient`: derivatives of a value by others, as nodes of a graph, in reverse order of its computation.

Source: the ONNX operator Gradient of `ai.onnx.preview.training`, version 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.graph.evaluation.inference import at_node
from polysched.graph.evaluation.typed_builder import TypedBuilder
from polysched.graph.operators.families.training import GRADIENT
from polysched.graph.operators.registry import operator_of
from polysched.graph.passes.dead_code import remove_dead_code
from polysched.graph.passes.differentiation.derivatives import Back, Gradients
from polysched.graph.passes.differentiation.rules import RULES
from polysched.graph.passes.names import fresh_names
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.refusals import Part, refused


def differentiated(graph: Graph) -> Graph:
    """The graph with derivatives as nodes in place of every `Gradient`.

    Rewrite:  let y = Mul(x, x); let d = Gradient(x; xs=["x"], y="y")
    ->  let p = Mul(one, x); let q = Mul(one, x); let d = Add(p, q)

    The derivative of a value of several elements is that of their sum.  Where a `Gradient` is given other values than
    those that it names, what lies between is computed for these.

    Raises
    ------
    UnsupportedGraphError : an operator has no derivative here, or a type follows from data.
    """
    if not any(node.op == GRADIENT for node in graph.nodes):
        return graph
    made = _Differentiating(graph)
    for node in graph.nodes:
        made.take(node)
    return remove_dead_code(graph.but(nodes=tuple(made.nodes), constants=made.constants, types={}))


class _Differentiating(TypedBuilder):
    """Takes nodes one by one, and knows those so far."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, fresh_names(graph))

    def take(self, node: Node) -> None:
        """One node: kept, or derivatives in its place."""
        if node.op != GRADIENT:
            self.emit(node)
            return
        with at_node(node):
            self.gradient(node)

    def gradient(self, node: Node) -> None:
        """The derivatives that a node asks for."""
        by, others = node.attribute("xs", ()), node.attribute("zs", ())
        if len(node.inputs) != len(by) + len(others) or len(node.outputs) > len(by):
            raise refused(node, "a value for each of xs and zs, and at most a result for each of xs, are wanted",
                          ("xs", "zs"))
        values = dict(zip((*by, *others), node.inputs, strict=True))
        tape, result = self.recorded(node, values)
        gradients = self.backwards(tape, result, [values[name] for name in by], node)
        for output, name in zip(node.outputs, gradients, strict=False):
            if output:
                self.emit(Node.of("Identity", (name,), (output,), name=node.name))

    def recorded(self, node: Node, values: dict[str, str]) -> tuple[list[Node], str]:
        """The nodes that make the value from values in place of those that are named, and their result."""
        wanted = str(node.attribute("y", ""))
        if wanted not in self.inference.types:
            raise refused(node, f"the value {wanted[:80]!r} is not bound before its gradient is asked for", "y",
                          hint="name a value that is bound ahead of the node")
        tape: list[Node] = []
        changed = {name: other for name, other in values.items() if name != other}
        for each in self.between(set(values), wanted):
            if set(changed) & set(each.used):
                outputs = tuple(self.fresh("again") if o else "" for o in each.outputs)
                changed |= dict(zip(each.outputs, outputs, strict=True))
                each = Node(op=each.op, inputs=tuple(changed.get(i, i) for i in each.inputs), outputs=outputs,
                            attributes=each.attributes, name=each.name)
                self.emit(each)
            self.record(each, tape, changed)
        return tape, changed.get(wanted, wanted)

    def between(self, first: set[str], last: str) -> list[Node]:
        """The nodes on the way from some values to another one, in their order."""
        needed, behind = {last}, []
        for node in reversed(self.nodes):
            if needed & (set(node.outputs) - first - {""}):
                behind.append(node)
                needed |= set(node.used)
        reached, found = set(first), []
        for node in reversed(behind):
            if reached & set(node.used):
                if node.regions:
                    raise refused(node, "the derivative of control flow is not had", Part.WHOLE,
                                  hint="unroll it: fix its condition or its number of iterations by values=")
                found.append(node)
                reached |= set(node.outputs) - {""}
        return found

    def record(self, node: Node, tape: list[Node], names: dict[str, str]) -> None:
        """Add a node that has a rule to the tape, or those of its composition, whose results take its place."""
        composition = operator_of(node).composition
        if node.op in RULES or composition is None:
            tape.append(node)
            return
        before = len(self.nodes)
        made = composition(self.inference.site(node), self, *node.inputs)
        results = (made,) if isinstance(made, str) else made
        for each in self.nodes[before:]:
            self.record(each, tape, names)
        for output, result in zip(node.outputs, results, strict=False):
            if output:
                tape.append(Node.of("Identity", (names.get(result, result),), (output,), name=node.name))

    def backwards(self, tape: Sequence[Node], result: str, by: Sequence[str], node: Node) -> list[str]:
        """The derivatives of the sum of a value's elements by some values."""
        own = self.inference.types[result]
        for name in (result, *by):
            if not self.inference.types[name].dtype.is_float or self.inference.types[name].dtype != own.dtype:
                raise refused(node, f"the gradient of {own} by {self.inference.types[name]}", "xs",
                              hint="take floating values of the element type of y: put a Cast ahead of them")
        back = Back(self, own.numpy)
        found: dict[str, str] = {result: back.spread_like(self.constant(np.ones((), own.numpy)), result)}
        reached = set(by)
        for each in tape:
            reached |= set(each.outputs) - {""} if reached & set(each.used) else set()
        for each in reversed(tape):
            self.origin = each.name
            self.step(each, back, found, reached - set(each.outputs), set(by))
        return [found[name] if name in found else back.zeros_like(name) for name in by]

    def step(self, node: Node, back: Back, found: dict[str, str], wanted: set[str], by: set[str]) -> None:
        """Add what the gradient of a node's result says about those of its operands."""
        given = [o for o in node.outputs if o in found and o not in by]
        if len(given) > 1 and node.op != "Split":
            raise refused(node, f"the derivative of several results of {node.op} is not had", Part.WHOLE,
                          hint=f"let y follow from one of the results of {node.op}")
        if not given or not wanted & set(node.inputs):
            return
        for name, gradient in zip(node.inputs, self._of_operands(node, back, found, given[0]), strict=False):
            if name in wanted and gradient is not None and self.inference.types[name].dtype.is_float:
                summed = back.summed_to(gradient, name)
                found[name] = back.op("Add", found[name], summed) if name in found else summed

    def _of_operands(self, node: Node, back: Back, found: dict[str, str], given: str) -> Gradients:
        """The gradients of a node's operands, by the rule of its operator."""
        if node.op == "Split":
            return [self._joined(node, back, found)]
        if node.op not in RULES or given != node.outputs[0]:
            raise refused(node, f"the derivative of {node.op} is not had", Part.WHOLE,
                          hint="write it with operators of polysched.graph.passes.differentiation.rules.RULES")
        return RULES[node.op](node, back, found[given])

    def _joined(self, node: Node, back: Back, found: dict[str, str]) -> str:
        """The gradient of what is split: those of the parts, zeros where a part has none."""
        parts = [found[o] if o in found else back.zeros_like(o) for o in node.outputs]
        return back.op("Concat", *parts, axis=node.attribute("axis", 0))
