"""Fusion plan: which nodes become one kernel, chosen by cost.

    found = fusion_plan(graph, target)       # groups, bytes saved, why not more

Patterns end at a node and grow over producers whose results nothing outside needs, in reverse topological order; the
best few per node are kept.  The cost is the speed of light: bytes over bandwidth, operations over peak, a team's
start.  CP-SAT covers every node once at least cost.  Since only the last result of a pattern is seen from outside,
groups never depend on each other in a circle.  A pattern whose stages do not become one loop over tiles is refused with
the reason, one whose tiles take longer gets that cost, and the cover is found anew.

Source: Z. Zheng et al., "FusionStitching", arXiv 2009.10924, section 5 (patterns in reverse topological order, top k).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isqrt

from polysched.errors import PolyschedError
from polysched.graph.evaluation.inference import Inferred, infer, site_of
from polysched.graph.limits import LIMITS
from polysched.graph.operators.operator import Kind
from polysched.graph.operators.registry import operator_of
from polysched.graph.planning.expressions import has_stages
from polysched.graph.planning.partition import Group, fragment_of, is_inlined, partition
from polysched.graph.values.graph import Graph
from polysched.graph.values.text import to_text
from polysched.scheduling.solving.cp_sat import cp_sat
from polysched.target.target import Target, host


@dataclass(frozen=True)
class Verdict:
    """Of a fragment of several stages.

    Parameters
    ----------
    reason : why it is no kernel; empty where it is one.
    seconds : projected for the kernel, by the footprints of its tiles.
    """

    reason: str = ""
    seconds: float = 0.0


Judge = Callable[[Graph], Verdict]


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Nodes that may become one kernel.

    Parameters
    ----------
    nodes : by their place in the graph; the last one's results alone are seen from outside.
    bytes_moved : operands and results.
    seconds : at the speed of light.
    """

    nodes: tuple[int, ...]
    bytes_moved: int
    seconds: float


@dataclass(frozen=True, eq=False, kw_only=True)
class FusionPlan:
    """The kernels of a graph.

    Parameters
    ----------
    groups : in the order of their last nodes.
    seconds : at the speed of light, all together.
    bytes_moved : operands and results of all kernels.
    bytes_compulsory : inputs and outputs of the graph.
    bytes_apart : the same with the greedy rule for elementwise producers alone.
    refused : patterns that were cheaper, by their nodes, and why not.
    optimal : the cover is proven the cheapest of the patterns.
    """

    groups: tuple[Group, ...]
    seconds: float
    bytes_moved: int
    bytes_apart: int
    bytes_compulsory: int
    refused: tuple[tuple[str, str], ...] = ()
    optimal: bool = True

    @property
    def kernels(self) -> tuple[Group, ...]:
        """The groups that run something: a view does not."""
        return tuple(g for g in self.groups if not operator_of(g.last).view)

    def __str__(self) -> str:
        lines = [f"{len(self.kernels)} kernels, {self.bytes_moved} bytes, {self.bytes_apart - self.bytes_moved} fewer "
                 f"than with elementwise fusion alone, {self.seconds:.2e} s at the speed of light"]
        lines += [f"  {' '.join(n.op for n in group.nodes)}" for group in self.kernels]
        return "\n".join(lines + [f"  not {nodes}: {reason}" for nodes, reason in self.refused])


def fusion_plan(graph: Graph, target: Target | None = None, *, judge: Judge | None = None,
                patterns: bool = True) -> FusionPlan:
    """The cheapest cover of a graph by patterns.

    Parameters
    ----------
    graph : with types, of known sizes; where one is open, elementwise producers alone are fused.
    judge : what decides whether several stages are one kernel; without one, all are taken.
    patterns : grow some; else the plan is that of elementwise producers alone.
    """
    inferred = infer(graph)
    greedy = partition(graph, inferred)
    maker = _Patterns(graph, inferred, target or host())
    apart = [maker.pattern(tuple(sorted(maker.places[id(n)] for n in g.nodes))) for g in greedy]
    bytes_apart = sum(p.bytes_moved for p in apart)
    if graph.symbols:
        return FusionPlan(groups=greedy, seconds=0.0, bytes_moved=0, bytes_apart=0, bytes_compulsory=0)
    candidates = {p.nodes: p for p in (*apart, *(maker.all() if patterns else ()))}
    search = _Search(maker, judge, {p.nodes for p in apart}, candidates)
    chosen = sorted(search.settled(), key=lambda p: p.nodes[-1])
    groups = tuple(Group(nodes=tuple(graph.nodes[k] for k in p.nodes)) for p in chosen)
    return FusionPlan(groups=groups, bytes_compulsory=maker.compulsory, seconds=sum(p.seconds for p in chosen),
                      bytes_apart=bytes_apart, bytes_moved=sum(p.bytes_moved for p in chosen),
                      optimal=search.optimal, refused=search.reasons())


