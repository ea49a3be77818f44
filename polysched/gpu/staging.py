"""What the work items of a block share: tiles of arrays that they read again and again, staged in shared memory.

The instances of a work item are cut into phases in the order of the schedule.  A phase with a step runs tile after
tile of the step's values; in front of each tile the block copies what it reads, and waits at a barrier before and
behind.  The order of a work item's instances stays that of the schedule, and what is staged nobody writes.

Source: S. Verdoolaege et al., "Polyhedral Parallel Code Generation for CUDA", ACM TACO 9(4), 2013, section 6.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import TypeAlias

import islpy as isl

from polysched.gpu.boxes import Edge, box_elements, box_of
from polysched.gpu.instances import fixed, image_of, within
from polysched.gpu.known import Known
from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import Launch, Phase
from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scop.budget import with_budget
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.scop.scop import Access, AccessKind, Scop, Statement

Boxes: TypeAlias = Mapping[tuple[Phase, str], tuple[Edge, ...] | None]
"""What a block reads in a tile, by phase and array; None where no constant extents hold it."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """The parameters that say where a tile of a block is.

    Parameters
    ----------
    host : values of the loops of the host.
    coordinates : values that tell work items apart.
    firsts : the least value of each coordinate in the block.
    tile : the least value of the step in the tile.
    """

    host: tuple[str, ...]
    coordinates: tuple[str, ...]
    firsts: tuple[str, ...]
    tile: str = ""


def names_of(launch: Launch) -> Names:
    """Names that no program has, for a launch."""
    coordinates = range(len(launch.coordinates))
    return Names(host=tuple(f"polysched_host{k}" for k in range(len(launch.host))),
                 coordinates=tuple(f"polysched_item{k}" for k in coordinates),
                 firsts=tuple(f"polysched_first{k}" for k in coordinates), tile="polysched_tile")


def phases_of(schedule: Schedule, launch: Launch, *, shared: bool = True, known: Known | None = None
              ) -> tuple[Phase, ...]:
    """The phases of a launch; none where nothing is worth staging or keeping, or where isl needs too long to tell.

    Parameters
    ----------
    shared : stage in shared memory; without it a phase only keeps elements in variables, where there are points.
    known : of the launch, whatever its sizes.
    """
    scop, known = schedule.scop, known or Known()
    if not launch.coordinates or not (shared or launch.points) or known.once(
            ("temporaries",), lambda: has_temporaries(scop, launch)):
        return ()
    parts = known.once(("parts",), lambda: parts_of(schedule, launch))
    stager = _Stager(scop=scop, launch=launch, shared=shared, known=known)
    found = with_budget(LIMITS.staging_operations, partial(stager.decided, parts))
    if found is None or not any(phase.staged or phase.kept for phase in found):
        return ()
    boxes = boxes_of(scop, launch, found, known)
    return found if shared_bytes(scop, launch, found, boxes) <= LIMITS.shared_bytes else ()


def parts_of(schedule: Schedule, launch: Launch) -> tuple[Phase, ...]:
    """The parts of a work item's order, each with the first member that changes, as its step."""
    return tuple(_parts(schedule.tree.intersect_domain(launch.domain).get_root().child(0), launch, launch.domain))


def shared_bytes(scop: Scop, launch: Launch, phases: Sequence[Phase], boxes: Boxes | None = None) -> int:
    """Bytes of shared memory that the phases of a block take; all products have the same tiles and pieces.

    Parameters
    ----------
    boxes : of what the phases stage, where they are known.
    """
    plain = [phase for phase in phases if phase.tensor is None]
    known = boxes_of(scop, launch, plain) if boxes is None else boxes
    staged = sum(box_bytes(scop, name, known[phase, name]) for phase in plain for name in phase.staged)
    products = [own.tensor for own in phases if own.tensor]
    return staged + max((own.row_bytes * sum(launch.edges[:2]) + own.shared_bytes_of_warps for own in products),
                       default=0)


