"""Merge compiler regions: neighbouring nodes that one compiler takes become one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polysched.graph.operators.operator import Operator
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.calls import COMPILER, called
from polysched.graph.passes.dead_code import remove_dead_code
from polysched.graph.passes.grouping import Grouping, grouped
from polysched.graph.values.graph import Graph, Node

OURS = "polysched"


def compiled_here(node: Node) -> str:
    """The compiler that takes a node: ours, where the registry says how it is compiled; none otherwise."""
    operator = OPERATORS.get(node.op)
    return OURS if operator is not None and _has_way(operator) else ""


def _has_way(operator: Operator) -> bool:
    ways = (operator.element, operator.expression, operator.moves, operator.composition, operator.view or None)
    return any(way is not None for way in ways)


def merge_compiler_regions(graph: Graph, compiler: Callable[[Node], str] = compiled_here) -> Graph:
    """Make one function of neighbouring nodes that the same compiler takes, so that no two wait for each other.

    Rewrite:  let a = Exp(x); let b = NonZero(a); let c = Neg(a)  ->  let a, c = Call(x; compiler="polysched") { ... }

    Parameters
    ----------
    compiler : the name of a node's compiler; empty for none, and the node stays alone.
    """
    names = {id(node): compiler(node) for node in graph.nodes}

    def merge(grouping: Grouping) -> None:
        for place, sources in enumerate(grouping.sources):
            own = names[id(graph.nodes[place])]
            for source in sources if own else ():
                if names[id(graph.nodes[source])] == own:
                    grouping.merge(place, source)

    def make(nodes: Sequence[Node], results: tuple[str, ...]) -> Node:
        own = names[id(nodes[0])]
        return called(own, nodes, results, graph.constants, {COMPILER: own})
    return remove_dead_code(grouped(graph, merge, make, lambda nodes: bool(names[id(nodes[0])])))
