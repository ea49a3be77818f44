"""Several points per work item: values of a coordinate that share in registers what does not change along it.

A point is what a work item without points would run.  No dependence connects two points of a launch, so they may be
interleaved in any way.  Points stand a block apart, so that neighbours of a warp still touch neighbouring elements.

Source: V. Volkov, J. Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008, section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod

from polysched.gpu.blocks import BlockSearch, Sizes
from polysched.gpu.known import Known
from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import HostLoop, HostNode, HostSequence, Launch
from polysched.gpu.options import GpuOptions
from polysched.gpu.shares import in_shares
from polysched.gpu.staging import has_temporaries, phases_of
from polysched.gpu.teams import with_team
from polysched.gpu.tensor_cores import resized, with_tensor_cores
from polysched.gpu.throughput import LaunchModel
from polysched.gpu.warps import known_extent
from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scop.budget import with_budget
from polysched.target.gpus import Gpu
from polysched.tiling.footprints.nest import assumed_parameters


def with_points(schedule: Schedule, node: HostNode, *, options: GpuOptions, gpus: tuple[Gpu, ...],
                sizes: Mapping[str, int]) -> HostNode:
    """The same launches with points and phases, as asked for or as the models weigh them.

    Parameters
    ----------
    gpus : whose models these are.
    sizes : values of parameters; as for `assumed_parameters`.
    """
    def inside(part: HostNode) -> HostNode:
        return with_points(schedule, part, options=options, gpus=gpus, sizes=sizes)

    match node:
        case HostSequence():
            return replace(node, parts=tuple(map(inside, node.parts)))
        case HostLoop():
            return replace(node, body=inside(node.body))
        case Launch():
            return _Chooser(schedule=schedule, options=options, gpus=gpus, sizes=sizes).chosen(node)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Chooser:
    schedule: Schedule
    options: GpuOptions
    gpus: tuple[Gpu, ...]
    sizes: Mapping[str, int]

    def chosen(self, launch: Launch) -> HostNode:
        """The launch with its points, or with its teams."""
        if launch.tiles is not None:
            return launch
        if (product := with_tensor_cores(self.schedule, launch, options=self.options)) is not None:
            return self._with_other_sizes(product)
        team = with_team(self.schedule, launch, options=self.options, sizes=self.sizes)
        if team is None:
            return self._with_points(launch)
        assumed = assumed_parameters(self.schedule.scop, self.sizes)
        return in_shares(team, options=self.options, assumed=assumed)

    def _with_other_sizes(self, product: Launch) -> Launch:
        """Products on tensor cores with the sizes of which the models of GPUs with such cores expect most."""
        scop, options, assumed = self.schedule.scop, self.options, assumed_parameters(self.schedule.scop, self.sizes)
        able = tuple(gpu for gpu in self.gpus if not LaunchModel(
            scop=scop, launch=product, gpu=gpu, sizes=assumed, registers=0).lacking)
        if options.block or options.points or not able:
            return product

        def sized(sizes: Sizes) -> Launch:
            return resized(self.schedule, product, sizes.block, sizes.points, options=options)

        search = BlockSearch(scop=scop, start=product, sized=sized, gpus=able, sizes=assumed, blocks=True, points=True,
                             exact=self._exact)
        return with_budget(LIMITS.points_operations, search.best) or product

    @property
    def _exact(self) -> bool:
        """Whether all sizes are those of the calls."""
        return all(own.name in self.sizes for own in self.schedule.scop.parameters)

    def _with_points(self, launch: Launch) -> Launch:
        scop, options = self.schedule.scop, self.options
        known = Known()
        one = self._with_phases(launch, known, Sizes(launch.block, self._asked(launch)))
        if not options.block and not one.phases and self._wants_rows(launch, known):
            launch = replace(launch, block=(prod(launch.block), *(1 for _ in launch.block[1:])))
            one = self._with_phases(launch, known, Sizes(launch.block, self._asked(launch)))
        points = not options.points and any(phase.staged for phase in one.phases)
        if not launch.coordinates or not (points or not options.block):
            return one
        search = BlockSearch(
            scop=scop, start=one, sized=partial(self._with_phases, launch, known), gpus=self.gpus,
            sizes=assumed_parameters(scop, self.sizes), blocks=not options.block,
            points=points, exact=self._exact, known=known)
        return with_budget(LIMITS.points_operations, search.best) or one

    def _wants_rows(self, launch: Launch, known: Known) -> bool:
        """Whether a block begins as one row: all devices loop over its work items, and rows have as many."""
        if len(launch.block) < 2 or not all(gpu.loops_over_items for gpu in self.gpus):
            return False
        sizes = assumed_parameters(self.schedule.scop, self.sizes)
        return known_extent(known, launch.domain, launch.coordinates[0], sizes) >= prod(launch.block)

    def _asked(self, launch: Launch) -> tuple[int, ...]:
        """The points that were asked for, else one each."""
        dimensions = len(launch.coordinates)
        asked = () if has_temporaries(self.schedule.scop, launch) else self.options.points_of(dimensions)
        return asked or (1,) * dimensions

    def _with_phases(self, launch: Launch, known: Known, sizes: Sizes) -> Launch:
        points = sizes.points if prod(sizes.points) > 1 else ()
        sized = replace(launch, block=sizes.block, points=points, phases=())
        return replace(sized, phases=phases_of(self.schedule, sized, shared=self.options.shared,
                                               known=known))
