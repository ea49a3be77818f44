"""`map_to_scratchpad`: dependences at known sizes -> ScratchpadMapping, judged by them before it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import check_legal
from polysched.errors import UnsupportedScopError
from polysched.gpu.bands import host_tree
from polysched.gpu.mapping import HostLoop, HostNode, HostSequence, Launch, launches
from polysched.gpu.options import GpuOptions
from polysched.gpu.scratchpad.choice import Chooser, PlacedGroup
from polysched.gpu.scratchpad.groups import joined, partitions, runs_of
from polysched.gpu.scratchpad.mapping import ScratchpadMapping
from polysched.gpu.scratchpad.options import ScratchpadOptions
from polysched.gpu.scratchpad.plan import GroupPlan
from polysched.scheduling.marks import LoopMark
from polysched.scheduling.original import original
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import multi_union_pw_aff
from polysched.scheduling.tree.promises import check_promises
from polysched.scop.points import isl_value
from polysched.scop.scop import Scop
from polysched.target.scratchpads.description import ScratchpadTarget
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.match import match
from polysched.tensorize.registry import find_intrinsic


def map_to_scratchpad(dependences: Dependences, target: ScratchpadTarget, sizes: Mapping[str, int], *,
                      options: ScratchpadOptions | None = None) -> ScratchpadMapping:
    """Map a program of known sizes to an accelerator: tiles, moves, buffers and their places.

    Parameters
    ----------
    dependences : of the program as `at_sizes` makes it.
    sizes : of its parameters.

    Raises
    ------
    UnsupportedScopError : subscripts that depend on data; an array that has no end; buffers that do not fit.
    BudgetExceededError : a packing, or the simulation, exceeds its limit.
    """
    options = options or ScratchpadOptions()
    _refuse_unknown(dependences.scop)
    schedule = original(dependences)
    builder = _Builder(chooser_of(dependences, target, sizes, options))
    host = builder.node(host_tree(schedule, GpuOptions()))
    tree = _tree(schedule, host, builder.groups)
    check_legal(dependences, tree, what=f"mapping to {target.name}")
    check_promises(dependences, tree, what=f"mapping to {target.name}")
    ordered = {launch.name: builder.groups[launch.name] for launch in launches(host)}
    return ScratchpadMapping(target=target, sizes=dict(sizes), schedule=schedule, host=host, groups=ordered, tree=tree,
                             double_buffering=options.double_buffering)


def chooser_of(dependences: Dependences, target: ScratchpadTarget, sizes: Mapping[str, int],
               options: ScratchpadOptions) -> Chooser:
    """What decides tiles for a program."""
    return Chooser(dependences=dependences, target=target, sizes=sizes, options=options,
                   matches=_matches(dependences, target, sizes), names=_names(dependences.scop))


def _names(scop: Scop) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names that no program has, for loops of the host and for coordinates."""
    depth = max((statement.depth for statement in scop.statements), default=0) + 1
    return (tuple(f"polysched_host{k}" for k in range(depth)), tuple(f"polysched_tile{k}" for k in range(depth)))


def _refuse_unknown(scop: Scop) -> None:
    """Refuse what no box holds.

    Raises
    ------
    UnsupportedScopError : with the array.
    """
    for statement in scop.statements:
        for access in statement.accesses:
            array = scop.array(access.array)
            where = f"{scop.name}, line {statement.line}"
            if not access.exact:
                raise UnsupportedScopError(f"which elements of {array.name} are used depends on data", where=where,
                                           hint="buffers are filled with boxes that are known beforehand")
            if len(access.subscripts) != len(array.extents):
                raise UnsupportedScopError(f"{array.name} is used with another number of subscripts than it has",
                                           where=where, hint="declare its shape: float A[n][m]")


def _matches(dependences: Dependences, target: ScratchpadTarget, sizes: Mapping[str, int]
             ) -> dict[str, tuple[Match, ...]]:
    """The ways of the cube by statement, the cheapest first."""
    found = match(dependences.scop, find_intrinsic(target.cube.intrinsic), sizes=sizes, dependences=dependences)
    by_statement: dict[str, list[Match]] = {}
    for own in found.matches:
        by_statement.setdefault(own.fragment.statement.name, []).append(own)
    return {name: tuple(own) for name, own in by_statement.items()}


