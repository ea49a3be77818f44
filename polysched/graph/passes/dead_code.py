"""Dead code: nodes, constants, results of regions, and functions that nothing uses."""

from __future__ import annotations

from dataclasses import replace

from polysched.graph.operators.control import BRANCH, CALL, IF, LOOP, REPEAT, SCAN
from polysched.graph.values.graph import Attribute, Graph, Node


def remove_dead_code(graph: Graph) -> Graph:
    """Leave out nodes and constants that no output needs, in regions, too; a function that nothing calls goes with it.

    Rewrite:  let a = Exp(x); let b = Neg(x); return b  ->  let b = Neg(x); return b
    """
    needed = set(graph.outputs)
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if needed & set(node.outputs):
            kept.append(_with_less(node, needed) if node.regions else node)
            needed |= set(kept[-1].used)
    nodes = tuple(reversed(kept))
    bound = {o for node in nodes for o in node.outputs}
    return graph.but(nodes=nodes, constants={n: a for n, a in graph.constants.items() if n in needed},
                     types={n: t for n, t in graph.types.items() if n in bound})


def _with_less(node: Node, needed: set[str]) -> Node:
    """A node with regions, whose results that nothing needs are not made any more."""
    first = _first_optional(node)
    kept = [place for place, o in enumerate(node.outputs) if place < first or o in needed]
    behind = 1 if node.op in (LOOP, REPEAT) else 0    # a loop's body says first whether it goes on
    regions = []
    for region in node.regions:
        own = [*range(min(first + behind, len(region.outputs))), *(p + behind for p in kept if p >= first)]
        regions.append(remove_dead_code(region.but(outputs=tuple(region.outputs[p] for p in own))))
    less = replace(node, outputs=tuple(node.outputs[p] for p in kept), regions=tuple(regions),
                   attributes=_attributes(node, kept, first))
    return _without_parameters(less) if node.op == CALL else less


def _first_optional(node: Node) -> int:
    """The first result that may go by itself: a value that a loop carries is needed by the next iteration."""
    if node.op in (IF, CALL, BRANCH):
        return 0
    if node.op == REPEAT:
        return int(node.attribute("carried", 0))
    if node.op == LOOP:
        return len(node.inputs) - 2
    return len(node.inputs) - int(node.attribute("num_scan_inputs", 0))


def _attributes(node: Node, kept: list[int], first: int) -> tuple[tuple[str, Attribute], ...]:
    """The attributes; of a scan, those about results that are left."""
    if node.op not in (SCAN, REPEAT):
        return node.attributes
    places = [p - first for p in kept if p >= first]
    about = ("scan_output_", "stacked_")
    return tuple((name, tuple(value[p] for p in places) if isinstance(value, tuple) and name.startswith(about)
                  else value) for name, value in node.attributes)


def _without_parameters(node: Node) -> Node:
    """A call without operands that its function does not use."""
    region = node.regions[0]
    used = {name for inner in region.nodes for name in inner.used} | set(region.outputs)
    kept = [place for place, name in enumerate(region.parameters) if name in used]
    region = region.but(parameters=tuple(region.parameters[p] for p in kept))
    return replace(node, inputs=tuple(node.inputs[p] for p in kept), regions=(region,))
