"""Rules that replace single nodes, with types and known values at hand; the frame of most passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.typed_builder import TypedBuilder
from polysched.graph.limits import LIMITS
from polysched.graph.passes.control import renamed
from polysched.graph.passes.dead_code import remove_dead_code
from polysched.graph.passes.names import fresh_names
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.types import TensorType

Rule: TypeAlias = "Callable[[Node, Rewriting], Sequence[str] | None]"


class Rewriting(TypedBuilder):
    """A graph on its way from before to after.

    A rule gets each node with its operands as they are called by then.  It returns the values that stand for the
    node's results, which it may make by `op` and `constant`; or None, and the node stays.

    Parameters
    ----------
    graph : the graph before.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, fresh_names(graph))
        self.before = graph
        self.producers: dict[str, Node] = {}
        self.names: dict[str, str] = {}
        self.users_before = graph.users
        self.use_count = {name: len(nodes) for name, nodes in self.users_before.items()}
        self.applied = 0

    def run(self, rules: Sequence[Rule]) -> Graph:
        """The graph after: the first rule that fits a node replaces it."""
        for node in self.before.nodes:
            self.take(renamed(node, self.names), rules, node)
        graph = self.before.but(nodes=tuple(self.nodes), constants=self.constants, types={})
        return remove_dead_code(with_outputs(graph, self.names))

    def take(self, node: Node, rules: Sequence[Rule], original: Node) -> None:
        """One node: replaced or kept."""
        self.origin = original.name or next(filter(None, original.outputs), "")
        if not node.regions:
            self.inference.site(node)   # refuses what is malformed: rules trust operands and attributes
        for rule in rules:
            results = rule(node, self)
            if results is not None:
                self.applied += 1
                self.names |= {o: r for o, r in zip(original.outputs, results, strict=False) if o and o != r}
                return
        self.emit(node)

    def emit(self, node: Node) -> None:
        """A node of the graph after."""
        super().emit(node)
        self.producers |= {o: node for o in node.outputs if o}

    def type(self, name: str) -> TensorType:
        """The type of a value so far."""
        if name not in self.inference.types:
            raise UnsupportedGraphError(f"the value {name!r} is used before it is bound",
                                        hint="bind it ahead of its use")
        return self.inference.types[name]

    def result(self, node: Node) -> TensorType:
        """The type that the first result of a node has, which is not emitted."""
        return self.inference.site(node).output

    def value(self, name: str) -> np.ndarray | None:
        """What is known of a value, without symbols."""
        known = self.inference.known.get(name) if name else None
        return None if known is None or known.dtype == object else known

    def producer(self, name: str, *ops: str) -> Node | None:
        """The node that makes a value, where it is one of some operators."""
        node = self.producers.get(name)
        return node if node is not None and node.op in ops else None

    def is_shared(self, name: str) -> bool:
        """Whether a value of the graph before has several users, or is an output."""
        return self.use_count.get(name, 0) > 1 or name in self.before.outputs


def rewritten(graph: Graph, *rules: Rule) -> Graph:
    """The graph with every node replaced that a rule fits, in one go from the front; then without dead code."""
    return Rewriting(graph).run(rules)


def until_nothing_fits(graph: Graph, *rules: Rule) -> Graph:
    """The graph rewritten again and again until no rule fits.

    Raises
    ------
    UnsupportedGraphError : the rules do not come to an end.
    """
    for _ in range(LIMITS.most_rewritings):
        rewriting = Rewriting(graph)
        graph = rewriting.run(rules)
        if not rewriting.applied:
            return graph
    raise UnsupportedGraphError("the rules of a pass do not come to an end", where=f"graph {graph.name}",
                                hint=Remedy.FAULT.value)


def with_outputs(graph: Graph, names: Mapping[str, str]) -> Graph:
    """The graph whose outputs, of which some are called otherwise by now, have their names again."""
    bound = {o for node in graph.nodes for o in node.outputs}
    back: dict[str, str] = {}
    extra: list[Node] = []
    for output in dict.fromkeys(graph.outputs):
        own = names.get(output, output)
        if own == output:
            continue
        if own in bound and own not in graph.outputs and own not in back:
            back[own] = output
        else:
            extra.append(Node.of("Identity", (back.get(own, own),), (output,)))
    nodes = tuple(renamed(node, back) for node in graph.nodes) + tuple(extra)
    return graph.but(nodes=nodes)
