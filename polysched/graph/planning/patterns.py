"""Patterns: nodes of a graph that may become one kernel, grown along a topological order, with what they cost.

A pattern ends at a node and grows over its producers, and over others that read what they make.  A value that something
outside needs may be inside, too, where no way leads from there back in: then the pattern has several results.

Source: Z. Zheng et al., "FusionStitching", arXiv 2009.10924, section 5 (patterns in reverse topological order, top k).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from math import isqrt

from polysched.errors import PolyschedError
from polysched.graph.evaluation.inference import Inferred, site_of
from polysched.graph.limits import LIMITS
from polysched.graph.operators.operator import Kind
from polysched.graph.operators.registry import operator_of
from polysched.graph.planning.partition import Beside, Group, fragment_of, is_inlined
from polysched.graph.values.graph import Graph
from polysched.records import dataclass
from polysched.target.target import Target

Nodes = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Nodes that may become one kernel, or kernels in one parallel region.

    Parameters
    ----------
    nodes : by their place in the graph.
    bytes_moved : operands and results.
    seconds : at the speed of light.
    parts : the nodes of each kernel, where there are several side by side.
    """

    nodes: Nodes
    bytes_moved: int
    seconds: float
    parts: tuple[Nodes, ...] = ()


@dataclass(eq=False)
class Patterns:
    """Grows patterns and counts what they cost.

    Parameters
    ----------
    graph : with types.
    sizes : for which costs are counted, of those that are open.
    """

    graph: Graph
    inferred: Inferred
    target: Target
    sizes: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.places = {id(n): place for place, n in enumerate(self.graph.nodes)}
        self.made = {o: place for place, n in enumerate(self.graph.nodes) for o in n.outputs if o}
        self.users = {o: {self.places[id(u)] for u in used} for o, used in self.graph.users.items()}
        self.stage = [self._is_stage(place) for place in range(len(self.graph.nodes))]
        self.behind = self._behind()

    def _is_stage(self, place: int) -> bool | None:
        """Whether a node is a stage of a kernel, or inlined (False); None where it is fused with nothing."""
        node = self.graph.nodes[place]
        operator = operator_of(node)
        if node.regions or operator.view or len([o for o in node.outputs if o]) != 1:
            return None
        if is_inlined(node, site_of(node, self.inferred.types, self.inferred.known, results=True)):
            return False
        known = all(node.inputs[k] in self.inferred.known for k in operator.steering
                    if k < len(node.inputs) and node.inputs[k])
        return True if operator.expression is not None and known else None

    def _behind(self) -> list[int]:
        """The nodes that need a node's results, those that need them in turn included: a bit for each."""
        found = [0] * len(self.graph.nodes)
        for place in reversed(range(len(found))):
            for name in self.graph.nodes[place].outputs:
                for user in self.users.get(name, ()):
                    found[place] |= 1 << user | found[user]
        return found

    def all(self) -> list[Pattern]:
        """The best patterns that end at each node."""
        found: list[Pattern] = []
        for place in reversed(range(len(self.graph.nodes))):
            if self.stage[place] is not None:
                found += self._ending_at(place)
        return found

    def _ending_at(self, place: int) -> list[Pattern]:
        """Patterns grown from a node, a producer at a time; the best are kept of each size."""
        alone: Nodes = (place,)
        front, found = {alone}, {alone}
        while front:
            larger = {tuple(sorted({*nodes, other})) for nodes in front for other in self._growth(nodes)} - found
            best = sorted(larger, key=lambda nodes: (-self._saved(nodes), nodes))[:LIMITS.most_patterns]
            front = {nodes for nodes in best if len(nodes) <= LIMITS.most_fused_nodes}
            found |= front
        return [self.pattern(nodes) for nodes in found]

    def _growth(self, nodes: Nodes) -> set[int]:
        """Producers that may join, and others that read what stays inside."""
        inside = set(nodes)
        found = set()
        for place in nodes:
            for name in self.graph.nodes[place].inputs:
                other = self.made.get(name)
                if other is not None and other not in inside and self.stage[other] is not None and (
                        self._may_join(name, inside)):
                    found.add(other)
        return found | self._siblings(nodes)

    def _siblings(self, nodes: Nodes) -> set[int]:
        """Nodes ahead of the last one that read a value inside, from which and to which no way leads around.

        A sum and a product of the same values are siblings: one kernel makes both, and the values stay inside.
        """
        bits = bits_of(nodes)
        if len(self.results(nodes)) >= LIMITS.most_results:
            return set()
        users = {u for k in nodes for o in self.graph.nodes[k].outputs for u in self.users.get(o, ())
                 if u < nodes[-1] and not bits >> u & 1 and self.stage[u]}
        return {u for u in users if self._elements(self.graph.nodes[u].outputs[0]) and self._is_closed(nodes, u)}

    def _is_closed(self, nodes: Nodes, more: int) -> bool:
        """Whether no other node stands between some nodes and one more."""
        inside = bits_of((*nodes, more))
        reached = 0
        for k in (*nodes, more):
            reached |= self.behind[k]
        return not any(self.behind[n] & inside for n in range(min(nodes), max(nodes)) if reached & ~inside & 1 << n)

    def _may_join(self, name: str, inside: set[int]) -> bool:
        """Whether a value is needed inside alone, or is one more result from which no way leads back in."""
        outside = self.users[name] - inside
        if not outside and name not in self.graph.outputs:
            return True
        if self._elements(name) == 0 or len(self.results(inside)) >= LIMITS.most_results:
            return False
        bits = bits_of(inside)
        return not any(self.behind[user] & bits for user in outside)

    def results(self, nodes: Iterable[int]) -> tuple[str, ...]:
        """The values of some nodes that are seen from outside, in the order of the nodes."""
        inside = set(nodes)
        return tuple(o for k in sorted(inside) for o in self.graph.nodes[k].outputs
                     if o and (o in self.graph.outputs or self.users.get(o, set()) - inside or k == max(inside)))

    def _saved(self, nodes: Nodes) -> int:
        """Bytes that need not be read, or written, where the values between nodes stay inside."""
        seen = set(self.results(nodes))
        return sum((1 if o in seen else 2) * self._bytes(o) for k in nodes[:-1] for o in self.graph.nodes[k].outputs)

    def _bytes(self, name: str) -> int:
        return self._elements(name) * self.inferred.types[name].dtype.bytes

    @property
    def compulsory(self) -> int:
        """Bytes of what the graph is given and gives."""
        steering = {n.inputs[k] for n in self.graph.nodes for k in operator_of(n).steering if k < len(n.inputs)}
        given = {name for name, _ in self.graph.inputs} | set(self.graph.constants)
        used = {i for n in self.graph.nodes for i in n.inputs} & given - steering
        return sum(self._bytes(name) for name in used | set(self.graph.outputs))

    def pattern(self, nodes: Nodes) -> Pattern:
        """Some nodes with their cost."""
        last = operator_of(self.graph.nodes[nodes[-1]])
        if not self.sizes.keys() >= set(self.graph.symbols) or (last.view and len(nodes) == 1):
            return Pattern(nodes=nodes, bytes_moved=0, seconds=0.0)
        moved = sum(map(self._bytes, self._seen(nodes)))
        operations = sum(self._operations(k) for k in nodes)
        cores = self.target.cores
        seconds = max(moved / (self.target.bandwidth(0) * cores), operations / (self.target.peak_flops(32) * cores))
        return Pattern(nodes=nodes, bytes_moved=moved, seconds=seconds + self.target.team_seconds)

    def _seen(self, nodes: Nodes) -> set[str]:
        """Operands from outside, without those that decide about shapes, and results."""
        members = [self.graph.nodes[k] for k in nodes]
        inside = {o for n in members for o in n.outputs if o}
        operands = {i for n in members for place, i in enumerate(n.inputs)
                    if i and i not in inside and place not in operator_of(n).steering}
        return operands | set(self.results(nodes))

    def _operations(self, place: int) -> int:
        """One per element; of products of matrices two per term; of other sums of products as if they were that."""
        node = self.graph.nodes[place]
        made = max((self._elements(o) for o in node.outputs if o), default=0)
        if node.op == "MatMul":
            return 2 * made * int(self.inferred.types[node.inputs[0]].shape[-1].bound(self.sizes))
        read = sorted((self._elements(i) for i in node.inputs if i), reverse=True)
        if operator_of(node).kind is Kind.OUTPUT_FUSABLE and len(read) > 1:
            return 2 * isqrt(read[0] * read[1] * made)
        return max([made, *read])

    def _elements(self, name: str) -> int:
        return int(self.inferred.types[name].bound(self.sizes).elements)

    def group(self, pattern: Pattern) -> Group | Beside:
        """A pattern as what becomes a step of a plan."""
        if pattern.parts:
            return Beside(groups=tuple(map(self._group, pattern.parts)))
        return self._group(pattern.nodes)

    def _group(self, nodes: Nodes) -> Group:
        last = self.graph.nodes[nodes[-1]]
        return Group(nodes=tuple(self.graph.nodes[k] for k in nodes),
                     seen=tuple(o for o in self.results(nodes) if o not in last.outputs))

    def fragment(self, nodes: Nodes) -> Graph:
        """Some nodes as a graph of their own.

        Raises
        ------
        UnsupportedGraphError : no kernel computes them.
        """
        return self.counted(nodes)[0]

    def counted(self, nodes: Nodes) -> tuple[Graph, dict[str, int]]:
        """Some nodes as a graph of their own, and the values of its open sizes for which costs are counted.

        Raises
        ------
        UnsupportedGraphError : no kernel computes them.
        """
        fragment, _, sizes = fragment_of(self.graph, self._group(nodes), self.inferred)
        return fragment, {f"n{k}": int(own) for k, size in enumerate(sizes)
                          if (own := size.bound(self.sizes)).is_constant}

    def kernel(self, pattern: Pattern) -> Graph | None:
        """The fragment of a pattern that is one kernel; None where it is a view, copies, sizes, or control flow."""
        last = self.graph.nodes[pattern.nodes[-1]]
        operator = operator_of(last)
        if pattern.parts or last.regions or operator.view or (len(pattern.nodes) == 1 and operator.moves is not None):
            return None
        if any(o in self.inferred.known or not self._elements(o) for o in self.results(pattern.nodes)):
            return None
        try:
            return self.fragment(pattern.nodes)
        except PolyschedError:
            return None


def bits_of(places: Iterable[int]) -> int:
    """A bit for each place."""
    found = 0
    for place in places:
        found |= 1 << place
    return found