@dataclass(eq=False)
class _Search:
    """Covers a graph again and again, until every pattern of the cover was judged."""

    maker: _Patterns
    judge: Judge | None
    first: set[tuple[int, ...]]
    candidates: dict[tuple[int, ...], Pattern]
    optimal: bool = True

    def __post_init__(self) -> None:
        self.known: dict[str, Verdict] = {}
        self.refused: dict[tuple[int, ...], str] = {}
        self.judged: set[tuple[int, ...]] = set()

    def settled(self) -> list[Pattern]:
        """The patterns of the last cover."""
        while True:
            if len(self.judged - self.first) >= LIMITS.most_judged:
                left = self.first | self.judged
                self.candidates = {nodes: p for nodes, p in self.candidates.items() if nodes in left}
            chosen, self.optimal = _cover(len(self.maker.graph.nodes), list(self.candidates.values()))
            asked = [p for p in chosen if p.nodes not in self.judged]
            if not asked:
                for pattern in chosen:
                    self.refused.pop(pattern.nodes, None)
                return chosen
            for pattern in asked:
                self.take(pattern, self.maker.verdict(pattern, self.judge, self.known))

    def take(self, pattern: Pattern, verdict: Verdict) -> None:
        """What a verdict changes: a pattern is none, or dearer."""
        self.judged.add(pattern.nodes)
        if verdict.reason:
            self.refused[pattern.nodes] = verdict.reason
            del self.candidates[pattern.nodes]
        elif verdict.seconds > pattern.seconds:
            self.refused[pattern.nodes] = f"its tiles take {verdict.seconds:.1e} s"
            self.candidates[pattern.nodes] = replace(pattern, seconds=verdict.seconds)

    def reasons(self) -> tuple[tuple[str, str], ...]:
        """The patterns that were cheaper, by their operators, and why not."""
        nodes = self.maker.graph.nodes
        return tuple((" ".join(nodes[k].op for k in places), why) for places, why in self.refused.items())


