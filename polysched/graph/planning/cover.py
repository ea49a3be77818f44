"""Covers: patterns that hold every node of a graph once, at least cost, without circles among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import Any

from polysched.graph.limits import LIMITS
from polysched.graph.planning.partition import Beside, Group
from polysched.graph.planning.patterns import Pattern, bits_of
from polysched.graph.values.graph import Graph
from polysched.records import dataclass
from polysched.scheduling.solving.cp_sat import cp_sat, new_model


@dataclass(frozen=True, kw_only=True)
class Cover:
    """Patterns in an order in which every value is made before it is used.

    Parameters
    ----------
    optimal : no other patterns of those given cost less, as is proven.
    work : the solver's, in deterministic seconds.
    """

    patterns: tuple[Pattern, ...]
    optimal: bool
    work: float = 0.0


def cover(graph: Graph, patterns: Sequence[Pattern], *, without: Sequence[Sequence[Pattern]] = ()) -> Cover | None:
    """The cheapest cover; None where all are left out.

    Patterns of several results may need each other in a circle.  Such a circle is found in the cover and forbidden, and
    the graph is covered anew.  Where the solver finds nothing in its time, patterns are taken that save most.

    Parameters
    ----------
    patterns : among them every node alone.
    without : covers that are left out.
    """
    model, taken = _model(graph, patterns)
    places = {p.nodes: k for k, p in enumerate(patterns)}
    for other in without:
        known = [places[p.nodes] for p in other if p.nodes in places]
        model.add(sum(taken[k] for k in known) <= len(other) - 1)
    work = 0.0
    for _ in range(LIMITS.most_circles):
        solver, optimal, own_work = _solved(model)
        work += own_work
        if solver is None:
            break
        chosen = [k for k, v in enumerate(taken) if solver.boolean_value(v)]
        order = in_order(graph, [patterns[k] for k in chosen])
        if not isinstance(order, Circle):
            return Cover(patterns=order, optimal=optimal, work=work)
        model.add(sum(taken[places[p.nodes]] for p in order.patterns) <= len(order.patterns) - 1)
    return None if without else replace(_greedy(graph, patterns), work=work)


def _model(graph: Graph, patterns: Sequence[Pattern]) -> tuple[Any, list[Any]]:
    """Every node is in one pattern that is taken; the cost is the sum of those."""
    model = new_model()
    taken = [model.new_bool_var(str(k)) for k in range(len(patterns))]
    of: list[list[int]] = [[] for _ in graph.nodes]
    for k, pattern in enumerate(patterns):
        for place in pattern.nodes:
            of[place].append(k)
    for own in of:
        model.add_exactly_one(taken[k] for k in own)
    unit = LIMITS.cover_unit_seconds
    model.minimize(sum(max(0, round(p.seconds / unit)) * v for p, v in zip(patterns, taken, strict=True)))
    return model, taken


def _solved(model: Any) -> tuple[Any, bool, float]:
    """The solver behind its work, whether it has the best, and that work; no solver where it has nothing."""
    cp_model = cp_sat()
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = LIMITS.cover_work
    status = solver.solve(model)
    found = solver if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None
    return found, status == cp_model.OPTIMAL, float(solver.response_proto.deterministic_time)


@dataclass(frozen=True)
class Circle:
    """Patterns each of which needs a result of the one before, and the first one of the last."""

    patterns: tuple[Pattern, ...]


def in_order(graph: Graph, patterns: Sequence[Pattern]) -> tuple[Pattern, ...] | Circle:
    """Patterns that hold every node once, each behind what it needs, else as early as its last node; or a circle."""
    needs = _needs(graph, patterns)
    users: list[set[int]] = [set() for _ in patterns]
    for k, own in enumerate(needs):
        for other in own:
            users[other].add(k)
    left = [len(own) for own in needs]
    ready = [(p.nodes[-1], k) for k, p in enumerate(patterns) if not left[k]]
    heapify(ready)
    order: list[int] = []
    while ready:
        k = heappop(ready)[1]
        order.append(k)
        for user in users[k]:
            left[user] -= 1
            if not left[user]:
                heappush(ready, (patterns[user].nodes[-1], user))
    if len(order) == len(patterns):
        return tuple(patterns[k] for k in order)
    return _circle(patterns, needs, set(range(len(patterns))) - set(order))


def _needs(graph: Graph, patterns: Sequence[Pattern]) -> list[set[int]]:
    """The patterns that each needs results of."""
    home = {place: k for k, p in enumerate(patterns) for place in p.nodes}
    made = {o: home[place] for place, n in enumerate(graph.nodes) for o in n.outputs if o}
    needs: list[set[int]] = [set() for _ in patterns]
    for place, node in enumerate(graph.nodes):
        needs[home[place]] |= {made[i] for i in node.used if i in made} - {home[place]}
    return needs


def groups_in_order(graph: Graph, groups: Sequence[Group | Beside]) -> tuple[Group | Beside, ...]:
    """Groups of a graph with the same nodes in another order, each as early as that order lets it be."""
    places = {id(node): place for place, node in enumerate(graph.nodes)}
    patterns = {}
    for group in groups:
        inner = group.groups if isinstance(group, Beside) else (group,)
        nodes = tuple(sorted(places[id(n)] for each in inner for n in each.nodes))
        patterns[nodes] = Pattern(nodes=nodes, bytes_moved=0, seconds=0.0), group
    order = in_order(graph, [pattern for pattern, _ in patterns.values()])
    assert not isinstance(order, Circle)
    return tuple(patterns[p.nodes][1] for p in order)


def _circle(patterns: Sequence[Pattern], needs: Sequence[set[int]], left: set[int]) -> Circle:
    """A circle among patterns each of which needs one of them."""
    way = [min(left)]
    while True:
        following = min(needs[way[-1]] & left)
        if following in way:
            return Circle(tuple(patterns[k] for k in way[way.index(following):]))
        way.append(following)


def _greedy(graph: Graph, patterns: Sequence[Pattern]) -> Cover:
    """Patterns of one result that save most over their nodes alone; they never need each other in a circle."""
    users = {name: {id(u) for u in used} for name, used in graph.users.items()}
    plain = [p for p in patterns if not p.parts and not _is_seen_within(graph, p, users)]
    alone = {p.nodes[0]: p.seconds for p in plain if len(p.nodes) == 1}
    chosen: list[Pattern] = []
    held = 0
    for pattern in sorted(plain, key=lambda p: (p.seconds - sum(alone[k] for k in p.nodes), p.nodes)):
        bits = bits_of(pattern.nodes)
        if not held & bits:
            held |= bits
            chosen.append(pattern)
    order = in_order(graph, chosen)
    assert not isinstance(order, Circle)
    return Cover(patterns=order, optimal=False)


def _is_seen_within(graph: Graph, pattern: Pattern, users: Mapping[str, set[int]]) -> bool:
    """Whether a result of another node than the last is seen from outside."""
    inside = {id(graph.nodes[k]) for k in pattern.nodes}
    return any(o in graph.outputs or users.get(o, set()) - inside
               for k in pattern.nodes[:-1] for o in graph.nodes[k].outputs if o)
