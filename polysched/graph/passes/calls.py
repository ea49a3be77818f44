"""Functions and regions put in place: inline, defuse, and the basic-block form of branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from polysched.graph.operators.control import CALL, IF, check_regions
from polysched.graph.passes.control import renamed
from polysched.graph.passes.names import fresh_names
from polysched.graph.passes.rewriting import with_outputs
from polysched.graph.values.graph import Graph, Node

FUSED = "fused"
"""The attribute of a call that fusion made."""
COMPILER = "compiler"
"""The attribute of a call that is one compiler's: its name."""


def inline_calls(graph: Graph) -> Graph:
    """Put the nodes of every function where it is called.

    Rewrite:  let y = Call(x) { graph f(a) { let b = Exp(a); return b } }  ->  let y = Exp(x)
    """
    return _inlined(graph, lambda node: True, fresh_names(graph))


def defuse(graph: Graph) -> Graph:
    """Undo fusion: the nodes of fused kernels stand alone again; other functions stay.

    Rewrite:  let y = Call(x; fused=1) { graph f(a) { ... } }  ->  the nodes of f
    """
    return _inlined(graph, lambda node: bool(node.attribute(FUSED, 0)), fresh_names(graph))


def _inlined(graph: Graph, wanted: Callable[[Node], bool], fresh: Callable[[str], str]) -> Graph:
    constants = dict(graph.constants)
    names: dict[str, str] = {}
    nodes: list[Node] = []

    def take(node: Node) -> list[str]:
        """The results of a node, whose operands have their names."""
        if node.op != CALL or not wanted(node):
            nodes.append(with_regions(node, [_inlined(region, wanted, fresh) for region in node.regions]))
            return list(node.outputs)
        check_regions(node)
        return put(node.regions[0], node.inputs)

    def put(region: Graph, given: Sequence[str]) -> list[str]:
        """The results of a region, whose nodes get fresh names."""
        inner = dict(zip(region.parameters, given, strict=True))
        for name, array in region.constants.items():
            inner[name] = fresh(name)
            constants[inner[name]] = array
        for node in region.nodes:
            results = {o: fresh(o) for o in node.outputs if o}
            own = renamed(node, {**inner, **results})
            inner |= results | {o: r for o, r in zip(node.outputs, take(own), strict=False) if o}
        return [inner.get(o, o) for o in region.outputs]

    for node in graph.nodes:
        results = take(renamed(node, names))
        names |= {o: r for o, r in zip(node.outputs, results, strict=False) if o and o != r}
    return with_outputs(graph.but(nodes=tuple(nodes), constants=constants, types={}), names)


def basic_block_form(graph: Graph) -> Graph:
    """Move what only one side of a branch uses into that side: every value is computed in the innermost block it needs.

    Rewrite:  let a = Exp(x); let y = If(c) { { return a } ... }  ->  let y = If(c) { { let a = Exp(x); return a } ... }
    """
    nodes = list(graph.nodes)
    for place in reversed(range(len(nodes) if any(n.regions for n in nodes) else 0)):
        node = nodes[place]
        users = [n for n in nodes if set(node.outputs) & set(n.used)]
        side = _only_side(node, users[0]) if len(users) == 1 and not set(node.outputs) & set(graph.outputs) else None
        if side is None:
            continue
        regions = [r.but(nodes=(node, *r.nodes), types={}) if r is side else r for r in users[0].regions]
        nodes[nodes.index(users[0])] = with_regions(users[0], regions)
        del nodes[place]
    return graph.but(nodes=tuple(with_regions(node, [basic_block_form(r) for r in node.regions]) for node in nodes),
                     types={})


def _only_side(node: Node, user: Node) -> Graph | None:
    """The side of a branch that alone uses a node's results; None where there is none."""
    if user.op != IF or set(node.outputs) & set(user.inputs):
        return None
    sides = [region for region in user.regions if set(node.outputs) & set(region.free)]
    return sides[0] if len(sides) == 1 and _fits(node, sides[0]) else None


def with_regions(node: Node, regions: Sequence[Graph]) -> Node:
    """A node with other regions."""
    return replace(node, regions=tuple(regions)) if node.regions else node


def _fits(node: Node, region: Graph) -> bool:
    """Whether a node means the same in a region: nothing that it uses is bound anew there."""
    return not region.bound & {*node.used, *node.outputs}


def basic_blocks(graph: Graph) -> str:
    """The graph as basic blocks: straight lines of nodes, and where each of them goes; a view to read.

        b0(x): let a = Exp(x); if c goto b1 else b2
        b1(): let y = Neg(a); goto b3(y)
    """
    blocks: list[str] = []

    def block(title: str, body: Graph, end: str) -> None:
        lines = [f"{title}:"]
        for node in body.nodes:
            call = f"let {', '.join(node.outputs)} = {node.op}({', '.join(node.inputs)})"
            if not node.regions:
                lines.append(f"  {call}")
                continue
            names = [f"{title.split('(')[0]}.{node.outputs[0]}.{k}" for k in range(len(node.regions))]
            lines.append(f"  {_jump(node, names)}")
            for name, region in zip(names, node.regions, strict=True):
                block(f"{name}({', '.join(region.parameters)})", region, f"yield {', '.join(region.outputs)}")
        blocks.append("\n".join([*lines, f"  {end}"]))
    block(f"{graph.name}({', '.join(n for n, _ in graph.inputs)})", graph, f"return {', '.join(graph.outputs)}")
    return "\n".join(reversed(blocks))


def _jump(node: Node, names: Sequence[str]) -> str:
    bound = f"let {', '.join(node.outputs)} ="
    if node.op == IF:
        return f"{bound} if {node.inputs[0]} goto {names[0]} else {names[1]}"
    return f"{bound} {node.op.lower()} {names[0]}({', '.join(node.inputs)})"


def called(name: str, nodes: Sequence[Node], results: Sequence[str], constants: Mapping[str, np.ndarray],
           attributes: Mapping[str, int | str]) -> Node:
    """Nodes as one function that is called where they stood.

    Parameters
    ----------
    results : the values that are seen from outside.
    constants : of the graph; those of one element go into the function.
    """
    bound = [o for node in nodes for o in node.outputs if o]
    used = [name for name in _used(nodes) if name not in bound]
    outside = [n for n in used if not _is_number(constants.get(n))]
    inside = [n for n in used if n not in outside]
    inner = _numbered("p", outside) | _numbered("k", inside) | _numbered("v", bound)
    region = Graph(name=name, inputs=(), nodes=tuple(renamed(n, inner) for n in nodes),
                   outputs=tuple(inner[r] for r in results), parameters=tuple(inner[n] for n in outside),
                   constants={inner[n]: constants[n] for n in inside})
    return Node(op=CALL, inputs=tuple(outside), outputs=tuple(results), regions=(region,),
                attributes=tuple(sorted(attributes.items())))


def _used(nodes: Sequence[Node]) -> list[str]:
    return list(dict.fromkeys(name for node in nodes for name in node.used))


def _is_number(array: np.ndarray | None) -> bool:
    return array is not None and array.size == 1


def _numbered(letter: str, names: Sequence[str]) -> dict[str, str]:
    return {name: f"{letter}{place}" for place, name in enumerate(names)}
