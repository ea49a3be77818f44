"""Fusion by dominators over the seven kinds of operators: the baseline that plans by cost are compared with.

Source: Chen et al., TVM: An Automated End-to-End Optimizing Compiler for Deep Learning (OSDI 2018), section 3, and the
rules of its FuseOps: a node is fused into its immediate post-dominator when every node on the ways between allows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polysched.graph.evaluation.inference import Inferred, infer
from polysched.graph.limits import LIMITS
from polysched.graph.operators.operator import Kind
from polysched.graph.operators.registry import operator_of
from polysched.graph.passes.calls import FUSED, called
from polysched.graph.passes.dead_code import remove_dead_code
from polysched.graph.passes.grouping import Grouping, grouped
from polysched.graph.values.graph import Graph, Node

ORDER = (Kind.ELEMENTWISE, Kind.BROADCAST, Kind.INJECTIVE, Kind.REDUCTION, Kind.OUTPUT_FUSABLE, Kind.TUPLE, Kind.OPAQUE)
RANK = {kind: place for place, kind in enumerate(ORDER)}
"""A kind with a higher rank is harder to fuse."""


def fuse_by_dominators(graph: Graph) -> Graph:
    """Make one function of every group of nodes that becomes one kernel by the rules of kinds.

    Rewrite:  let c = Conv(x, w); let r = Relu(c)  ->  let r = Call(x, w; fused=1) { ... }
    """
    def make(nodes: Sequence[Node], results: tuple[str, ...]) -> Node:
        return called("fused", nodes, results, graph.constants, {FUSED: 1})
    return remove_dead_code(grouped(graph, _Fusing(graph).merge, make, lambda nodes: len(nodes) > 1))


def groups_by_dominators(graph: Graph) -> tuple[tuple[int, ...], ...]:
    """The nodes of every kernel by the rules of kinds, by their place in the graph."""
    grouping = Grouping(graph)
    _Fusing(graph).merge(grouping)
    return tuple(tuple(sorted(members)) for members in grouping.members.values())


class _Fusing:
    """The kinds of nodes and groups, and their post-dominators."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.inferred: Inferred = infer(graph)
        self.kinds = [Kind.OPAQUE if n.regions else operator_of(n).kind for n in graph.nodes]

    def merge(self, grouping: Grouping) -> None:
        """Fuse in three rounds: what ends in a reduction or an output, then injective operators, then tuples."""
        self.grouping = grouping
        parents, patterns = self.post_dominators()
        self.group_kind = list(self.kinds)
        for phase in (0, 1):
            for place, parent in enumerate(parents):
                if parent is not None and grouping.group[place] != grouping.group[parent]:
                    self.fuse(place, parent, patterns[place], phase)

    def fuse(self, place: int, parent: int, pattern: Kind, phase: int) -> None:
        """One node into its post-dominator, where its kind, and every kind on the way, allows it."""
        own = self.group_kind[self.grouping.group[place]]
        if own is Kind.OUTPUT_FUSABLE and phase == 0 and pattern is Kind.ELEMENTWISE:
            self.commit(place, parent, lambda kind, sink: RANK[kind] <= RANK[Kind.BROADCAST])
        elif RANK[own] <= RANK[Kind.BROADCAST] and (RANK[pattern] <= RANK[Kind.REDUCTION]):
            self.commit(place, parent, lambda kind, sink: RANK[kind] <= RANK[
                Kind.OUTPUT_FUSABLE if sink else Kind.INJECTIVE])
        elif own is Kind.INJECTIVE and phase == 1:
            self.commit(place, parent, lambda kind, sink: RANK[kind] <= RANK[Kind.INJECTIVE])

    def commit(self, place: int, parent: int, allowed: Callable[[Kind, bool], bool]) -> None:
        """Merge all nodes up to a post-dominator, if all of them are allowed and the group stays small."""
        between = self.between(place, parent)
        for each in between:
            kind = self.group_kind[self.grouping.group[each]]
            if not allowed(kind, each == parent):
                return
        groups = {self.grouping.group[each] for each in (place, *between)}
        if sum(len(self.grouping.members[g]) for g in groups) > LIMITS.most_fused_by_kind:
            return
        hardest = max((self.group_kind[g] for g in groups), key=RANK.__getitem__)
        for each in between:
            if not self.grouping.merge(place, each):
                break
        self.group_kind[self.grouping.group[place]] = hardest

    def between(self, place: int, parent: int) -> list[int]:
        """The nodes on the ways from a node to its post-dominator, that one included."""
        found: list[int] = []
        waiting = list(self.grouping.users[place])
        while waiting:
            each = waiting.pop()
            if each in found:
                continue
            found.append(each)
            if each != parent:
                waiting += self.grouping.users[each]
        return found

    def post_dominators(self) -> tuple[list[int | None], list[Kind]]:
        """Per node the first one that every way to an output goes through, and the hardest use on the ways there."""
        count = len(self.graph.nodes)
        parents: list[int | None] = [None] * count
        depth = [0] * count
        patterns = [Kind.OPAQUE] * count
        outputs = set(self.graph.outputs)
        for place in reversed(range(count)):
            node, users = self.graph.nodes[place], self.grouping.users[place]
            if outputs & set(node.outputs) or not users:
                continue
            common: int | None = users[0]
            pattern = Kind.ELEMENTWISE
            for user in users:
                pattern = harder(pattern, self.use(node, user))
                common, pattern = _meet(common, user, parents, depth, patterns, pattern)
            parents[place], patterns[place] = common, pattern
            depth[place] = depth[common] + 1 if common is not None else 0
        return parents, patterns

    def use(self, node: Node, user: int) -> Kind:
        """The kind of the use of a value: of a broadcasting operator elementwise where the shape is the result's."""
        kind, other = self.kinds[user], self.graph.nodes[user]
        if kind not in (Kind.ELEMENTWISE, Kind.BROADCAST):
            return kind
        result = self.inferred.types[other.outputs[0]].shape
        same = all(self.inferred.types[o].shape == result for o in node.outputs if o in other.inputs)
        return Kind.ELEMENTWISE if same else Kind.BROADCAST


def harder(first: Kind, second: Kind) -> Kind:
    """The kind that is harder to fuse."""
    return max(first, second, key=RANK.__getitem__)


def _meet(first: int | None, second: int | None, parents: Sequence[int | None], depth: Sequence[int],
          patterns: Sequence[Kind], pattern: Kind) -> tuple[int | None, Kind]:
    """The lowest common ancestor in the tree of post-dominators, and the hardest use on both ways."""
    while first != second:
        if first is None or second is None:
            return None, Kind.OPAQUE
        if depth[first] < depth[second]:
            pattern, second = harder(pattern, patterns[second]), parents[second]
        elif depth[second] < depth[first]:
            pattern, first = harder(pattern, patterns[first]), parents[first]
        else:
            pattern = harder(harder(pattern, patterns[first]), patterns[second])
            first, second = parents[first], parents[second]
    return first, pattern
