"""Fusion plan: which nodes become one kernel, and which kernels share a parallel region, chosen by cost.

    found = fusion_plan(graph, target)       # groups, bytes saved, why not more
    several = fusion_plans(graph, target)    # the best few, to be measured

Patterns grow along a topological order (`patterns`); the best few per node are kept.  The cost is the speed of light:
bytes over bandwidth, operations over peak, a team's start.  CP-SAT covers every node once at least cost, without
circles (`cover`).  A pattern whose stages do not become one loop over tiles is refused with the reason, one whose tiles
take longer gets that cost, and the cover is found anew.  Then independent patterns with equal fragments are tried side
by side in one parallel region (`beside`), which is one more pattern that costs fewer barriers.

Source: Z. Zheng et al., "FusionStitching", arXiv 2009.10924, section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from polysched.errors import PolyschedError
from polysched.graph.evaluation.inference import infer
from polysched.graph.limits import LIMITS
from polysched.graph.operators.registry import operator_of
from polysched.graph.planning.beside import side_by_side
from polysched.graph.planning.cover import cover
from polysched.graph.planning.expressions import has_stages
from polysched.graph.planning.partition import Beside, Group, partition
from polysched.graph.planning.patterns import Nodes, Pattern, Patterns
from polysched.graph.values.graph import Graph
from polysched.graph.values.text import to_text
from polysched.records import dataclass
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


Judge = Callable[[Graph, Mapping[str, int]], Verdict]
"""Of a fragment, and values of its open sizes for which its time counts."""
Refusal = Callable[[Graph], str]


@dataclass(frozen=True, eq=False, kw_only=True)
class FusionPlan:
    """The kernels of a graph.

    Parameters
    ----------
    groups : in an order in which every value is made before it is used.
    seconds : at the speed of light, all together.
    bytes_moved : operands and results of all kernels.
    bytes_compulsory : inputs and outputs of the graph.
    bytes_apart : the same with the greedy rule for elementwise producers alone.
    refused : patterns that were cheaper, by their nodes, and why not.
    optimal : the cover is proven the cheapest of the patterns, none of which was left out.
    """

    groups: tuple[Group | Beside, ...]
    seconds: float
    bytes_moved: int
    bytes_apart: int
    bytes_compulsory: int
    refused: tuple[tuple[str, str], ...] = ()
    optimal: bool = True

    @property
    def kernels(self) -> tuple[Group | Beside, ...]:
        """What runs something between two barriers; a view does not, and groups side by side are one."""
        return tuple(g for g in self.groups if isinstance(g, Beside) or not operator_of(g.last).view)

    def __str__(self) -> str:
        lines = [f"{len(self.kernels)} kernels, {self.bytes_moved} bytes, {self.bytes_apart - self.bytes_moved} fewer "
                 f"than with elementwise fusion alone, {self.seconds:.2e} s at the speed of light"]
        lines += [f"  {_operators(group)}" for group in self.kernels]
        return "\n".join(lines + [f"  not {nodes}: {reason}" for nodes, reason in self.refused])


def _operators(group: Group | Beside) -> str:
    if isinstance(group, Beside):
        return f"{len(group.groups)} side by side: {_operators(group.groups[0])}"
    return " ".join(n.op for n in group.nodes)


def fusion_plan(graph: Graph, target: Target | None = None, *, judge: Judge | None = None,
                refusal: Refusal | None = None, patterns: bool = True,
                judged: int = LIMITS.most_judged, sizes: Mapping[str, int] | None = None) -> FusionPlan:
    """The cheapest cover of a graph by patterns.

    Parameters
    ----------
    graph : with types.
    judge : what decides whether several stages are one kernel; without one, all are taken.
    refusal : why kernels of a fragment do not share a parallel region, or nothing; without it, all do.
    patterns : grow some; else the plan is that of elementwise producers alone.
    judged : how many patterns at most; then the plan is of those that were.
    sizes : for which costs are counted; where another one is open, elementwise producers alone are fused.
    """
    return fusion_plans(graph, target, judge=judge, refusal=refusal, patterns=patterns, judged=judged, count=1,
                        sizes=sizes)[0]


def fusion_plans(graph: Graph, target: Target | None = None, *, judge: Judge | None = None,
                 refusal: Refusal | None = None, patterns: bool = True, judged: int = LIMITS.most_judged,
                 count: int = LIMITS.most_plans, sizes: Mapping[str, int] | None = None) -> tuple[FusionPlan, ...]:
    """The cheapest covers, the best first; with several, the last one is that of elementwise producers alone.

    Parameters
    ----------
    graph, judge, refusal, patterns, judged, sizes : see `fusion_plan`.
    count : how many at most.
    """
    inferred = infer(graph)
    greedy = partition(graph, inferred)
    if not (sizes or {}).keys() >= set(graph.symbols):
        return (FusionPlan(groups=greedy, seconds=0.0, bytes_moved=0, bytes_apart=0, bytes_compulsory=0),)
    maker = Patterns(graph, inferred, target or host(), sizes or {})
    apart = [maker.pattern(tuple(sorted(maker.places[id(n)] for n in g.nodes))) for g in greedy]
    bytes_apart = sum(p.bytes_moved for p in apart)

    def made(chosen: Sequence[Pattern], optimal: bool, refused: tuple[tuple[str, str], ...]) -> FusionPlan:
        return FusionPlan(groups=tuple(map(maker.group, chosen)), bytes_compulsory=maker.compulsory,
                          seconds=sum(p.seconds for p in chosen), bytes_apart=bytes_apart, optimal=optimal,
                          bytes_moved=sum(p.bytes_moved for p in chosen), refused=refused)

    if not patterns:
        return (made(apart, True, ()),)
    alone = [maker.pattern((place,)) for place in range(len(graph.nodes))]
    first = {p.nodes: p for p in (*alone, *apart)}
    search = _Search(maker, judge, refusal, judged, first, {**first, **{p.nodes: p for p in maker.all()}})
    return tuple(made(chosen, optimal, search.reasons()) for chosen, optimal in search.best(apart, count))


def seconds_of(graph: Graph, groups: Iterable[Sequence[int]], target: Target | None = None, *,
               sizes: Mapping[str, int] | None = None) -> float:
    """What other groups of a graph's nodes cost at the speed of light.

    Parameters
    ----------
    graph : with types.
    groups : places of nodes.
    sizes : of the graph that are open.
    """
    maker = Patterns(graph, infer(graph), target or host(), sizes or {})
    return sum(maker.pattern(tuple(sorted(nodes))).seconds for nodes in groups)


@dataclass(eq=False)
class _Search:
    """Covers a graph again and again, until every pattern of the cover was judged.

    Parameters
    ----------
    first : patterns that are kernels whatever a judge says.
    is_whole : every pattern stayed a candidate until it was judged.
    """

    maker: Patterns
    judge: Judge | None
    refusal: Refusal | None
    most_judged: int
    first: dict[Nodes, Pattern]
    candidates: dict[Nodes, Pattern]
    optimal: bool = True
    is_whole: bool = True
    work: float = 0.0

    def __post_init__(self) -> None:
        self.known: dict[str, Verdict] = {}
        self.shared: dict[str, str] = {}
        self.refused: dict[Nodes, str] = {}
        self.judged: set[Nodes] = set()
        self.beside: set[Nodes] = set()

    def best(self, apart: Sequence[Pattern], count: int) -> list[tuple[Sequence[Pattern], bool]]:
        """The cheapest covers, the best first, and whether each is proven the cheapest.

        Parameters
        ----------
        apart : the cover of the greedy rule, which is the last of several.
        """
        cheapest = self.settled()
        assert cheapest is not None
        optimal, covers = self.optimal, [cheapest]
        while len(covers) < count - 1 and (other := self.settled(without=covers)):
            covers.append(other)
        greedy = {p.nodes for p in apart}
        more = [(apart, False)] if count > 1 and all({p.nodes for p in c} != greedy for c in covers) else []
        return [*((chosen, optimal and chosen is cheapest) for chosen in covers), *more]

    def settled(self, *, without: Sequence[Sequence[Pattern]] = ()) -> tuple[Pattern, ...] | None:
        """The patterns of the last cover; None where all are left out.

        Parameters
        ----------
        without : covers that are left out.
        """
        while True:
            self.narrow()
            found = cover(self.maker.graph, list(self.candidates.values()), without=without)
            if found is None:
                return None
            self.optimal, self.work = found.optimal and self.is_whole, self.work + found.work
            asked = [p for p in found.patterns if p.nodes not in self.judged]
            for pattern in asked:
                self.take(pattern, self.verdict(pattern))
            if not asked and not self.widened(found.patterns):
                for pattern in found.patterns if not without else ():
                    self.refused.pop(pattern.nodes, None)
                return found.patterns

    def narrow(self) -> None:
        """Leave out what was not judged, once that was enough work."""
        if self.is_out_of_work or len(self.judged - set(self.first) - self.beside) >= self.most_judged:
            left = {*self.first, *self.judged, *self.beside}
            self.is_whole = self.is_whole and self.candidates.keys() <= left
            self.candidates = {nodes: p for nodes, p in self.candidates.items() if nodes in left}

    @property
    def is_out_of_work(self) -> bool:
        """Whether the solver has worked on covers as long as it may."""
        return self.work > LIMITS.cover_work_in_all

    def widened(self, chosen: Sequence[Pattern]) -> bool:
        """Try patterns of a cover, and those of the greedy rule, side by side; whether there are new candidates.

        The sizes of kernels that share a region are known.
        """
        new = False
        if self.maker.graph.symbols:
            return new
        whole = {p.nodes: p for p in (*self.first.values(), *chosen)}
        for tried in (list(chosen), list(whole.values())):
            for pattern, reason in side_by_side(self.maker, tried, self.why_apart):
                if pattern.nodes not in self.beside:
                    self.beside.add(pattern.nodes)
                    self.judged.add(pattern.nodes)
                    self.refused[pattern.nodes] = reason or "another cover costs less"
                    if not reason:
                        self.candidates[pattern.nodes] = pattern
                        new = True
        return new

    def why_apart(self, fragment: Graph) -> str:
        """Why kernels of a fragment do not share a region."""
        text = to_text(fragment)
        if text not in self.shared:
            self.shared[text] = "" if self.refusal is None else self.refusal(fragment)
        return self.shared[text]

    def verdict(self, pattern: Pattern) -> Verdict:
        """What the judge says of nodes with stages; of others, that they are a kernel."""
        if self.judge is None or len(pattern.nodes) == 1:
            return Verdict()
        try:
            fragment, sizes = self.maker.counted(pattern.nodes)
        except PolyschedError as error:
            return Verdict(error.problem)
        if not has_stages(fragment):
            return Verdict()
        text = f"{to_text(fragment)} {sorted(sizes.items())}"
        if text not in self.known:
            self.known[text] = self.judge(fragment, sizes)
        return self.known[text]

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
        left_out = () if self.is_whole or not self.is_out_of_work else (
            ("further patterns", "the solver's work on covers has reached its limit"),)
        return (*((" ".join(nodes[k].op for k in places), why) for places, why in self.refused.items()), *left_out)
