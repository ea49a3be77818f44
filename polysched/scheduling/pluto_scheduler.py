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
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import Active, carrier, equal_parts, member_values, require_legal
from polysched.scheduling.fusion.components import ordered_components
from polysched.scheduling.fusion.fusion import fuse
from polysched.scheduling.fusion.row_fusion import fuse_rows
from polysched.scheduling.index_sets import with_split_index_sets
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.original import original
from polysched.scheduling.schedule import Schedule, SolverReport
from polysched.scheduling.solving.concurrent_start import with_concurrent_start
from polysched.scheduling.solving.integer_program import SolveCount
from polysched.scheduling.solving.kept_rows import Key, Level, domain_of, kept, key
from polysched.scheduling.solving.problem import (
    CONE_OPERATIONS,
    CONE_SECONDS,
    band_values,
    initial_active,
    make_problem,
)
from polysched.scheduling.solving.rows import (
    FEAUTRIER,
    NEGATIVE,
    NON_NEGATIVE,
    UNBOUNDED,
    RowMode,
)
from polysched.scheduling.solving.search import Band, Found, Names, Search, among, find_band, missing_of
from polysched.scheduling.solving.wishes import require_known_names, require_separable, unused_rows
from polysched.scheduling.strategy import Strategy
from polysched.scop.budget import with_budget


def pluto(dependences: Dependences, *, options: SchedulerOptions | None = None) -> Schedule:
    """Find tiling hyperplanes by lexicographic minimisation of dependence distances.

    Raises
    ------
    UsageError : input dependences are asked for and were not analysed.

    Source: Bondhugula et al., PLDI 2008; Pluto+, TOPLAS 2016.
    """
    return _named(dependences, options, algorithm="pluto", modes=(NON_NEGATIVE, NEGATIVE, UNBOUNDED, FEAUTRIER))


def feautrier(dependences: Dependences, *, options: SchedulerOptions | None = None) -> Schedule:
    """Find a schedule of minimal depth of sequential loops: each row carries all dependences that it can.

    Source: Feautrier, "Some efficient solutions to the affine scheduling problem, part II", IJPP 21(6), 1992.
    """
    return _named(dependences, options, algorithm="feautrier", modes=(FEAUTRIER, NON_NEGATIVE, NEGATIVE, UNBOUNDED))


def _named(dependences: Dependences, options: SchedulerOptions | None, *, algorithm: str,
           modes: tuple[RowMode, ...], strategy: Strategy | None = None) -> Schedule:
    """Run the ladder; with split index sets where the options ask for them."""
    options = options or SchedulerOptions()
    schedule = run_ladder(dependences, options, algorithm=algorithm, modes=modes, strategy=strategy)
    if not options.split_index_sets:
        return schedule

    def of_parts(split: Dependences, size: int, parts: Mapping[str, tuple[str, ...]]) -> Schedule:
        return run_ladder(split, replace(options, across_cuts=size), algorithm=algorithm, modes=modes,
                          strategy=None if strategy is None else strategy.for_parts(parts))

    return with_split_index_sets(schedule, of_parts, isl_operations=options.isl_operations)


def by_strategy(dependences: Dependences, strategy: Strategy, *, options: SchedulerOptions | None = None) -> Schedule:
    """Find the schedule that a strategy describes.

    Raises
    ------
    UsageError : the strategy names a statement or an iterator that there is not, or wants what no schedule can have:
        rows that are illegal, every direction forbidden, or statements apart that depend on each other.

    Source: Consolaro et al., PolyTOPS, CGO 2024.
    """
    require_known_names(dependences.scop, strategy)
    options = options or SchedulerOptions()
    if strategy.fusion is not None:
        options = replace(options, fusion=strategy.fusion)
    return _named(dependences, options, algorithm="strategy", strategy=strategy,
                  modes=(NON_NEGATIVE, NEGATIVE, UNBOUNDED, FEAUTRIER))


