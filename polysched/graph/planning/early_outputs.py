"""The order of nodes: outputs that need little come first, so that who waits for them can go on."""

from __future__ import annotations

from polysched.graph.values.graph import Graph


def early_outputs_first(graph: Graph) -> Graph:
    """The graph with what the output of the fewest nodes needs in front, then what the next one needs besides.

    Rewrite:  let a = Exp(x); let b = Exp(a); let c = Neg(x); return b, c
    ->  let c = Neg(x); let a = Exp(x); let b = Exp(a); return b, c
    """
    makers = {o: place for place, node in enumerate(graph.nodes) for o in node.outputs if o}
    needed: list[set[int]] = []
    for node in graph.nodes:
        own = {makers[n] for n in node.used if n in makers}
        needed.append(own.union(*(needed[place] for place in own)))
    behind = [needed[makers[o]] | {makers[o]} for o in graph.outputs if o in makers]
    order: dict[int, None] = {}
    for places in sorted(behind, key=len):
        order |= dict.fromkeys(sorted(places))
    order |= dict.fromkeys(range(len(graph.nodes)))
    return graph.but(nodes=tuple(graph.nodes[place] for place in order))
