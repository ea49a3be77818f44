"""The search for bands: rows one after the other, each by the first rung of the ladder that has one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeAlias

from polysched.dependence.legality import Active
from polysched.records import dataclass
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.solving.integer_program import OutOfBudget, SolveCount
from polysched.scheduling.solving.problem import Problem
from polysched.scheduling.solving.rows import (
    FEAUTRIER,
    NON_NEGATIVE,
    REVERSING,
    Edge,
    Group,
    Row,
    RowMode,
    StatementRow,
    find_row,
    missing_directions,
)
from polysched.scheduling.solving.wishes import refuse_rows
from polysched.scheduling.strategy import Strategy
from polysched.scop.budget import require_budget

Names: TypeAlias = tuple[str, ...]
Found: TypeAlias = Mapping[str, tuple[tuple[int, ...], ...]]


@dataclass(frozen=True, kw_only=True)
class Band:
    """Rows that are permutable with each other, for a group of components."""

    components: tuple[Names, ...]
    rows: tuple[Row, ...]

    @property
    def names(self) -> Names:
        return tuple(n for c in self.components for n in c)


@dataclass(eq=False, kw_only=True)
class Search:
    """One run of the scheduler: the problem, the options, and what is counted and reported."""

    problem: Problem
    options: SchedulerOptions
    modes: tuple[RowMode, ...]
    strategy: Strategy = field(default_factory=Strategy)
    count: SolveCount = field(default_factory=SolveCount)
    rungs: dict[str, None] = field(default_factory=dict)
    dimensions: dict[str, set[int]] = field(default_factory=dict)
    edge_cache: dict[int, tuple[Active, tuple[Edge, ...]]] = field(default_factory=dict)

    def note(self, rung: str) -> None:
        """Remember a rung of the ladder once."""
        self.rungs[rung] = None

    def edges(self, active: list[Active]) -> tuple[Edge, ...]:
        """Edges of the active dependences, each computed once; isl's error when its budget is spent meanwhile."""
        found: dict[Edge, None] = {}
        for part in active:
            if id(part) not in self.edge_cache:
                self.edge_cache[id(part)] = (part, self.problem.edges([part]))
            found.update(dict.fromkeys(self.edge_cache[id(part)][1]))
        require_budget()
        return tuple(found)

    def apart(self, first: Names, second: Names) -> bool:
        """Whether the strategy keeps a statement of one group from one of the other."""
        return any(set(apart) & set(first) and set(apart) & set(second) for apart in self.strategy.apart)

    def group(self, names: Names, components: tuple[Names, ...], edges: tuple[Edge, ...], have: Found,
              fixed: Mapping[str, StatementRow] | None = None, above: tuple[Row, ...] = ()) -> Group:
        """The statements that get their next row together."""
        return Group(statements=tuple(self.problem.spaces[n] for n in names), components=components, edges=edges,
                     found=have, fixed=fixed or {}, above=above, strategy=self.strategy,
                     depth=max(len(have[n]) for n in names))


def find_band(search: Search, components: tuple[Names, ...], active: list[Active], found: Found,
              *, accept: Callable[[Row], bool] = lambda _: True) -> Band | None:
    """Rows for a group until every statement has full rank or no further row fits the band."""
    names = tuple(n for n in search.problem.spaces if any(n in c for c in components))
    edges = search.edges(active) + search.problem.edges(among(list(search.problem.inputs), names))
    rows: list[Row] = []
    while True:
        have = {n: (*found[n], *(r.of[n].iterators for r in rows)) for n in names}
        if all(not missing_of(search, n, have) for n in names):
            break
        group = search.group(names, components, edges, have, above=tuple(rows))
        row, mode = _next_row(search, group, active, first=not rows)
        if row is None or mode is None or not accept(row):
            break
        rows.append(row)
        if mode.carry:
            break
    return Band(components=components, rows=tuple(rows)) if rows else None


def _modes(search: Search, group: Group) -> tuple[RowMode, ...]:
    """The modes in which a row is looked for, in order."""
    modes = search.modes
    if "feautrier" in search.strategy.at(group.depth).cost and FEAUTRIER not in modes[:1]:
        modes = (FEAUTRIER, *(m for m in modes if m != FEAUTRIER))
    if len(group.components) > 1 and search.options.fusion != "max":
        modes = (NON_NEGATIVE, REVERSING)
    if not group.edges:
        modes = tuple(m for m in modes if not m.carry)   # nothing to carry: every row is parallel
    return modes


def _next_row(search: Search, group: Group, active: list[Active], *, first: bool) -> tuple[Row | None, RowMode | None]:
    """The next row of a band by the first mode that has one.

    Rows after the first come by the modes that bound distances only, and so do rows for several components.
    Those may be shifted by parameters only for maximal fusion: one loop after the other under one loop of
    twice the length is no fusion that anybody wants.
    """
    several = len(group.components) > 1
    modes, decided = _modes(search, group), True
    for mode in modes:
        if (several or not first) and (mode.carry or not mode.bounded):
            continue
        outcome = find_row(group, mode, search.options, search.count)
        if isinstance(outcome, Row):
            if mode is not modes[0] and (not several or search.options.fusion == "max"):
                names = ", ".join(s.name for s in group.statements)
                search.note(f"{mode.name} for {names}: {modes[0].name} gave no row")
            return outcome, mode
        if isinstance(outcome, OutOfBudget):
            search.note(f"{mode.name} ran out of {outcome}")
            decided = False
    if group.wishes and first and not several and decided:
        refuse_rows(search.problem, group, active)
    return None, None


def missing_of(search: Search, name: str, found: Found) -> tuple[tuple[int, ...], ...]:
    return missing_directions(search.problem.spaces[name], found[name])


def among(active: list[Active], names: Names) -> list[Active]:
    chosen = set(names)
    return [a for a in active if a.dependence.source in chosen and a.dependence.sink in chosen]
