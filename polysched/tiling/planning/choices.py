"""What may be chosen for each band: the loops for threads, the legal register blocks, and the search for its tiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import Band, from_isl, walk
from polysched.scop.points import fix_parameters
from polysched.target.target import Target
from polysched.tiling.footprints.nest import Nest, assumed_parameters, nest_of
from polysched.tiling.footprints.point_count import point_count
from polysched.tiling.options import TilingOptions
from polysched.tiling.planning.asked import as_asked
from polysched.tiling.planning.band_plan import BandPlan, Untiled
from polysched.tiling.planning.plan import Planner, free_members
from polysched.tiling.planning.register_shape import RegisterShape
from polysched.tiling.planning.temporary_rows import rows_of_temporaries
from polysched.tiling.planning.tile_problem import TileProblem, has_columns, innermost_choice, tile_problem
from polysched.tiling.tree.distribute import sets_of
from polysched.tiling.tree.loops import has_loops
from polysched.tiling.tree.position import Position, top


@dataclass(frozen=True, eq=False, kw_only=True)
class BandChoices:
    """What may be chosen for one band.

    Parameters
    ----------
    number : in pre-order.
    nest : the band as the models see it.
    members : its loops; the nest may have further ones, of bands below.
    free : members that can run on threads.
    threads : whether one of its loops, or a wavefront of them, may run on threads.
    holds_loops : further loops run inside it.
    shape : the model's register block; None where a nest has no reuse for one.
    shapes : the legal register blocks, the model's first.
    levels : the caches that a core has to itself, the outermost first; none where tiles are not searched. One thread
        alone has those to itself that cores share: whole rows of a stencil may need them.
    whole : members that tiles do not cut.
    target : the machine.
    plan : what the model chooses.
    times : how often the band runs.
    """

    number: int
    nest: Nest
    members: int
    free: tuple[int, ...]
    threads: bool
    holds_loops: bool
    shape: RegisterShape | None
    shapes: tuple[RegisterShape, ...]
    levels: tuple[int, ...]
    whole: frozenset[int]
    target: Target
    plan: BandPlan | Untiled
    times: float

    def problem(self, level: int, shape: RegisterShape | None) -> TileProblem:
        """The search for tiles that fit a cache, around a register block or none."""
        found = tile_problem(self.nest, self.target, shape=shape, innermost=innermost_choice(self.nest), level=level,
                             parallel=self.free, wavefront=self.threads and not self.free,
                             threads=self.target.cores, whole=self.whole if shape is None else frozenset())
        return found if shape is not None or not has_columns(self.nest) else replace(
            found, cache=self.target.cache(level))


def band_choices(schedule: Schedule, options: TilingOptions) -> tuple[BandChoices, ...]:
    """What may be chosen for each permutable band of a schedule, in pre-order.

    Parameters
    ----------
    options : with the machine and the sizes that count.
    """
    schedule, options = as_asked(schedule, options)
    tree = from_isl(schedule.tree)
    numbers = {id(band): number for number, band in enumerate(n for n in walk(tree.root) if isinstance(n, Band))}
    scop = schedule.scop
    planner = _Recorder(scop, numbers, options, assumed_parameters(scop, options.parameters),
                        frozenset(options.parameters))
    plans: dict[int, BandPlan | Untiled] = {}
    planner.descend(tree.root, top(schedule.dependences, tree.domain), plans, tiled=False, threads=True)
    return tuple(replace(planner.seen[number], plan=plans[number]) for number in sorted(planner.seen))


@dataclass(frozen=True)
class _Recorder(Planner):
    """A planner that keeps what it looked at."""

    seen: dict[int, BandChoices] = field(default_factory=dict)

    def plan(self, band: Band, position: Position, *, threads: bool) -> BandPlan | Untiled:
        """The model's plan; the choices are kept beside it."""
        plan = super().plan(band, position, threads=threads)
        nest = plan.nest or nest_of(self.scop, position, band.members, self.parameters, self.named)
        free = free_members(band, position, self.options) if threads else ()
        plain = nest if nest.depth == len(band.members) else nest_of(
            self.scop, position, band.members, self.parameters, self.named)
        inside = has_loops(band.child)
        shapes = () if inside else self.legal_shapes(plain, band.members, position)
        self.seen[self.numbers[id(band)]] = BandChoices(
            number=self.numbers[id(band)], nest=plain, members=len(band.members), free=free, threads=threads,
            holds_loops=inside, shape=shapes[0] if shapes else None, shapes=shapes,
            levels=() if inside or len(band.members) < 2 else _own_levels(self.options.target),
            target=self.options.target,
            whole=frozenset() if inside else rows_of_temporaries(self.scop, position, band.members),
            plan=plan, times=_times(position, plain, self.parameters))
        return plan


def _own_levels(target: Target) -> tuple[int, ...]:
    shared = sorted((c.level for c in target.caches if c.shared_by > 1), reverse=True) if target.cores == 1 else []
    return (*target.private_levels, *shared)


def _times(position: Position, nest: Nest, parameters: Mapping[str, int]) -> float:
    """How often the loops of a nest run: all instances of its deepest statements over those of one run."""
    deepest = [part for part in sets_of(position.domain) if part.get_tuple_name() in nest.deepest]
    instances = sum(point_count(fix_parameters(part, parameters)) for part in deepest)
    return max(1.0, instances / max(1.0, nest.instances * nest.density))
