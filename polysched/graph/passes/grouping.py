"""Groups of nodes that grow by merging and never depend on each other in a circle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polysched.graph.values.graph import Graph, Node


class Grouping:
    """Every node in a group of its own at first, by its place in the graph.

    Parameters
    ----------
    graph : whose nodes are grouped.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.places = {id(node): place for place, node in enumerate(graph.nodes)}
        self.group = list(range(len(graph.nodes)))
        self.members = {place: [place] for place in self.group}
        made = {o: place for place, node in enumerate(graph.nodes) for o in node.outputs if o}
        self.sources = [sorted({made[n] for n in node.used if n in made}) for node in graph.nodes]
        self.users: list[list[int]] = [[] for _ in graph.nodes]
        for place, sources in enumerate(self.sources):
            for source in sources:
                self.users[source].append(place)

    def merge(self, first: int, second: int) -> bool:
        """Put the groups of two nodes together, unless a third group would stand both behind and before them."""
        one, other = self.group[first], self.group[second]
        if one == other:
            return True
        if self._around(one, other) or self._around(other, one):
            return False
        for place in self.members.pop(other):
            self.group[place] = one
            self.members[one].append(place)
        return True

    def _around(self, start: int, end: int) -> bool:
        """Whether a way from one group to another leads through a third."""
        waiting = [u for place in self.members[start] for u in self.users[place] if self.group[u] not in (start, end)]
        last = max(self.members[end])
        seen: set[int] = set()
        while waiting:
            group = self.group[waiting.pop()]
            if group == end:
                return True
            if group in seen or min(self.members[group]) > last:
                continue
            seen.add(group)
            waiting += [u for place in self.members[group] for u in self.users[place] if self.group[u] != group]
        return False

    def ordered(self) -> list[tuple[Node, ...]]:
        """The groups in an order in which every value is made before it is used; nodes in the order of the graph."""
        done: set[int] = set()
        result: list[tuple[Node, ...]] = []

        def put(group: int) -> None:
            stack = [group]
            while stack:
                top = stack[-1]
                missing = [self.group[s] for place in self.members[top] for s in self.sources[place]
                           if self.group[s] != top and self.group[s] not in done]
                if missing and top not in done:
                    stack.append(missing[0])
                    continue
                stack.pop()
                if top not in done:
                    done.add(top)
                    result.append(tuple(self.graph.nodes[p] for p in sorted(self.members[top])))
        for place in range(len(self.graph.nodes)):
            put(self.group[place])
        return result

    def results(self, nodes: Sequence[Node]) -> tuple[str, ...]:
        """The values of a group that are used outside of it."""
        places = [self.places[id(node)] for node in nodes]
        outside = {name for place in places for user in self.users[place] if self.group[user] != self.group[place]
                   for name in self.graph.nodes[user].used}
        return tuple(o for node in nodes for o in node.outputs if o and (o in outside or o in self.graph.outputs))


def grouped(graph: Graph, merge: Callable[[Grouping], None], make: Callable[[Sequence[Node], tuple[str, ...]], Node],
            wanted: Callable[[Sequence[Node]], bool]) -> Graph:
    """The graph with groups as single nodes.

    Parameters
    ----------
    merge : merges groups.
    make : the node that stands for a group, from its nodes and its results.
    wanted : which groups become a node; the others stay as they are.
    """
    grouping = Grouping(graph)
    merge(grouping)
    nodes: list[Node] = []
    for group in grouping.ordered():
        results = grouping.results(group)
        nodes += [make(group, results)] if wanted(group) and results else group
    return graph.but(nodes=tuple(nodes), types={})