@dataclass(eq=False)
class _Patterns:
    """Grows patterns and counts what they cost."""

    graph: Graph
    inferred: Inferred
    target: Target

    def __post_init__(self) -> None:
        self.places = {id(n): place for place, n in enumerate(self.graph.nodes)}
        self.made = {o: place for place, n in enumerate(self.graph.nodes) for o in n.outputs if o}
        self.users = {o: {self.places[id(u)] for u in used} for o, used in self.graph.users.items()}
        self.stage = [self._is_stage(place) for place in range(len(self.graph.nodes))]

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

    def all(self) -> list[Pattern]:
        """The best patterns that end at each node."""
        found: list[Pattern] = []
        for place in reversed(range(len(self.graph.nodes))):
            if self.stage[place] is not None:
                found += self._ending_at(place)
        return found

    def _ending_at(self, place: int) -> list[Pattern]:
        """Patterns grown from a node, a producer at a time; the best are kept of each size."""
        alone: tuple[int, ...] = (place,)
        front, found = {alone}, {alone}
        while front:
            larger = {tuple(sorted({*nodes, other})) for nodes in front for other in self._growth(nodes)} - found
            best = sorted(larger, key=self._saved, reverse=True)[:LIMITS.most_patterns]
            front = {nodes for nodes in best if len(nodes) <= LIMITS.most_stitched_nodes}
            found |= front
        return [self.pattern(nodes) for nodes in found]

    def _growth(self, nodes: tuple[int, ...]) -> set[int]:
        """Producers whose every use is inside."""
        inside = set(nodes)
        found = set()
        for place in nodes:
            for name in self.graph.nodes[place].inputs:
                other = self.made.get(name)
                if (other is not None and other not in inside and self.stage[other] is not None
                        and name not in self.graph.outputs and self.users[name] <= inside):
                    found.add(other)
        return found

    def _saved(self, nodes: tuple[int, ...]) -> int:
        return sum(2 * self._bytes(o) for k in nodes[:-1] for o in self.graph.nodes[k].outputs)

    def _bytes(self, name: str) -> int:
        own = self.inferred.types[name]
        return int(own.elements) * own.dtype.bytes

    @property
    def compulsory(self) -> int:
        """Bytes of what the graph is given and gives."""
        steering = {n.inputs[k] for n in self.graph.nodes for k in operator_of(n).steering if k < len(n.inputs)}
        given = {name for name, _ in self.graph.inputs} | set(self.graph.constants)
        used = {i for n in self.graph.nodes for i in n.inputs} & given - steering
        return sum(self._bytes(name) for name in used | set(self.graph.outputs))

    def pattern(self, nodes: tuple[int, ...]) -> Pattern:
        """Some nodes with their cost."""
        last = operator_of(self.graph.nodes[nodes[-1]])
        if self.graph.symbols or (last.view and len(nodes) == 1):
            return Pattern(nodes=nodes, bytes_moved=0, seconds=0.0)
        moved = sum(map(self._bytes, self._seen(nodes)))
        operations = sum(self._operations(k) for k in nodes)
        cores = self.target.cores
        seconds = max(moved / (self.target.bandwidth(0) * cores), operations / (self.target.peak_flops(32) * cores))
        return Pattern(nodes=nodes, bytes_moved=moved, seconds=seconds + self.target.team_seconds)

    def _seen(self, nodes: tuple[int, ...]) -> set[str]:
        """Operands from outside, without those that decide about shapes, and results."""
        members = [self.graph.nodes[k] for k in nodes]
        inside = {o for n in members for o in n.outputs if o}
        operands = {i for n in members for place, i in enumerate(n.inputs)
                    if i and i not in inside and place not in operator_of(n).steering}
        return operands | {o for o in members[-1].outputs if o}

    def _operations(self, place: int) -> int:
        """One per element; of sums of products, as of matrices with operands and a result of this size."""
        node = self.graph.nodes[place]
        made = max((self._elements(o) for o in node.outputs if o), default=0)
        read = sorted((self._elements(i) for i in node.inputs if i), reverse=True)
        if operator_of(node).kind is Kind.OUTPUT_FUSABLE and len(read) > 1:
            return 2 * isqrt(read[0] * read[1] * made)
        return max([made, *read])

    def _elements(self, name: str) -> int:
        return int(self.inferred.types[name].elements)

    def verdict(self, pattern: Pattern, judge: Judge | None, known: dict[str, Verdict]) -> Verdict:
        """What the judge says of nodes with stages; of others, that they are a kernel."""
        if judge is None or len(pattern.nodes) == 1:
            return Verdict()
        group = Group(nodes=tuple(self.graph.nodes[k] for k in pattern.nodes))
        try:
            fragment = fragment_of(self.graph, group, self.inferred)[0]
        except PolyschedError as error:
            return Verdict(error.problem)
        if not has_stages(fragment):
            return Verdict()
        text = to_text(fragment)
        if text not in known:
            known[text] = judge(fragment)
        return known[text]


def _cover(count: int, patterns: Sequence[Pattern]) -> tuple[list[Pattern], bool]:
    """Patterns that hold every node once, at least cost; whether that is proven."""
    cp_model = cp_sat()
    model = cp_model.CpModel()
    taken = [model.new_bool_var(str(k)) for k in range(len(patterns))]
    of: list[list[int]] = [[] for _ in range(count)]
    for k, pattern in enumerate(patterns):
        for place in pattern.nodes:
            of[place].append(k)
    for own in of:
        model.add_exactly_one(taken[k] for k in own)
    unit = LIMITS.cover_unit_seconds
    model.minimize(sum(max(0, round(p.seconds / unit)) * v for p, v in zip(patterns, taken, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = LIMITS.cover_work
    status = solver.solve(model)
    chosen = [p for p, v in zip(patterns, taken, strict=True) if solver.boolean_value(v)]
    return chosen, status == cp_model.OPTIMAL
