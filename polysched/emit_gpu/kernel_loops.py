"""Launch -> the loops of one work item, by isl's generator on the schedule at one value of every coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import islpy as isl

from polysched.dependence.dependences import DependenceKind
from polysched.dependence.legality import Active, carrier
from polysched.emit_c.loop_ir.index import Linear, variables
from polysched.emit_c.loop_ir.loops import If, Local, Node
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.emit_c.loop_ir.whole_tiles import with_whole_tiles
from polysched.emit_c.nests.array_contraction import contract, contracted
from polysched.emit_gpu.fixed_values import bounds, launched_at, outer_bounds, within_values
from polysched.emit_gpu.item_points import points_of
from polysched.emit_gpu.limits import LIMITS
from polysched.emit_gpu.names import DeviceNames
from polysched.emit_gpu.phases import (
    ItemInstances,
    PhaseLoops,
    gains_whole_blocks,
    generated,
    item_loops,
    phase_loops,
    phase_names,
)
from polysched.emit_gpu.time_tile_loops import TimeTileLoops, time_tile_loops
from polysched.gpu.bands import values_of
from polysched.gpu.instances import fixed, image_of
from polysched.gpu.mapping import GpuMapping, Launch, Phase
from polysched.gpu.staging import Names
from polysched.records import dataclass
from polysched.scop.scop import Scop


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelLoops:
    """What a work item runs.

    Parameters
    ----------
    launch : of it.
    loops : over the instances of one work item; coordinates and loops of the host are parameters.
    host, coordinates : the names of these parameters.
    firsts, counts : names for the least value of each coordinate, and for how many there are.
    ranges : the least value of each coordinate in one launch, and one past the last.
    private : arrays that became variables of the work item.
    spilled : those that stay in the device's memory, since not all fit together.
    places : names of the places of blocks and tiles, where anything asks for them.
    phases : the loops in parts, where a block shares memory.
    tiles : what a block runs, where the launch has several steps.
    """

    launch: Launch
    loops: Node
    host: tuple[str, ...]
    coordinates: tuple[str, ...]
    firsts: tuple[str, ...]
    counts: tuple[str, ...]
    ranges: tuple[tuple[Linear, Linear], ...]
    private: frozenset[str]
    spilled: tuple[str, ...] = ()
    places: Names | None = None
    phases: tuple[PhaseLoops, ...] = ()
    tiles: TimeTileLoops | None = None


def kernel_loops(mapping: GpuMapping, launch: Launch, names: DeviceNames) -> KernelLoops:
    """Generate the loops of one work item.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into the budget.
    """
    scop = mapping.scop
    host = tuple(names.taken.fresh(f"step{k}" if len(launch.host) > 1 else "step") for k in range(len(launch.host)))
    coordinates = tuple(names.taken.fresh(wish) for wish in ("x", "y", "z")[:len(launch.coordinates)])
    outside = fixed(launch.domain, dict(zip(host, launch.host, strict=True)))
    inside = fixed(outside, dict(zip(coordinates, launch.coordinates, strict=True)))
    context = scop.context.params()
    runs = launched_at(launch, host, context)
    if launch.tiles is not None:
        return _of_several_steps(mapping, launch, names, _Given(host=host, coordinates=coordinates, outside=outside,
                                                               inside=inside, runs=runs))
    loops = generated(mapping, inside, within_values(launch, coordinates, runs, outside), names)
    private = {a: names.arrays[a] for a in private_arrays(mapping, launch)}
    loops, spilled = _with_private(mapping, launch, loops, private, inside.params().intersect(context))
    assert not (private and launch.points), "a launch with temporaries has no points"
    places = None if private else _places(mapping, launch, loops, host, coordinates, names)
    phases = () if places is None else phase_loops(mapping, launch, names, places)
    if places is not None and not phases:
        begin = within_values(launch, places.firsts, runs, outside, launch.edges)
        item = ItemInstances(launch=launch, phase=Phase(domain=launch.domain), inside=inside, places=places, runs=begin)
        loops = _of_points(mapping, item, loops, names)
    return KernelLoops(launch=launch, loops=loops, host=host, coordinates=coordinates, phases=phases,
                       places=_used(places, launch, phases, loops),
                       ranges=tuple(bounds(image_of(outside, c), runs) for c in launch.coordinates),
                       firsts=_fresh("first", coordinates, names), counts=_fresh("count", coordinates, names),
                       private=frozenset(contracted(loops)), spilled=spilled)


def _with_private(mapping: GpuMapping, launch: Launch, loops: Node, private: Mapping[str, str],
                  context: isl.Set) -> tuple[Node, tuple[str, ...]]:
    """The loops with temporaries as variables of the work item, and those for which there was no room.

    The largest of those that do not fit together stay in the device's memory.
    """
    most = min(LIMITS.private_bytes, LIMITS.block_private_bytes // max(launch.items, 1))
    names, spilled = dict(private), list[str]()
    while True:
        made = contract(loops, mapping.schedule.dependences, context, names,
                        buffer_bytes=LIMITS.largest_private_bytes, lasting_bytes=LIMITS.largest_private_bytes)
        sizes = private_bytes(mapping.scop, made)
        if sum(sizes.values()) <= most:
            return (with_whole_tiles(made) if sizes else made), tuple(spilled)
        spilled.append(max(sizes, key=lambda array: sizes[array]))
        del names[spilled[-1]]


def private_bytes(scop: Scop, loops: Node) -> dict[str, int]:
    """The bytes of each temporary that is a variable of the work item: of several, of the largest."""
    found: dict[str, int] = {}
    for own in (temporary for node in walk_nodes(loops) if isinstance(node, Local) for temporary in node.temporaries):
        found[own.array] = max(found.get(own.array, 0), prod(own.extents) * scop.array(own.array).dtype.bytes)
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class _Given:
    """Names of the loops of the host and of coordinates, the instances at their values, and what holds of these."""

    host: tuple[str, ...]
    coordinates: tuple[str, ...]
    outside: isl.UnionSet
    inside: isl.UnionSet
    runs: isl.Set


def _of_several_steps(mapping: GpuMapping, launch: Launch, names: DeviceNames, given: _Given) -> KernelLoops:
    """The loops of a block that runs several steps."""
    tiles = time_tile_loops(launch, given.inside, given.runs, names,
                            lambda instances, known: generated(mapping, instances, known, names))
    return KernelLoops(launch=launch, loops=tiles.loops, host=given.host, coordinates=given.coordinates, tiles=tiles,
                       ranges=tuple(outer_bounds(image_of(given.outside, c), given.runs) for c in launch.coordinates),
                       firsts=_fresh("first", given.coordinates, names),
                       counts=_fresh("count", given.coordinates, names), private=frozenset())


def _fresh(what: str, coordinates: tuple[str, ...], names: DeviceNames) -> tuple[str, ...]:
    """A name per coordinate."""
    return tuple(names.taken.fresh(f"{what}_{own}") for own in coordinates)


def _places(mapping: GpuMapping, launch: Launch, loops: Node, host: tuple[str, ...], coordinates: tuple[str, ...],
            names: DeviceNames) -> Names | None:
    """Names for where blocks begin, if the loops of the launch may have a use for them."""
    used = launch.phases or launch.points or gains_whole_blocks(mapping, loops, frozenset(coordinates))
    return phase_names(host, coordinates, names) if used else None


def _of_points(mapping: GpuMapping, item: ItemInstances, loops: Node, names: DeviceNames) -> Node:
    """The loops of all points of a launch without phases; as they are where one point has no use for its block."""
    points = points_of(item.launch, item.places.coordinates)
    made = item_loops(mapping, item, points, [()] * len(points), names)
    return made if len(points) > 1 or _uses(made, item.places) else loops


def _used(places: Names | None, launch: Launch, phases: tuple[PhaseLoops, ...], loops: Node) -> Names | None:
    """The names for where blocks begin, where anything asks for them."""
    return places if phases or launch.points or _uses(loops, places) else None


def _uses(loops: Node, places: Names | None) -> bool:
    """Whether a condition asks where the block begins."""
    return places is not None and any(isinstance(own, If) and variables(own.condition).intersection(places.firsts)
                                      for own in walk_nodes(loops))


def private_arrays(mapping: GpuMapping, launch: Launch) -> tuple[str, ...]:
    """The temporaries whose values never leave a work item of one launch."""
    return tuple(own.array.name for own in mapping.arrays
                 if own.array.is_temporary and not own.by_value and own.copied_in.is_empty()
                 and _stays_inside(mapping, launch, own.array.name))


def _stays_inside(mapping: GpuMapping, launch: Launch, array: str) -> bool:
    """Whether only this launch uses an array, and no value goes from one work item to another."""
    users = {s.name for s in mapping.scop.statements for a in s.accesses if a.array == array}
    if not users <= set(launch.statements()) or not all(launch_has_all(mapping, launch, user) for user in users):
        return False
    flow = [Active(dependence=p, relation=p.relation) for p in mapping.schedule.dependences.pairs
            if p.array == array and p.kind is DependenceKind.FLOW]
    return all(carrier(flow, values_of(function)) is None for function in (*launch.host, *launch.coordinates))


def launch_has_all(mapping: GpuMapping, launch: Launch, statement: str) -> bool:
    """Whether a launch runs every instance of a statement."""
    domain = isl.UnionSet.from_set(mapping.scop.statement(statement).domain.intersect_params(mapping.scop.context))
    return bool(domain.is_subset(launch.domain))
