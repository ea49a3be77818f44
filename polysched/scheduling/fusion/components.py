"""Strongly connected components of the statements, in an order that respects the dependences."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence


def ordered_components(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The strongly connected components, topologically sorted; ties by the position of the first node.

    Source: Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972.
    """
    position = {name: i for i, name in enumerate(nodes)}
    successors: dict[str, set[str]] = {name: set() for name in nodes}
    for source, sink in edges:
        if source != sink:
            successors[source].add(sink)
    component_of = {}
    for members in _tarjan(nodes, successors):
        ordered = tuple(sorted(members, key=position.__getitem__))
        component_of.update(dict.fromkeys(ordered, ordered))
    return _topological(component_of, successors, position)


def _tarjan(nodes: Sequence[str], successors: dict[str, set[str]]) -> list[list[str]]:
    """Tarjan's algorithm with an explicit stack, so that a long chain needs no deep recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_nodes: list[str] = []
    is_open: set[str] = set()
    components: list[list[str]] = []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(sorted(successors[root])))]
        index[root] = low[root] = len(index)
        open_nodes.append(root)
        is_open.add(root)
        while work:
            node, rest = work[-1]
            for successor in rest:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    open_nodes.append(successor)
                    is_open.add(successor)
                    work.append((successor, iter(sorted(successors[successor]))))
                    break
                if successor in is_open:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    cut = open_nodes.index(node)
                    components.append(open_nodes[cut:])
                    is_open.difference_update(open_nodes[cut:])
                    del open_nodes[cut:]
    return components


def _topological(component_of: dict[str, tuple[str, ...]], successors: dict[str, set[str]],
                 position: dict[str, int]) -> list[tuple[str, ...]]:
    following = {c: {component_of[s] for n in c for s in successors[n]} - {c} for c in set(component_of.values())}
    waiting = dict.fromkeys(following, 0)
    for targets in following.values():
        for target in targets:
            waiting[target] += 1
    ready = [(position[c[0]], c) for c, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    ordered = []
    while ready:
        _, component = heapq.heappop(ready)
        ordered.append(component)
        for target in following[component]:
            waiting[target] -= 1
            if waiting[target] == 0:
                heapq.heappush(ready, (position[target[0]], target))
    return ordered