class _Builder:
    """The host's part with groups as launches."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self.groups: dict[str, PlacedGroup] = {}

    def node(self, node: HostNode) -> HostNode:
        """The same loops of the host around groups."""
        parts: list[HostNode] = []
        for run in runs_of(node):
            if isinstance(run, HostLoop):
                parts.append(HostLoop(function=run.function, body=self.node(run.body)))
                continue
            for launch, placed in self._best(run):
                self.groups[launch.name] = placed
                parts.append(launch)
        return parts[0] if len(parts) == 1 else HostSequence(parts=tuple(parts))

    def _best(self, run: tuple[Launch, ...]) -> list[tuple[Launch, PlacedGroup]]:
        """The cut of a run of neighbours with the fewest cycles.

        Raises
        ------
        UnsupportedScopError : not even single nests fit.
        """
        known: dict[tuple[int, int], PlacedGroup | UnsupportedScopError | None] = {}
        best: tuple[int, list[tuple[Launch, PlacedGroup]]] | None = None
        single = tuple((k, k + 1) for k in range(len(run)))
        for cut in partitions(len(run)) if self.chooser.options.share else (single,):
            found = [self._part(run, part, known) for part in cut]
            placed = [own for own in found if isinstance(own, PlacedGroup)]
            cycles = sum(own.cycles for own in placed)
            if len(placed) == len(cut) and (best is None or cycles < best[0]):
                best = cycles, [(own.plan.launch, own) for own in placed]
        if best is None:
            raise next(own for part in single if isinstance(own := known.get(part), UnsupportedScopError))
        return best[1]

    def _part(self, run: tuple[Launch, ...], part: tuple[int, int],
              known: dict[tuple[int, int], PlacedGroup | UnsupportedScopError | None]
              ) -> PlacedGroup | UnsupportedScopError | None:
        if part not in known:
            launch = joined(self.chooser.dependences, run[part[0]:part[1]])
            try:
                known[part] = None if launch is None else self.chooser.best(launch)
            except UnsupportedScopError as error:
                known[part] = error
        return known[part]


def _tree(schedule: Schedule, host: HostNode, groups: Mapping[str, PlacedGroup]) -> isl.Schedule:
    """The order of all instances: loops of the host, tiles that may run in any order, stages, the program's order."""
    match host:
        case HostSequence():
            return reduce(isl.Schedule.sequence, [_tree(schedule, part, groups) for part in host.parts])
        case HostLoop():
            return _around(_tree(schedule, host.body, groups), host.function, LoopMark())
        case Launch():
            plan = groups[host.name].plan
            parts = [schedule.tree.intersect_domain(_of_statements(schedule.scop, host.domain, names))
                     for stage in plan.stages for names in _in_order(stage.statements, plan)]
            tree = reduce(isl.Schedule.sequence, parts)
            for function, edge in zip(host.coordinates, plan.edges, strict=True):
                tiles = function.scale_down_val(isl_value(edge)).floor()
                tree = _around(tree, tiles, LoopMark(parallel=True))
            return tree


def _in_order(statements: tuple[str, ...], plan: GroupPlan) -> tuple[tuple[str, ...], ...]:
    """The statements of a stage that run apart: what clears a result, then what computes it."""
    cleared = {cube.stage.cleared for cube in plan.cubes.values()}
    return tuple((name,) for name in statements) if statements[0] in cleared else (statements,)


def _of_statements(scop: Scop, domain: isl.UnionSet, names: tuple[str, ...]) -> isl.UnionSet:
    sets = [isl.UnionSet.from_set(scop.statement(name).domain) for name in names]
    return domain.intersect(reduce(lambda total, own: total.union(own), sets))


def _around(tree: isl.Schedule, function: isl.UnionPwAff, mark: LoopMark) -> isl.Schedule:
    """The tree inside a loop over the values of a function."""
    loop = multi_union_pw_aff((function.intersect_domain(tree.get_domain()),))
    tree = tree.insert_partial_schedule(loop)
    return tree.get_root().child(0).insert_mark(isl.Id(mark.to_text(), tree.get_ctx())).get_schedule()


