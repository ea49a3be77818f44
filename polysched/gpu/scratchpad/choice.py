"""Which loop nests share tiles, and how large these are: the model weighs all, the simulator the best of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import ceil, prod

from polysched.dependence.dependences import Dependences
from polysched.errors import BudgetExceededError, UnsupportedScopError, UsageError
from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import Launch
from polysched.gpu.scratchpad.flows import Flows
from polysched.gpu.scratchpad.instructions import Costing
from polysched.gpu.scratchpad.options import ScratchpadOptions
from polysched.gpu.scratchpad.placement import Placement, fits, place
from polysched.gpu.scratchpad.plan import GroupPlan, coordinate_ranges
from polysched.gpu.scratchpad.planner import Planner
from polysched.gpu.scratchpad.simulation import simulate
from polysched.gpu.scratchpad.stages import CubeStage, stages_of
from polysched.records import dataclass
from polysched.target.scratchpads.description import ScratchpadTarget
from polysched.tensorize.matching.mapping import Match


@dataclass(frozen=True, eq=False, kw_only=True)
class PlacedGroup:
    """A group with its tiles and the places of its buffers.

    Parameters
    ----------
    plan, placement : of it.
    cycles : that the simulator gives it alone.
    weighed : tiles that the model compared.
    """

    plan: GroupPlan
    placement: Placement
    cycles: int
    weighed: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Chooser:
    """Decides tiles for one program and accelerator.

    Parameters
    ----------
    dependences : of the program at its sizes.
    sizes : of its parameters.
    matches : of the cube's instruction, by statement.
    names : the parameters of tiles, for loops of the host and for coordinates.
    """

    dependences: Dependences
    target: ScratchpadTarget
    sizes: Mapping[str, int]
    matches: Mapping[str, tuple[Match, ...]]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    options: ScratchpadOptions

    @property
    def slots(self) -> int:
        return self.target.slots if self.options.double_buffering else 1

    def planner(self, launch: Launch) -> Planner:
        """Plans of a group."""
        stages = stages_of(self.dependences, launch, self.sizes, self.matches)
        names = (*self.names[0][:len(launch.host)], *self.names[1][:len(launch.coordinates)])
        return Planner(scop=self.dependences.scop, target=self.target, launch=launch, stages=stages, names=names,
                       flows=Flows.of(self.dependences, launch), prefix=f"{launch.name}_")

    def best(self, launch: Launch) -> PlacedGroup:
        """The tiles with the fewest simulated cycles among those that the model prefers.

        Raises
        ------
        UnsupportedScopError : none fits the memories; the binding one is named for the smallest tiles.
        """
        planner = self.planner(launch)
        edges = self._candidates(planner)
        known: list[tuple[float, GroupPlan]] = []
        for own in edges:
            plan = planner.plan(own, slots=self.slots)
            if fits(self.target, plan.buffers):
                known.append((self.estimate(plan), plan))
        if not known:
            place(self.target, planner.plan(edges[0], slots=self.slots).buffers, where=self._where(edges[0]))
            raise UnsupportedScopError("no tile fits the memories", where=launch.name)   # place() refused before
        known.sort(key=lambda own: own[0])
        found = [placed for _, plan in known[:LIMITS.simulated]
                 if (placed := self.placed(plan, exact=False, weighed=len(edges))) is not None]
        if not found:
            self.placed(known[0][1], exact=True, weighed=len(edges), refuse=True)
        best = min(found, key=lambda own: own.cycles)
        exact = self.placed(best.plan, exact=True, weighed=len(edges))
        return exact if exact is not None and exact.cycles <= best.cycles else best

    def placed(self, plan: GroupPlan, *, exact: bool, weighed: int, refuse: bool = False) -> PlacedGroup | None:
        """A plan with its places and simulated cycles; None where its buffers cannot be packed.

        Raises
        ------
        UnsupportedScopError, BudgetExceededError : where that is to be refused.
        """
        scop = self.dependences.scop
        try:
            placement = place(self.target, plan.buffers, where=self._where(plan.edges), exact=exact)
        except (UnsupportedScopError, BudgetExceededError):
            if refuse:
                raise
            return None
        costing = Costing.of(scop, self.target, plan)
        timeline = simulate(scop.name, self.target, [(costing.all(), placement)], 1.0)
        return PlacedGroup(plan=plan, placement=placement, cycles=timeline.cycles, weighed=weighed)

    def _where(self, edges: tuple[int, ...]) -> str:
        return f"{self.dependences.scop.name}, tiles of {'x'.join(map(str, edges)) or 'everything'}"

    def estimate(self, plan: GroupPlan) -> float:
        """Cycles by the busiest engine of all tiles, and the others of one tile in front of and behind it."""
        costing = Costing.of(self.dependences.scop, self.target, plan)
        busy: dict[str, int] = {}
        once = 0
        for own in costing.tile():
            busy[own.engine] = busy.get(own.engine, 0) + own.cycles
            once += own.cycles
        share = prod(count / (ceil(count / edge) * edge)
                     for (_, count), edge in zip(plan.ranges, plan.edges, strict=True))
        rest = max(1, plan.tiles) * share
        if plan.slots < 2:
            return rest * once
        return rest * max(busy.values(), default=0) + once - max(busy.values(), default=0)

    def _candidates(self, planner: Planner) -> list[tuple[int, ...]]:
        """Edges of tiles, the smallest first; what is given by hand alone."""
        ranges = coordinate_ranges(planner.launch)
        given = self.options.edges(planner.launch.name)
        if len(given) == 1:
            given = given * len(ranges)
        if given or not ranges:
            if len(given) != len(ranges):
                raise UsageError(f"{planner.launch.name} has {len(ranges)} loops of tiles, not {len(given)}",
                                 witness="x".join(map(str, given)),
                                 hint="`polysched explain --target` names them")
            return [given]
        cube = any(isinstance(stage, CubeStage) for stage in planner.stages)
        least = LIMITS.least_edge if cube else 1
        edges = [list(_edges(count, least)) for _, count in ranges]
        while prod(map(len, edges)) > LIMITS.most_candidates:
            longest = max(edges, key=len)
            longest[:] = longest[::2] if len(longest) > 2 else longest[-1:]
        return sorted(product(*edges), key=prod)


def _edges(count: int, least: int) -> Iterator[int]:
    """Powers of two, and all of it."""
    edge = 1
    while edge < count:
        if edge >= least or count <= least or edge == 1 == least:
            yield edge
        edge *= 2
    yield count


def every_edge(planner: Planner, step: int) -> Iterator[tuple[int, ...]]:
    """Edges of tiles at every multiple of a step, for exhaustive search."""
    ranges = [(*range(step, count, step), count) for _, count in coordinate_ranges(planner.launch)]
    yield from product(*ranges)
