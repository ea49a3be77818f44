"""The phases of a work item as loops: tiles of a step, what a block copies in front of each, what a variable holds."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polysched.emit_c.c_source import EmitOptions
from polysched.emit_c.generation.ast_build import build_ast
from polysched.emit_c.generation.ast_reader import read_ast, read_function
from polysched.emit_c.generation.unit_steps import count_by_one
from polysched.emit_c.generation.unskewing import unskew
from polysched.emit_c.loop_ir.index import Condition, Linear, constant, substitute, substitute_condition, variable
from polysched.emit_c.loop_ir.loops import For, If, Node, Temporary
from polysched.emit_c.loop_ir.names import name_loops
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import block, walk_nodes
from polysched.emit_gpu.fixed_values import bounds, launched_at, when, within_values
from polysched.emit_gpu.item_points import (
    Point,
    full_blocks,
    has_no_forms,
    is_shared,
    jammed,
    points_of,
    with_temporaries,
)
from polysched.emit_gpu.limits import LIMITS
from polysched.emit_gpu.names import DeviceNames
from polysched.emit_gpu.tensor_cores.loops import TensorLoops, tensor_loops
from polysched.gpu.boxes import box_of
from polysched.gpu.instances import dealt, fixed, within
from polysched.gpu.mapping import GpuMapping, Launch, Phase
from polysched.gpu.staging import Names, elements_in_tile, item_in_phase, steps_of, touched
from polysched.records import dataclass
from polysched.scop.scop import AccessKind, Scop, Statement

ITEM = "item"
"""What the number of a work item in its block is called, unless the program has the name."""

LANE = "lane"
"""What the number of a work item among all of a reduction is called, in the same way."""


@dataclass(frozen=True, eq=False, kw_only=True)
class StagedTile:
    """A box of an array in shared memory.

    Parameters
    ----------
    temporary : its place there; the bases are the least subscripts of the box.
    ends : per dimension the first subscript that work items touch, and one past the last; any if they touch none.
    condition : that a launch touches any; None where every one does.
    """

    temporary: Temporary
    ends: tuple[tuple[Linear, Linear], ...]
    condition: Condition | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Kept:
    """An element that a variable of the work item holds.

    Parameters
    ----------
    temporary : the variable.
    subscripts : of the element.
    condition : that the work item touches it; None where every one does.
    written : whether it is stored behind the phase.
    stored : that the work item may write it, which others may only read; None where every one may.
    changed : it is stored where its bits changed, since conditions on data say whether it is written at all.
    """

    temporary: Temporary
    subscripts: tuple[Linear, ...]
    condition: Condition | None
    written: bool
    stored: Condition | None = None
    changed: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class TeamResult:
    """What the variables of a team make together.

    Parameters
    ----------
    lane : the variable with the number of an item among all that reduce together.
    element : that they are combined into; its variable is that of one item.
    shared : array in shared memory with one element per item.
    operator : as `Reduction` has it.
    """

    lane: str
    element: Kept
    shared: str
    operator: str


@dataclass(frozen=True, eq=False, kw_only=True)
class PhaseLoops:
    """A phase of a work item.

    Parameters
    ----------
    loops : of one tile; of all where there are no tiles.
    tile : the variable with the first value of the step in a tile; empty without tiles.
    edge : values of the step in a tile.
    steps : the first value of the step in the block, and one past the last.
    staged : what the block copies in front of each tile.
    kept : what variables hold.
    team : how a team combines these, in a phase that reduces.
    waits : whether the items of the block wait for one another first.
    tensor : what the block computes on tensor cores in the place of the loops.
    """

    loops: Node
    tile: str = ""
    edge: int = 0
    steps: tuple[Linear, Linear] = (constant(0), constant(0))
    staged: tuple[StagedTile, ...] = ()
    kept: tuple[Kept, ...] = ()
    team: TeamResult | None = None
    waits: bool = False
    tensor: TensorLoops | None = None


def generated(mapping: GpuMapping, inside: isl.UnionSet, context: isl.Set, names: DeviceNames) -> Node:
    """The loops over some instances of a work item, in the order of the schedule.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into the budget.
    """
    tree = mapping.schedule.tree.intersect_domain(inside)
    built = build_ast(tree, context=context, max_operations=EmitOptions.max_operations)
    loops = count_by_one(unskew(read_ast(built.root)))
    return name_loops(loops, iterators=names.iterators, taken=names.taken)


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemInstances:
    """What one point of a work item runs.

    Parameters
    ----------
    launch, phase : of it.
    inside : the instances, for coordinates that are parameters.
    places : names of the places of work items, blocks and tiles.
    runs : what holds of the parameters and of the loops of the host.
    """

    launch: Launch
    phase: Phase
    inside: isl.UnionSet
    places: Names
    runs: isl.Set


def item_loops(mapping: GpuMapping, item: ItemInstances, points: Sequence[Point],
               held: Sequence[tuple[Temporary, ...]], names: DeviceNames) -> Node:
    """The loops of all points of a work item.

    A block whose points all run has loops of its own, without conditions, in which all points share each step, or whose
    work items a device runs in lanes.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into the budget.
    """
    coordinates = frozenset(item.places.coordinates)
    known = in_block(item.launch, item.places, item.runs)

    def of_points(node: Node) -> Node:
        return jammed(node, points, coordinates, held)

    one = generated(mapping, item.inside, known, names)
    if is_shared(one, coordinates) or (len(points) == 1 and not gains_whole_blocks(mapping, one, coordinates)):
        return of_points(one)
    full = full_blocks(item.launch, item.phase, item.places)
    known_full = known.intersect(full)
    if known_full.is_empty() or full.n_basic_set() > LIMITS.full_block_pieces:
        return of_points(one)
    whole = generated(mapping, item.inside, known_full, names)
    condition = when(full, item.runs)
    if condition is None or not (has_no_forms(whole, coordinates) if len(points) == 1
                                 else is_shared(whole, coordinates)):
        return of_points(one)
    return If(condition, of_points(whole), of_points(one))


def gains_whole_blocks(mapping: GpuMapping, one: Node, coordinates: frozenset[str]) -> bool:
    """Whether a block without conditions becomes vectors: a device's loop over work items around no other loop."""
    return (all(gpu.loops_over_items for gpu in mapping.gpus) and not has_no_forms(one, coordinates)
            and not any(isinstance(own, For) for own in walk_nodes(one)))


