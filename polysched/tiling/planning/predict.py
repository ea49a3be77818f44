"""What any tree of loops is predicted to cost, tiled by hand or not: traffic per cache, and seconds on one core.

The planner's models speak of a band and its plan.  Here the loops around each leaf of a finished tree are read
back into the same terms: which loops enumerate tiles, of which loop and how long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.records import dataclass
from polysched.scheduling.marks import Role
from polysched.scheduling.tree.loop_tree import Band, Filter, Leaf, Mark, Node, Sequence, from_isl
from polysched.scop.budget import with_budget
from polysched.scop.points import fix_parameters, isl_value
from polysched.scop.scop import Scop
from polysched.target.target import Target
from polysched.tiling.footprints.box_shares import COUNTING_OPERATIONS
from polysched.tiling.footprints.nest import Nest, assumed_parameters, nest_of
from polysched.tiling.footprints.point_count import point_count
from polysched.tiling.footprints.traffic import Level, traffic_bytes
from polysched.tiling.footprints.warm_data import PlacedNest, warm_references
from polysched.tiling.planning.band_plan import BandPlan, plan_structure
from polysched.tiling.planning.cost_models import Projected
from polysched.tiling.tree.distribute import sets_of, statement_names
from polysched.tiling.tree.loops import has_loops
from polysched.tiling.tree.position import Position, branch, top


@dataclass(frozen=True, eq=False, kw_only=True)
class NestPrediction:
    """What the loops around statements cost that no further loop parts.

    Parameters
    ----------
    statements : what the innermost loop runs.
    nest, structure : the loops in the models' terms.
    traffic : bytes moved into each cache of the target, the first level first.
    seconds : one execution on one core.
    core_seconds : the same where all data are in the first cache.
    teams : how often a team of threads is started; 0 where everything runs on one core.
    width : iterations of the parallel loop that run at the same time, on average: at most so many threads have work.
    """

    statements: tuple[str, ...]
    nest: Nest
    structure: tuple[Level, ...]
    traffic: tuple[int, ...]
    seconds: float
    core_seconds: float
    teams: int = 0
    width: float = 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Prediction:
    """The innermost loops of a tree, and why some have no prediction.

    Parameters
    ----------
    nests : one entry per innermost loop that the models understand.
    unknown : one sentence per innermost loop that they do not.
    parameters : the sizes that were assumed.
    """

    nests: tuple[NestPrediction, ...]
    unknown: tuple[str, ...]
    parameters: Mapping[str, int]

    @property
    def seconds(self) -> float | None:
        """All leaves together; None when one is unknown."""
        return None if self.unknown else sum(n.seconds for n in self.nests)

    @property
    def traffic(self) -> tuple[int, ...] | None:
        """Bytes per cache, all leaves together; None when one is unknown."""
        return None if self.unknown else tuple(map(sum, zip(*(n.traffic for n in self.nests), strict=True)))


@dataclass(frozen=True, eq=False)
class _Leaf:
    """A leaf and its loops, outermost first."""

    position: Position
    loops: tuple[Band, ...]


def predict(dependences: Dependences, tree: isl.Schedule, *, target: Target,
            parameters: Mapping[str, int] | None = None, plans: Mapping[int, BandPlan] | None = None) -> Prediction:
    """Predict what a tree costs.

    Parameters
    ----------
    tree : a legal tree of these dependences' statements.
    target : whose caches and ports count.
    parameters : sizes; where none is given, what arrays of constant extents admit, else a typical size.
    plans : what tiling did, by band: blocks that stay in registers cost what the plan says.
    """
    scop = dependences.scop
    assumed = assumed_parameters(scop, dict(parameters or {}))
    decoded = from_isl(tree)
    nests, unknown = [], []
    placed: list[PlacedNest] = []
    for leaf in _leaves(decoded.root, top(dependences, decoded.domain), ()):
        names = tuple(statement_names(leaf.position.domain))
        structure = _structure(leaf)
        if isinstance(structure, str):
            unknown.append(f"{', '.join(names)}: {structure}")
            continue
        members, levels = structure
        nest = _with_own_density(nest_of(scop, leaf.position, members, assumed), leaf, scop, assumed)
        teams, width = _teams(leaf.loops, nest, levels)
        here = PlacedNest(loops=leaf.loops, nest=nest, levels=levels)
        found = _predicted(names, nest, levels, target, core_seconds=_in_registers(leaf, nest, target, plans or {}),
                           warm=warm_references(placed, here, target))
        placed.append(here)
        nests.append(replace(found, teams=teams, width=width))
    return Prediction(nests=tuple(nests), unknown=tuple(unknown), parameters=assumed)


def program_seconds(prediction: Prediction, target: Target) -> float | None:
    """Predicted wall time of one execution on all cores; None where an innermost loop has no prediction.

    Per innermost loop the time on one core, divided among the threads that have work, and the starts of teams.
    """
    if prediction.unknown:
        return None
    return sum(nest.seconds / (max(1.0, min(nest.width, target.cores)) if nest.teams else 1.0)
               + nest.teams * target.team_seconds for nest in prediction.nests)


def _with_own_density(nest: Nest, leaf: _Leaf, scop: Scop, parameters: Mapping[str, int]) -> Nest:
    """The nest of a leaf with the instances that it has at these sizes: a part of a domain, such as its full tiles."""
    parts = [part for part in sets_of(leaf.position.domain) if part.get_tuple_name() in nest.deepest]
    count = with_budget(COUNTING_OPERATIONS, lambda: sum(point_count(fix_parameters(p, parameters)) for p in parts))
    return nest if count is None else replace(nest, density=count / nest.instances)


def _in_registers(leaf: _Leaf, nest: Nest, target: Target, plans: Mapping[int, BandPlan]) -> float | None:
    """Seconds in the core of a register block, as often as the loops around its band run; None for other loops."""
    marks = [loop.mark for loop in leaf.loops if loop.mark is not None]
    plan = next((plans[mark.band] for mark in marks if mark.register and mark.band in plans), None)
    if plan is None or plan.shape is None:
        return None
    model = Projected(target=target)
    times = nest.instances * nest.density / (plan.nest.instances * plan.nest.density)
    return times * model.core_cycles(plan, plan_structure(plan)) / target.frequency_hz


def _predicted(names: tuple[str, ...], nest: Nest, levels: tuple[Level, ...], target: Target, *,
               warm: tuple[frozenset[int], ...], core_seconds: float | None = None) -> NestPrediction:
    tiles = [level for level in levels if level.step > 1]
    edges = tuple(min((t.step for t in tiles if t.loop == loop), default=None) for loop in range(nest.depth))
    plan = BandPlan(nest=nest, edges=edges, order=tuple(dict.fromkeys(t.loop for t in tiles)))
    model = Projected(target=target)
    core = core_seconds if core_seconds is not None else model.core_cycles(plan, levels) / target.frequency_hz
    return NestPrediction(
        statements=names, nest=nest, structure=levels,
        traffic=tuple(sum(size for k, size in enumerate(traffic_bytes(nest, levels, c.size_bytes, c.line_bytes,
                                                                           in_box=False))
                          if k not in known) for c, known in zip(target.caches, warm, strict=True)),
        core_seconds=core, seconds=model.together(plan, levels, core, block=core_seconds is not None, warm=warm))


def _leaves(node: Node, position: Position, loops: tuple[Band, ...]) -> Iterator[_Leaf]:
    match node:
        case Leaf():
            if loops and not position.domain.is_empty():
                yield _Leaf(position, loops)
        case Mark():
            yield from _leaves(node.child, position, loops)
        case Filter():
            yield from _leaves(node.child, branch(position, node.keep), loops)
        case Sequence():
            if loops and not has_loops(node) and not position.domain.is_empty():
                yield _Leaf(position, loops)
                return
            for keep, child in node.branches:
                yield from _leaves(child, branch(position, keep), loops)
        case Band():
            single = tuple(Band(members=(m,), coincident=(False,), permutable=False, child=node.child, mark=node.mark)
                           for m in node.members)
            yield from _leaves(node.child, position, (*loops, *single))


def _structure(leaf: _Leaf) -> tuple[tuple[isl.UnionPwAff, ...], tuple[Level, ...]] | str:
    """The loops over single iterations and the order of all loops; a sentence when a tile loop tiles no one loop."""
    functions = _without_skew(leaf)
    tiled: dict[int, tuple[int, int]] = {}
    for outer in reversed(range(len(functions))):
        for inner in reversed(range(outer + 1, len(functions))):
            size = None if inner in tiled else _tile_size(functions[outer], functions[inner], leaf.position.domain,
                                                          single=_is_of_tiles(leaf.loops[outer]))
            if size is not None:
                tiled[outer] = (inner, size)
                break
    points = [at for at in range(len(functions)) if at not in tiled]
    for at in points:
        mark = leaf.loops[at].mark
        if mark is not None and _is_of_tiles(leaf.loops[at]):
            return f"the model knows no loop that enumerates tiles of several loops ({mark.role.value} loop {at})"
    levels = tuple(Level(points.index(tiled[at][0]), tiled[at][1]) if at in tiled else Level(points.index(at), 1)
                   for at in range(len(functions)))
    return tuple(functions[at] for at in points), levels


def _is_of_tiles(loop: Band) -> bool:
    """Whether a loop enumerates tiles."""
    return loop.mark is not None and loop.mark.role in (Role.TILE, Role.WAVEFRONT)


def _without_skew(leaf: _Leaf) -> list[isl.UnionPwAff]:
    """The functions of the loops, a wavefront as the tile loop that it was before others were added to it."""
    functions = [loop.members[0] for loop in leaf.loops]
    for at, loop in enumerate(leaf.loops):
        if loop.mark is None or loop.mark.role is not Role.WAVEFRONT:
            continue
        plain = functions[at]
        for added in functions[at + 1:]:
            plain = plain.sub(added)
            if any(_tile_size(plain, inner, leaf.position.domain) is not None for inner in functions[at + 1:]):
                functions[at] = plain
                break
    return functions


def _teams(loops: tuple[Band, ...], nest: Nest, levels: tuple[Level, ...]) -> tuple[int, float]:
    """How often threads are started, and how many iterations they share each time, on average."""
    at = next((k for k, loop in enumerate(loops) if loop.mark is not None and loop.mark.parallel), None)
    if at is None:
        return 0, 1.0
    counts = [_iterations(levels[:k], level, nest) for k, level in enumerate(levels[:at + 1])]
    for k, loop in enumerate(loops[:at]):
        if loop.mark is not None and loop.mark.role is Role.WAVEFRONT:   # a + b takes as many values as both together
            width = counts[at] * counts[k] / (counts[at] + counts[k] - 1)
            return prod(counts[:k]) * (counts[at] + counts[k] - 1), width
    return prod(counts[:at]), float(counts[at])


def _iterations(outer: tuple[Level, ...], level: Level, nest: Nest) -> int:
    """How often one loop of a structure advances each time that it is entered."""
    reach = min((o.step for o in outer if o.loop == level.loop), default=nest.extents[level.loop])
    return max(1, -(-min(reach, nest.extents[level.loop]) // level.step))


def _tile_size(outer: isl.UnionPwAff, inner: isl.UnionPwAff, domain: isl.UnionSet, *,
               single: bool = False) -> int | None:
    """T when the outer loop runs over `T * floor(inner / T)` or `floor(inner / T)`.

    Parameters
    ----------
    single : whether tiles may have one iteration, for which both loops are the same.
    """
    wanted = isl.UnionMap.from_union_pw_aff(outer).intersect_domain(domain)
    for size in [*([1] if single else []), *_divisors(outer)]:
        value = isl_value(size)
        tiles = inner.scale_down_val(value).floor()
        if any(isl.UnionMap.from_union_pw_aff(t).intersect_domain(domain).is_equal(wanted)
               for t in (tiles, tiles.scale_val(value))):
            return size
    return None


def _divisors(function: isl.UnionPwAff) -> list[int]:
    """The numbers that the function rounds by."""
    pieces = function.get_pw_aff_list()
    return sorted({int(aff.get_div(k).get_denominator_val().to_python())
                   for i in range(pieces.n_pw_aff()) for _, aff in pieces.get_at(i).get_pieces()
                   for k in range(aff.dim(isl.dim_type.div))})
