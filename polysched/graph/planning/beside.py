"""Kernels side by side: independent patterns with equal fragments share one parallel region, and its one barrier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil

from polysched.graph.limits import LIMITS
from polysched.graph.planning.patterns import Nodes, Pattern, Patterns, bits_of
from polysched.graph.values.graph import Graph
from polysched.graph.values.text import to_text
from polysched.target.target import Target


def side_by_side(maker: Patterns, patterns: Sequence[Pattern], refusal: Callable[[Graph], str]) -> Iterator[
        tuple[Pattern, str]]:
    """Kernels that may share a parallel region and gain by it, and why they do not; empty where they do.

    Parameters
    ----------
    patterns : kernels of any kinds; those with equal fragments that are independent are tried.
    refusal : why kernels of a fragment are not run by one team; empty where they are.
    """
    by_text: dict[str, tuple[Graph, list[Pattern]]] = {}
    for pattern in sorted(patterns, key=lambda p: p.nodes):
        fragment = maker.kernel(pattern)
        if fragment is not None:
            by_text.setdefault(to_text(fragment), (fragment, []))[1].append(pattern)
    for fragment, equal in by_text.values():
        for chosen in _independent(maker, equal):
            saved = seconds_saved(chosen, maker.target)
            if saved > 0:
                yield Pattern(nodes=tuple(sorted(k for p in chosen for k in p.nodes)),
                              bytes_moved=sum(p.bytes_moved for p in chosen),
                              seconds=sum(p.seconds for p in chosen) - saved,
                              parts=tuple(p.nodes for p in chosen)), refusal(fragment)


def _independent(maker: Patterns, patterns: Sequence[Pattern]) -> Iterator[Sequence[Pattern]]:
    """Patterns none of which needs another, two or more; each is in one list at most."""
    rows: list[list[Pattern]] = []
    for pattern in patterns:
        row = next((r for r in rows if len(r) < LIMITS.most_beside and all(
            are_independent(maker, pattern.nodes, other.nodes) for other in r)), None)
        if row is None:
            rows.append([pattern])
        else:
            row.append(pattern)
    yield from (row for row in rows if len(row) > 1)


def are_independent(maker: Patterns, one: Nodes, other: Nodes) -> bool:
    """Whether two sets of nodes have none in common, and no way leads from one to the other."""
    here, there = bits_of(one), bits_of(other)
    return not (here & there or any(maker.behind[k] & there for k in one) or any(maker.behind[k] & here for k in other))


def seconds_saved(patterns: Sequence[Pattern], target: Target) -> float:
    """What one region saves over a region each.

    A kernel with enough to do for a team is shared by all threads: every barrier but one is saved.  Smaller ones, which
    run without a team, are handed out whole: then the team has to pay for its start.
    """
    team, cores, count = target.team_seconds, target.cores, len(patterns)
    if cores < 2:
        return 0.0
    work = max(0.0, max(p.seconds for p in patterns) - team) * cores
    if work / cores + team < work:
        return (count - 1) * team
    return count * work - (ceil(count / cores) * work + team)