def has_temporaries(scop: Scop, launch: Launch) -> bool:
    """Whether a launch writes arrays of the region alone, which may become variables of a work item."""
    return any(array.is_temporary and written(scop, launch, array.name) for array in scop.arrays)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Stager:
    """Decides what a launch of some sizes stages and keeps."""

    scop: Scop
    launch: Launch
    shared: bool
    known: Known

    def decided(self, parts: Sequence[Phase]) -> tuple[Phase, ...]:
        """All phases."""
        return tuple(part if part.step is None else self._with_arrays(part) for part in parts)

    def _with_arrays(self, phase: Phase) -> Phase:
        """The phase with what it stages in tiles as long as shared memory takes, and with what a work item keeps."""
        kept, wanted = self.known.once(("arrays", phase.domain), lambda: self._arrays(phase))
        scop, launch, edge = self.scop, self.launch, phase.edge
        while edge >= LIMITS.least_steps:
            sized = replace(phase, edge=edge)
            found = {name: _known_box(scop, launch, sized, name, self.known) for name in wanted if self.shared}
            boxes = {name: box for name, box in found.items()
                     if box is not None and self._reads(sized, name) >= LIMITS.least_reuse * box_elements(box)}
            if sum(box_bytes(scop, name, box) for name, box in boxes.items()) <= LIMITS.shared_bytes:
                return replace(sized, staged=tuple(boxes), kept=kept if boxes or launch.points else ())
            edge //= 2
        return phase

    def _arrays(self, phase: Phase) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What a work item keeps, and what else nobody writes."""
        names = _arrays(self.scop, phase.domain)
        kept = tuple(name for name in names if is_kept(self.scop, self.launch, phase, name))
        return kept, tuple(name for name in names if name not in kept and not written(self.scop, self.launch, name))

    def _reads(self, phase: Phase, array: str) -> int:
        """How often a full block reads an array in a full tile."""
        return prod(self.launch.edges) * self.known.once(
            ("reads", phase.domain, phase.edge, array), lambda: _reads(self.scop, self.launch, phase, array))


def _parts(node: isl.ScheduleNode, launch: Launch, domain: isl.UnionSet) -> Iterator[Phase]:
    """The parts of a work item's order: at each the first member of a band that still changes."""
    kind = kind_of(node)
    if kind == NodeKind.leaf:
        yield Phase(domain=domain)
    elif kind in (NodeKind.sequence, NodeKind.set):
        for k in range(node.n_children()):
            yield from _parts(node.child(k), launch, domain)
    elif kind == NodeKind.filter:
        inside = domain.intersect(node.filter_get_filter())
        if not inside.is_empty():
            yield from _parts(node.child(0), launch, inside)
    elif kind == NodeKind.band and (step := _first_changing(node, launch, domain)) is not None:
        yield Phase(domain=domain, step=step.intersect_domain(domain), edge=LIMITS.staged_steps)
    else:
        yield from _parts(node.child(0), launch, domain)


def _first_changing(band: isl.ScheduleNode, launch: Launch, domain: isl.UnionSet) -> isl.UnionPwAff | None:
    """The first member of a band that is no coordinate and no loop of the host."""
    given = [own.intersect_domain(domain) for own in (*launch.host, *launch.coordinates)]
    partial_schedule = band.band_get_partial_schedule()
    for k in range(band.band_n_member()):
        member = partial_schedule.get_union_pw_aff(k).intersect_domain(domain)
        if not any(member.plain_is_equal(own) for own in given):
            return member
    return None


def box_in_tile(scop: Scop, launch: Launch, phase: Phase, array: str) -> tuple[Edge, ...] | None:
    """The box of an array that a block reads in one tile; None where no constant extents hold it."""
    return box_of(elements_in_tile(scop, launch, phase, array, names_of(launch)))


def boxes_of(scop: Scop, launch: Launch, phases: Sequence[Phase], known: Known | None = None) -> Boxes:
    """The boxes of what phases stage."""
    known = known or Known()
    return {(phase, name): _known_box(scop, launch, phase, name, known) for phase in phases for name in phase.staged}


def _known_box(scop: Scop, launch: Launch, phase: Phase, array: str, known: Known) -> tuple[Edge, ...] | None:
    """As `box_in_tile`, once for equal edges of the block and the tile."""
    def box() -> tuple[Edge, ...] | None:
        block = known.once(("block", *place), lambda: block_in_tile(launch, phase, names_of(launch)))
        return box_of(touched(scop, block, array))

    place = (phase.domain, phase.edge, launch.edges)
    return known.once(("box", array, *place), box)


def box_bytes(scop: Scop, array: str, box: tuple[Edge, ...] | None) -> int:
    """Bytes of the box of an array; 0 where there is none."""
    return 0 if box is None else box_elements(box) * scop.array(array).dtype.bytes


def elements_in_tile(scop: Scop, launch: Launch, phase: Phase, array: str, names: Names) -> isl.Set:
    """The elements of an array that a block touches in one tile of a phase."""
    return touched(scop, block_in_tile(launch, phase, names), array)