def run_ladder(dependences: Dependences, options: SchedulerOptions, *, algorithm: str,
               modes: tuple[RowMode, ...], strategy: Strategy | None = None) -> Schedule:
    """Schedule all statements; the modes are tried in order wherever a row is wanted."""
    started = time.perf_counter()
    count, rungs = SolveCount(), dict[str, None]()
    searches: list[Search] = []
    levels: dict[Key, Level] = {}

    def compute() -> isl.Schedule:
        problem = make_problem(dependences, input_dependences=options.input_dependences, weighed=strategy is not None)
        search = Search(problem=problem, options=options, modes=modes, count=count, rungs=rungs,
                        strategy=strategy or Strategy())
        searches.append(search)
        names = tuple(problem.spaces)
        tree = _schedule_below(search, names, initial_active(problem), dict.fromkeys(names, ()), levels)
        if problem.cone_count.simplified:
            search.note(f"supersets of {problem.cone_count.simplified} relations of dependences: their cones ran out "
                        f"of {CONE_OPERATIONS} isl operations or {CONE_SECONDS:g} s in all")
        for unused in unused_rows(search.strategy, search.dimensions):
            search.note(unused)
        require_legal(dependences, tree, what=f"{algorithm} schedule")
        return tree

    tree = with_budget(options.isl_operations, compute, seconds=options.seconds)
    if tree is None:
        part = kept(searches[0], levels) if searches else None
        reason = f"isl ran out of {options.isl_budget}"
        rungs = dict.fromkeys((*rungs, f"as written: {reason}" if part is None else f"{reason}: {part[1]}"))
        tree = original(dependences, options=options).tree if part is None else part[0]
    report = SolverReport(rungs=(*dependences.fallbacks, *rungs), variables=count.variables, rows=count.rows,
                          solves=count.solves, solver_seconds=count.seconds,
                          total_seconds=time.perf_counter() - started)
    return Schedule(dependences=dependences, tree=tree, algorithm=algorithm, report=report)


def _schedule_below(search: Search, names: Names, active: list[Active], found: Found, levels: dict[Key, Level]
                    ) -> isl.Schedule:
    """The subtree for some statements, given the rows above it and what these leave active.

    What is found is noted in `levels` at once, for when the budget runs out.
    """
    scop = search.problem.scop
    if not names:
        return isl.Schedule.from_domain(domain_of(scop, ()))
    order = [(a.dependence.source, a.dependence.sink) for a in active]
    if not any(found.values()):
        order += _together(search.strategy)
    components = tuple(ordered_components(names, order))
    if not any(found.values()):
        require_separable(scop, search.strategy, components, order)
    level = levels[key(names, found)] = Level(components=components)
    for component in components:
        inside = among(active, component)
        complete = all(not missing_of(search, n, found) for n in component)
        level.bands.append(None if complete else find_band(search, (component,), inside, found))
    groups = fuse(search, level.known(), active, found)
    if search.options.fusion in ("smart", "cost"):
        groups = fuse_rows(search, groups, active, found)
    level.groups = groups
    children = []
    for members, band in groups:
        inside = among(active, tuple(n for c in members for n in c))
        children.append(_schedule_group(search, members, band, inside, found, levels))
    return _join(children, [tuple(n for c in members for n in c) for members, _ in groups], active)


def _schedule_group(search: Search, members: tuple[Names, ...], band: Band | None, active: list[Active],
                    found: Found, levels: dict[Key, Level]) -> isl.Schedule:
    """One group: its band, and below it what the band leaves active."""
    names = tuple(n for s in search.problem.spaces for n in (s,) if any(n in c for c in members))
    if band is None:
        if not active:
            return isl.Schedule.from_domain(domain_of(search.problem.scop, names))
        search.note(f"as written for {', '.join(names)}: no row orders what is left")
        return search.problem.scop.schedule.intersect_domain(domain_of(search.problem.scop, names))
    band = with_concurrent_start(search, band, active)
    values = band_values(search.problem, [row.of for row in band.rows])
    members_values = [member_values(values, i) for i in range(len(band.rows))]
    remaining = active
    for member in members_values:
        remaining = equal_parts(remaining, member)
    below = {n: (*found[n], *(row.of[n].iterators for row in band.rows)) for n in names}
    for n in names:
        search.dimensions.setdefault(n, set()).update(range(len(found[n]), len(below[n])))
    subtree = _schedule_below(search, names, remaining, {**found, **below}, levels)
    node = subtree.insert_partial_schedule(values).get_root().child(0).band_set_permutable(1)
    for position, member in enumerate(members_values):
        node = node.band_member_set_coincident(position, int(carrier(active, member) is None))
    return node.get_schedule()


def _together(strategy: Strategy) -> list[tuple[str, str]]:
    """Edges both ways between statements that shall share a band: one component then."""
    pairs = [pair for group in strategy.together for pair in pairwise(group)]
    return pairs + [(b, a) for a, b in pairs]


def _join(children: list[isl.Schedule], names: list[Names], active: list[Active]) -> isl.Schedule:
    """Put subtrees one after the other; into a set when nothing orders them."""
    place = {n: i for i, group in enumerate(names) for n in group}
    ordered = any(place[a.dependence.source] != place[a.dependence.sink] for a in active
                  if a.dependence.source in place and a.dependence.sink in place)
    tree = children[0]
    for child in children[1:]:
        tree = tree.sequence(child) if ordered else tree.set(child)
    return tree
