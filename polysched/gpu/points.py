"""Several points per work item: values of a coordinate that share in registers what does not change along it.

A point is what a work item without points would run.  No dependence connects two points of a launch, so they may be
interleaved in any way.  Points stand a block apart, so that neighbours of a warp still touch neighbouring elements.

Source: V. Volkov, J. Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, prod

from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import HostLoop, HostNode, HostSequence, Launch
from polysched.gpu.options import GpuOptions
from polysched.gpu.shares import in_shares
from polysched.gpu.staging import has_temporaries, phases_of
from polysched.gpu.teams import with_team
from polysched.gpu.tensor_cores import with_tensor_cores
from polysched.gpu.throughput import LaunchModel, points_that_share
from polysched.scheduling.schedule import Schedule
from polysched.scop.budget import with_budget
from polysched.scop.scop import Scop
from polysched.target.gpus import SM_80, Gpu
from polysched.tiling.footprints.nest import assumed_parameters

WEIGHED_FOR: Gpu = SM_80
"""The GPU whose model chooses: of those with CUDA, the one with the fewest multiprocessors and the slowest memory."""


def with_points(schedule: Schedule, node: HostNode, *, options: GpuOptions, sizes: Mapping[str, int]) -> HostNode:
    """The same launches with points and phases, as asked for or as the model weighs them.

    Parameters
    ----------
    sizes : values of parameters; as for `assumed_parameters`.
    """
    match node:
        case HostSequence():
            parts = (with_points(schedule, part, options=options, sizes=sizes) for part in node.parts)
            return replace(node, parts=tuple(parts))
        case HostLoop():
            return replace(node, body=with_points(schedule, node.body, options=options, sizes=sizes))
        case Launch():
            return _Chooser(schedule=schedule, options=options, sizes=sizes).chosen(node)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Chooser:
    schedule: Schedule
    options: GpuOptions
    sizes: Mapping[str, int]

    def chosen(self, launch: Launch) -> HostNode:
        """The launch with its points, or with its teams."""
        if launch.tiles is not None:
            return launch
        if (product := with_tensor_cores(self.schedule, launch, options=self.options)) is not None:
            return product
        team = with_team(self.schedule, launch, options=self.options, sizes=self.sizes)
        if team is None:
            return self._with_points(launch)
        assumed = assumed_parameters(self.schedule.scop, self.sizes)
        return in_shares(team, options=self.options, assumed=assumed)

    def _with_points(self, launch: Launch) -> Launch:
        scop = self.schedule.scop
        if not launch.coordinates or has_temporaries(scop, launch):
            return launch
        if self.options.points:
            return self._sized(launch, self.options.points_of(len(launch.coordinates)))
        one = self._sized(launch, ())
        if not any(phase.staged for phase in one.phases):
            return one
        found = with_budget(LIMITS.points_operations, partial(self._climbed, one))
        return one if found is None else found

    def _sized(self, launch: Launch, points: tuple[int, ...]) -> Launch:
        sized = replace(launch, points=points, phases=())
        return replace(sized, phases=phases_of(self.schedule, sized, shared=self.options.shared))

    def _climbed(self, launch: Launch) -> Launch:
        """Doubled along one coordinate after another while the model expects less time."""
        assumed = assumed_parameters(self.schedule.scop, self.sizes)
        best, best_cost = launch, self._cost(launch, assumed)
        while True:
            tried = [(self._cost(own, assumed), k, own) for k, own in enumerate(self._doubled(best))]
            cost, _, own = min(tried, key=lambda entry: entry[:2], default=(best_cost, 0, best))
            if not cost < best_cost:
                return best
            best, best_cost = own, cost

    def _doubled(self, launch: Launch) -> Iterator[Launch]:
        points = launch.points or (1,) * len(launch.coordinates)
        for k, count in enumerate(points):
            more = (*points[:k], 2 * count, *points[k + 1:])
            if count < LIMITS.points_along and launch.points_of_item * 2 <= LIMITS.most_points:
                yield self._sized(launch, more)

    def _cost(self, launch: Launch, sizes: Mapping[str, int]) -> tuple[float, float]:
        """Seconds of the limiter, then of all that a kernel needs."""
        registers = registers_of(self.schedule.scop, launch)
        if registers > LIMITS.most_registers or registers * prod(launch.block) > WEIGHED_FOR.registers:
            return (float("inf"), float("inf"))
        model = LaunchModel(scop=self.schedule.scop, launch=launch, gpu=WEIGHED_FOR, sizes=sizes, registers=registers)
        seconds = model.seconds().values()
        return max(seconds), sum(seconds)


def registers_of(scop: Scop, launch: Launch) -> int:
    """An estimate of the registers of a work item: what its points keep and what they read at once."""
    most = 0
    for phase in launch.phases:
        words = 0.0
        for statement in scop.statements:
            for access in statement.accesses if launch.runs_any_of(statement, phase.domain) else ():
                width = scop.array(access.array).dtype.bytes / 4
                words += 0 if access.array in phase.kept else (
                    width * launch.points_of_item / points_that_share(launch, statement, access))
        words += sum(launch.points_of_item * scop.array(name).dtype.bytes / 4 for name in phase.kept)
        most = max(most, ceil(words))
    return LIMITS.fixed_registers + most
