"""Pluto's algorithm over our own integer programs, with the ladder for what it cannot do.

The statements are cut into strongly connected components; a fusion policy groups them; each group gets a
band of permutable rows, as deep as rows are found; the dependences that the band carries are dropped and
the rest is scheduled below it in the same way.  When a component has no row at all the ladder goes on:
negative coefficients and parametric shifts, no bound on the distances, Feautrier's row, the order as written.

Source: Bondhugula et al., PLDI 2008, section 4; Pluto+, TOPLAS 2016; the fusion of whole bands follows
Verdoolaege and Janssens, "Scheduling for PPCG", report CW 706, 2017, section 3.3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import Active, carrier, check_legal, equal_parts, member_values
from polysched.scheduling.components import ordered_components
from polysched.scheduling.integer_program import OutOfBudget, SolveCount
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.problem import Problem, band_values, initial_active, make_problem
from polysched.scheduling.rows import (
    FEAUTRIER,
    NEGATIVE,
    NON_NEGATIVE,
    REVERSING,
    UNBOUNDED,
    Edge,
    Group,
    Row,
    RowMode,
    find_row,
    missing_directions,
)
from polysched.scheduling.schedule import Schedule, SolverReport

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
    count: SolveCount = field(default_factory=SolveCount)
    rungs: dict[str, None] = field(default_factory=dict)
    edge_cache: dict[int, tuple[Active, tuple[Edge, ...]]] = field(default_factory=dict)

    def note(self, rung: str) -> None:
        """Remember a rung of the ladder once."""
        self.rungs[rung] = None

    def edges(self, active: list[Active]) -> tuple[Edge, ...]:
        """Edges of the active dependences, each computed once."""
        found: dict[Edge, None] = {}
        for part in active:
            if id(part) not in self.edge_cache:
                self.edge_cache[id(part)] = (part, self.problem.edges([part]))
            found.update(dict.fromkeys(self.edge_cache[id(part)][1]))
        return tuple(found)


def pluto(dependences: Dependences, *, options: SchedulerOptions | None = None) -> Schedule:
    """Find tiling hyperplanes by lexicographic minimisation of dependence distances.

    Raises
    ------
    UsageError : input dependences are asked for and were not analysed.

    Source: Bondhugula et al., PLDI 2008; Pluto+, TOPLAS 2016.
    """
    return run_ladder(dependences, options or SchedulerOptions(), algorithm="pluto",
                      modes=(NON_NEGATIVE, NEGATIVE, UNBOUNDED, FEAUTRIER))


def feautrier(dependences: Dependences, *, options: SchedulerOptions | None = None) -> Schedule:
    """Find a schedule of minimal depth of sequential loops: each row carries all dependences that it can.

    Source: Feautrier, "Some efficient solutions to the affine scheduling problem, part II", IJPP 21(6), 1992.
    """
    return run_ladder(dependences, options or SchedulerOptions(), algorithm="feautrier",
                      modes=(FEAUTRIER, NON_NEGATIVE, NEGATIVE, UNBOUNDED))


def run_ladder(dependences: Dependences, options: SchedulerOptions, *, algorithm: str,
               modes: tuple[RowMode, ...]) -> Schedule:
    """Schedule all statements; the modes are tried in order wherever a row is wanted."""
    started = time.perf_counter()
    problem = make_problem(dependences, input_dependences=options.input_dependences)
    search = Search(problem=problem, options=options, modes=modes)
    names = tuple(problem.spaces)
    tree = _schedule_below(search, names, initial_active(problem), dict.fromkeys(names, ()))
    check_legal(dependences, tree, what=f"{algorithm} schedule")
    report = SolverReport(rungs=tuple(search.rungs), variables=search.count.variables, rows=search.count.rows,
                          solves=search.count.solves, solver_seconds=search.count.seconds,
                          total_seconds=time.perf_counter() - started)
    return Schedule(dependences=dependences, tree=tree, algorithm=algorithm, report=report)


def _schedule_below(search: Search, names: Names, active: list[Active], found: Found) -> isl.Schedule:
    """The subtree for some statements, given the rows above it and what these leave active."""
    components = tuple(ordered_components(names, [(a.dependence.source, a.dependence.sink) for a in active]))
    groups: list[tuple[tuple[Names, ...], Band | None]] = []
    for component in components:
        inside = _among(active, component)
        if all(not _missing(search, n, found) for n in component):
            groups.append(((component,), None))
            continue
        groups.append(((component,), find_band(search, (component,), inside, found)))
    groups = _fuse(search, groups, active, found)
    children = []
    for members, band in groups:
        inside = _among(active, tuple(n for c in members for n in c))
        children.append(_schedule_group(search, members, band, inside, found))
    return _join(children, [tuple(n for c in members for n in c) for members, _ in groups], active)


def _schedule_group(search: Search, members: tuple[Names, ...], band: Band | None, active: list[Active],
                    found: Found) -> isl.Schedule:
    """One group: its band, and below it what the band leaves active."""
    names = tuple(n for s in search.problem.spaces for n in (s,) if any(n in c for c in members))
    if band is None:
        if not active:
            return isl.Schedule.from_domain(_domain(search, names))
        search.note(f"as written for {', '.join(names)}: no row orders what is left")
        return search.problem.scop.schedule.intersect_domain(_domain(search, names))
    values = band_values(search.problem, [row.of for row in band.rows])
    members_values = [member_values(values, i) for i in range(len(band.rows))]
    remaining = active
    for member in members_values:
        remaining = equal_parts(remaining, member)
    below = {n: (*found[n], *(row.of[n].iterators for row in band.rows)) for n in names}
    subtree = _schedule_below(search, names, remaining, {**found, **below})
    node = subtree.insert_partial_schedule(values).get_root().child(0).band_set_permutable(1)
    for position, member in enumerate(members_values):
        node = node.band_member_set_coincident(position, int(carrier(active, member) is None))
    return node.get_schedule()


def find_band(search: Search, components: tuple[Names, ...], active: list[Active], found: Found,
              *, accept: Callable[[Row], bool] = lambda _: True) -> Band | None:
    """Rows for a group until every statement has full rank or no further row fits the band."""
    names = tuple(n for n in search.problem.spaces if any(n in c for c in components))
    edges = search.edges(active) + search.problem.edges(_among(list(search.problem.inputs), names))
    rows: list[Row] = []
    while True:
        have = {n: (*found[n], *(r.of[n].iterators for r in rows)) for n in names}
        if all(not _missing(search, n, have) for n in names):
            break
        group = Group(statements=tuple(search.problem.spaces[n] for n in names), components=components,
                      edges=edges, found=have)
        row, mode = _next_row(search, group, first=not rows)
        if row is None or mode is None or not accept(row):
            break
        rows.append(row)
        if mode.carry:
            break
    return Band(components=components, rows=tuple(rows)) if rows else None


def _next_row(search: Search, group: Group, *, first: bool) -> tuple[Row | None, RowMode | None]:
    """The next row of a band by the first mode that has one.

    Rows after the first come by the modes that bound distances only, and so do rows for several components.
    Those may be shifted by parameters only for maximal fusion: one loop after the other under one loop of
    twice the length is no fusion that anybody wants.
    """
    several = len(group.components) > 1
    modes = search.modes
    if several and search.options.fusion != "max":
        modes = (NON_NEGATIVE, REVERSING)
    if not group.edges:
        modes = tuple(m for m in modes if not m.carry)   # nothing to carry: every row is parallel
    for position, mode in enumerate(modes):
        if (several or not first) and (mode.carry or not mode.bounded):
            continue
        outcome = find_row(group, mode, search.options, search.count)
        if isinstance(outcome, Row):
            if position and (not several or search.options.fusion == "max"):
                names = ", ".join(s.name for s in group.statements)
                search.note(f"{mode.name} for {names}: {modes[0].name} gave no row")
            return outcome, mode
        if isinstance(outcome, OutOfBudget):
            search.note(f"{mode.name} ran out of {outcome.deterministic_seconds} solver seconds")
    return None, None


def _fuse(search: Search, groups: list[tuple[tuple[Names, ...], Band | None]], active: list[Active], found: Found
          ) -> list[tuple[tuple[Names, ...], Band | None]]:
    """Apply the fusion policy to components in topological order.

    A component may join the last group that it depends on: everything that it depends on runs no later.
    """
    policy = search.options.fusion
    if policy == "none" or len(groups) < 2:
        return groups
    fused: list[tuple[tuple[Names, ...], Band | None]] = []
    place: dict[str, int] = {}
    for members, band in groups:
        names = {n for c in members for n in c}
        before = [place[a.dependence.source] for a in active
                  if a.dependence.sink in names and a.dependence.source not in names]
        target = max(before, default=None)
        joined = None
        if target is not None and band is not None and fused[target][1] is not None:
            joined = _fused_band(search, fused[target][1], band, active, found)
        if joined is not None and target is not None:
            fused[target] = (joined.components, joined)
        else:
            target = len(fused)
            fused.append((members, band))
        place.update(dict.fromkeys(names, target))
    return fused


def _fused_band(search: Search, first: Band | None, second: Band, active: list[Active], found: Found) -> Band | None:
    """The band of two groups together, if the policy accepts it."""
    if first is None:
        return None
    policy = search.options.fusion
    if policy != "max" and _depth(search, first, found) != _depth(search, second, found):
        return None
    if policy != "max" and len(first.rows) != len(second.rows):
        return None

    def cheap(row: Row) -> bool:
        u, w = row.costs[-1]
        return policy == "max" or (u == 0 and w <= search.options.max_shift)

    components = (*first.components, *second.components)
    names = tuple(n for c in components for n in c)
    band = find_band(search, components, _among(active, names), found, accept=cheap)
    if band is None or policy == "max":
        return band
    if len(band.rows) != len(first.rows) or _own_cost(band) > _own_cost(first) + _own_cost(second):
        return None
    kept = _parallel_rows(band)
    if policy == "typed":
        return band if kept >= min(_parallel_rows(first), _parallel_rows(second)) else None
    return band if kept or not (_parallel_rows(first) and _parallel_rows(second)) else None


def _own_cost(band: Band) -> int:
    """What the distances inside components cost, over all rows."""
    return sum(u + w for row in band.rows for u, w in row.costs[:-1])


def _parallel_rows(band: Band) -> int:
    return sum(all(u == w == 0 for u, w in row.costs) for row in band.rows)


def _depth(search: Search, band: Band, found: Found) -> int:
    return max(len(_missing(search, n, found)) for n in band.names)


def _missing(search: Search, name: str, found: Found) -> tuple[tuple[int, ...], ...]:
    return missing_directions(search.problem.spaces[name], found[name])


def _among(active: list[Active], names: Names) -> list[Active]:
    chosen = set(names)
    return [a for a in active if a.dependence.source in chosen and a.dependence.sink in chosen]


def _domain(search: Search, names: Names) -> isl.UnionSet:
    domain = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
    for name in names:
        domain = domain.union(isl.UnionSet.from_set(search.problem.scop.statement(name).domain))
    return domain


def _join(children: list[isl.Schedule], names: list[Names], active: list[Active]) -> isl.Schedule:
    """Put subtrees one after the other; into a set when nothing orders them."""
    place = {n: i for i, group in enumerate(names) for n in group}
    ordered = any(place[a.dependence.source] != place[a.dependence.sink] for a in active
                  if a.dependence.source in place and a.dependence.sink in place)
    tree = children[0]
    for child in children[1:]:
        tree = tree.sequence(child) if ordered else tree.set(child)
    return tree