def in_block(launch: Launch, places: Names, runs: isl.Set) -> isl.Set:
    """What holds of the places of a work item's points and of its block."""
    for own, first, edge in zip(places.coordinates, places.firsts, launch.edges, strict=True):
        runs = runs.intersect(isl.Set(f"[{own}, {first}] -> {{ : {first} <= {own} < {first} + {edge} }}"))
    return runs


def phase_names(host: tuple[str, ...], coordinates: tuple[str, ...], names: DeviceNames) -> Names:
    """Names for the places of tiles in device code."""
    return Names(host=host, coordinates=coordinates, tile=names.taken.fresh("tile"),
                 firsts=tuple(names.taken.fresh(f"block_{c}") for c in coordinates))


def phase_loops(mapping: GpuMapping, launch: Launch, names: DeviceNames, places: Names) -> tuple[PhaseLoops, ...]:
    """The phases of a launch as loops; none where it has none, or where a subscript is not written as a sum.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into the budget.
    """
    scop = mapping.scop
    moved = {name for phase in launch.phases if phase.reduces is None for name in (*phase.staged, *phase.kept)}
    if not all(_is_linear(statement, moved) for statement in scop.statements):
        return ()
    outside = fixed(launch.domain, dict(zip(places.host, launch.host, strict=True)))
    runs = launched_at(launch, places.host, scop.context.params())
    if all(phase.tensor is None for phase in launch.phases):   # beside products ptxas spills registers without a test
        runs = within_values(launch, places.firsts, runs, outside, launch.edges)
    return tuple(_Builder(mapping=mapping, launch=launch, names=names, places=places, runs=runs,
                          number=str(number) if number else "").made(phase)
                 for number, phase in enumerate(launch.phases))