def block_in_tile(launch: Launch, phase: Phase, names: Names) -> isl.UnionSet:
    """The instances of a block in one tile of a phase; in all of it where there is no step."""
    inside = fixed(phase.domain, dict(zip(names.host, launch.host, strict=True)))
    for function, first, edge in zip(launch.coordinates, names.firsts, launch.edges, strict=True):
        inside = within(inside, function, first, edge)
    return inside if phase.step is None else within(inside, phase.step, names.tile, phase.edge)


def item_in_phase(launch: Launch, phase: Phase, names: Names) -> isl.UnionSet:
    """The instances of a work item in a phase."""
    return fixed(phase.domain, dict(zip((*names.host, *names.coordinates), (*launch.host, *launch.coordinates),
                                        strict=True)))


def touched(scop: Scop, domain: isl.UnionSet, array: str,
            kinds: Collection[AccessKind] = frozenset(AccessKind)) -> isl.Set:
    """The elements of an array that some instances touch.

    Parameters
    ----------
    kinds : of the accesses that count.
    """
    accesses = _accesses(scop, domain, array)
    space = accesses[0][1].relation.get_space().range()
    reached = [isl.UnionMap.from_map(access.relation).intersect_domain(domain).range()
               for _, access in accesses if access.kind in kinds]
    if not reached:
        return isl.Set.empty(space)
    found = reached[0]
    for part in reached[1:]:
        found = found.union(part)
    if found.is_empty():
        return isl.Set.empty(space).align_params(found.get_space())
    return isl.Set.from_union_set(found)


def _accesses(scop: Scop, domain: isl.UnionSet, array: str) -> list[tuple[Statement, Access]]:
    """The accesses of an array by statements that have some instances."""
    return [(statement, access) for statement in scop.statements for access in statement.accesses
            if access.array == array
            and not domain.intersect(isl.UnionSet.from_set(statement.domain)).is_empty()]


def _arrays(scop: Scop, domain: isl.UnionSet) -> list[str]:
    """The arrays, scalars apart, whose accesses by some instances are all known exactly."""
    names = [array.name for array in scop.arrays if array.extents and not array.is_temporary]
    found = {name: _accesses(scop, domain, name) for name in names}
    return [name for name, own in found.items()
            if own and all(access.exact and len(access.subscripts) == len(scop.array(name).extents)
                           for _, access in own)]


def written(scop: Scop, launch: Launch, array: str) -> bool:
    return any(access.is_write for _, access in _accesses(scop, launch.domain, array))


def _reads(scop: Scop, launch: Launch, phase: Phase, array: str) -> int:
    """How often a work item reads an array in a full tile."""
    assert phase.step is not None, "only phases with steps have tiles"
    names = names_of(launch)
    inside = within(item_in_phase(launch, phase, names), phase.step, names.tile, phase.edge)
    total = 0
    for statement, _ in _accesses(scop, phase.domain, array):
        own = inside.intersect(isl.UnionSet.from_set(statement.domain))
        box = None if own.is_empty() else box_of(isl.Set.from_union_set(own))
        total += phase.edge if box is None else box_elements(box)
    return total


def is_kept(scop: Scop, launch: Launch, phase: Phase, array: str) -> bool:
    """Whether a work item touches one element alone in the phase: a variable holds it meanwhile."""
    elements = touched(scop, item_in_phase(launch, phase, names_of(launch)), array)
    return not elements.is_empty() and bool(elements.lexmin().is_equal(elements.lexmax()))


def element_of(launch: Launch, phase: Phase, access: Access, names: Names) -> isl.PwMultiAff | None:
    """The one element of an access at values of coordinates and step, which are parameters; None for more."""
    assert phase.step is not None, "only phases with steps have tiles"
    at_step = fixed(item_in_phase(launch, phase, names), {names.tile: phase.step})
    reached = isl.UnionMap.from_map(access.relation).intersect_domain(at_step).range()
    if reached.is_empty():
        return None
    elements = isl.Set.from_union_set(reached)
    return elements.lexmin_pw_multi_aff() if elements.lexmin().is_equal(elements.lexmax()) else None


def steps_of(launch: Launch, phase: Phase, names: Names) -> isl.Set:
    """`{ [t] }`: the values of the step that a block has."""
    assert phase.step is not None, "only phases with steps have tiles"
    return image_of(block_in_tile(launch, replace(phase, step=None), names), phase.step)