def _is_linear(statement: Statement, arrays: set[str]) -> bool:
    """Whether the subscripts of some arrays are written as sums of iterators."""
    iterators = {name: variable(name) for name in statement.iterators}
    return all(linear_form(subscript, iterators) is not None
               for access in statement.accesses if access.array in arrays for subscript in access.subscripts)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Builder:
    mapping: GpuMapping
    launch: Launch
    names: DeviceNames
    places: Names
    runs: isl.Set
    number: str

    @property
    def scop(self) -> Scop:
        return self.mapping.scop

    def made(self, phase: Phase) -> PhaseLoops:
        """The loops of one phase."""
        points = points_of(self.launch, self.places.coordinates)
        if phase.reduces is not None:
            return self._reduced(phase, phase.reduces.operator, points[0])
        if phase.tensor is not None:
            return PhaseLoops(loops=block(()), tensor=self._product(phase), waits=phase.waits)
        if phase.step is None:
            return PhaseLoops(loops=self._loops(phase, points, [()] * len(points)), waits=phase.waits)
        staged = tuple(self._staged(phase, array) for array in phase.staged)
        kept = [tuple(self._kept(phase, array, point) for array in phase.kept) for point in points]
        held = [(*(tile.temporary for tile in staged), *(element.temporary for element in own)) for own in kept]
        return PhaseLoops(loops=self._loops(phase, points, held), waits=phase.waits, tile=self.places.tile,
                          edge=phase.edge, staged=staged, kept=tuple(element for own in kept for element in own),
                          steps=bounds(steps_of(self.launch, phase, self.places), in_block(self.launch, self.places,
                                                                                           self.runs)))

    def _product(self, phase: Phase) -> TensorLoops:
        """A phase on tensor cores."""
        fresh = self.names.taken.fresh
        shared = fresh("left_tile"), fresh("right_tile")
        return tensor_loops(self.scop, self.launch, phase, self.places, fresh("sum_step"), self.runs, shared)

    def _reduced(self, phase: Phase, operator: str, point: Point) -> PhaseLoops:
        """The loops of one item of a team, and how the team combines what they find."""
        assert phase.step is not None, "a reduction has steps"
        lane, team = self.names.taken.fresh(LANE), self.launch.team * self.launch.shares
        element = self._kept(phase, phase.kept[0], point)
        inside = dealt(item_in_phase(self.launch, phase, self.places), phase.step, lane, team)
        lanes = isl.Set(f"[{lane}] -> {{ : 0 <= {lane} < {team} }}")
        known = in_block(self.launch, self.places, self.runs).intersect(lanes)
        loops = with_temporaries(generated(self.mapping, inside, known, self.names), [element.temporary])
        shared = self.names.taken.fresh(f"{element.temporary.name}_team")
        return PhaseLoops(loops=loops, waits=phase.waits,
                          team=TeamResult(lane=lane, element=element, shared=shared, operator=operator))

    def _loops(self, phase: Phase, points: Sequence[Point], held: Sequence[tuple[Temporary, ...]]) -> Node:
        inside = item_in_phase(self.launch, phase, self.places)
        if phase.step is not None:
            inside = within(inside, phase.step, self.places.tile, phase.edge)
        item = ItemInstances(launch=self.launch, phase=phase, inside=inside, places=self.places, runs=self.runs)
        return item_loops(self.mapping, item, points, held, self.names)

    def _staged(self, phase: Phase, array: str) -> StagedTile:
        box = box_of(elements_in_tile(self.scop, self.launch, phase, array, self.places))
        assert box is not None, "what has no box is not staged"
        bases = tuple(sum((variable(name) * factor for name, factor in edge.factors), constant(edge.constant))
                      for edge in box)
        host = dict(zip(self.places.host, self.launch.host, strict=True))
        elements = touched(self.scop, fixed(phase.domain, host), array)
        name = self.names.taken.fresh(f"{self.names.arrays[array]}_tile{self.number}")
        temporary = Temporary(array=array, name=name, kept=tuple(range(len(box))), bases=bases,
                              extents=tuple(edge.extent for edge in box))
        return StagedTile(ends=tuple(self._ends(elements, k) for k in range(len(box))), temporary=temporary,
                          condition=when(elements, self.runs))

    def _ends(self, elements: isl.Set, dimension: int) -> tuple[Linear, Linear]:
        kinds, rest = isl.dim_type.set, elements.dim(isl.dim_type.set) - dimension - 1
        values = elements.project_out(kinds, dimension + 1, rest).project_out(kinds, 0, dimension)
        return bounds(values.reset_tuple_id(), self.runs)

    def _kept(self, phase: Phase, array: str, point: Point) -> Kept:
        """The element of one point."""
        inside, known = item_in_phase(self.launch, phase, self.places), in_block(self.launch, self.places, self.runs)
        elements = touched(self.scop, inside, array)
        written = touched(self.scop, inside, array, (AccessKind.MUST_WRITE, AccessKind.MAY_WRITE))
        surely = touched(self.scop, inside, array, (AccessKind.MUST_WRITE,))
        place = elements.lexmin_pw_multi_aff()

        def at_point(reached: isl.Set) -> Condition | None:
            condition = when(reached, known)
            return None if condition is None else substitute_condition(condition, point.values)

        subscripts = (read_function(place.get_pw_aff(k)) for k in range(elements.dim(isl.dim_type.set)))
        number = "".join(f"_{k}" for k in point.number) if self.launch.points else ""
        return Kept(written=not written.is_empty(), temporary=Temporary(
            array=array, name=self.names.taken.fresh(f"{self.names.arrays[array]}_item{self.number}{number}")),
            subscripts=tuple(substitute(own, point.values) for own in subscripts), condition=at_point(elements),
            stored=None if written.is_empty() else at_point(written),
            changed=not written.intersect_params(known).is_subset(surely))
