"""Exact legality of any schedule tree, decided by isl while the tree is walked level by level.

At a node, a dependence is *active* where its source and sink have met nothing yet that orders them.  A
band member splits the active part into violated (sink before source), satisfied (sink after source, done)
and equal (still active below).  At a leaf nothing may be active: two different instances at the same
place have no order.  No lexicographic map over the whole schedule is ever built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from functools import partial
from itertools import chain, product
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.limits import LIMITS
from polysched.dependence.reordering.complete_trees import require_complete
from polysched.dependence.reordering.quotients import alike, have_quotients
from polysched.errors import BudgetExceededError, IllegalScheduleError
from polysched.records import dataclass
from polysched.scop.budget import in_words, require_budget, with_budget
from polysched.scop.schedule_nodes import NodeKind, kind_of

Function = TypeVar("Function", isl.PwAff, isl.Set)


class Kept:
    """Parts of relations that were cut out once: schedules by hand ask the same of tree after tree.

    Equal relations are one object, so that a part is known by its identity; all that are known are held here.
    """

    def __init__(self) -> None:
        self._one: dict[int, isl.Map] = {}
        self._cut: dict[tuple[str, int, int, int], tuple[isl.Map, Any, Any, isl.Map]] = {}

    def one(self, relation: isl.Map) -> isl.Map:
        """The object of a relation."""
        known = self._one.setdefault(hash(relation), relation)
        return known if known.plain_is_equal(relation) else relation

    def cut(self, what: str, relation: isl.Map, source: Function, sink: Function, find: Callable[[], isl.Map]
            ) -> isl.Map:
        """What `find` cuts out of a relation, by `source` and `sink` alone."""
        key = (what, id(relation), hash(source), hash(sink))
        known = self._cut.get(key)
        if known is not None and known[1].plain_is_equal(source) and known[2].plain_is_equal(sink):
            return known[3]
        found = find()
        found = self.one(isl.Map.empty(found.get_space()) if found.is_empty() else found)
        if len(self._cut) >= LIMITS.kept_parts:
            self._cut.clear()
            self._one.clear()
        self._cut[key] = relation, source, sink, found   # the relation is held, so that no other one gets its id
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Active:
    """The part of a dependence that nothing above some node orders.

    Parameters
    ----------
    dependence : the dependence it is a part of.
    relation : instance pairs, source to sink; not empty.
    ordered : the source must run first; otherwise (updates of a relaxed reduction) any order will do, but a
        loop that runs the two at different values is not parallel.
    tiles : values of loops around that are equal for both instances, too, which is not cut out yet (`same_tiles`).
    kept : what was cut out of it and of other parts.
    """

    dependence: Dependence
    relation: isl.Map
    ordered: bool = True
    tiles: tuple[dict[str, isl.PwAff], ...] = ()
    kept: Kept = field(default_factory=Kept, repr=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class Violation:
    """One dependence that a schedule breaks, with one concrete pair of instances.

    Parameters
    ----------
    dependence : the dependence.
    relation : every violated pair.
    parameters : values of the parameters for the witness.
    source, sink : the witness: coordinates of the instance that must run first, and of the later one.
    reason : what the schedule does with the pair.
    """

    dependence: Dependence
    relation: isl.Map
    parameters: dict[str, int]
    source: tuple[int, ...]
    sink: tuple[int, ...]
    reason: str

    def __str__(self) -> str:
        def instance(name: str, at: tuple[int, ...]) -> str:
            return f"{name}[{', '.join(map(str, at))}]"

        sizes = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        return (f"{instance(self.dependence.source, self.source)} must run before "
                f"{instance(self.dependence.sink, self.sink)} ({self.dependence.kind.value} dependence on "
                f"{self.dependence.array}){' with ' + sizes if sizes else ''}, but {self.reason}")


def violation(dependences: Dependences, tree: isl.Schedule) -> Violation | None:
    """The first violated dependence of a schedule tree, or None when the tree is legal.

    Raises
    ------
    UsageError : the tree does not run every instance exactly once.
    """
    scop, root = dependences.scop, tree.get_root()
    require_complete(root, scop.domain.intersect_params(scop.context))
    return _violation_below(root, [part for part in all_active(dependences) if part.ordered])


LATER_FIRST = "the schedule runs the later instance first"
LEGALITY_OPERATIONS = LIMITS.legality_isl_operations
LEGALITY_SECONDS = LIMITS.legality_seconds


def check_legal(dependences: Dependences, tree: isl.Schedule, *, what: str = "schedule",
                isl_operations: int = LEGALITY_OPERATIONS) -> None:
    """Refuse a schedule tree that breaks a dependence.

    Raises
    ------
    IllegalScheduleError : with one violated pair of instances as witness.
    BudgetExceededError : isl cannot decide it within the budget.
    """
    if with_budget(isl_operations, partial(_decided, dependences, tree, what), seconds=LEGALITY_SECONDS) is None:
        require_budget()   # where that of the caller is spent, the caller says so
        raise BudgetExceededError(f"whether the {what} is legal needs more than "
                                  f"{in_words(isl_operations, LEGALITY_SECONDS)}",
                                  where=dependences.scop.name,
                                  hint="use smaller constants in the schedule, or split it into fewer steps")


def _decided(dependences: Dependences, tree: isl.Schedule, what: str) -> bool:
    require_legal(dependences, tree, what=what)
    return True


def require_legal(dependences: Dependences, tree: isl.Schedule, *, what: str) -> None:
    """`check_legal` inside a budget that the caller set: IllegalScheduleError, or isl's own error at its end."""
    found = violation(dependences, tree)
    if found is not None:
        raise illegal(dependences, found, what=what)


def illegal(dependences: Dependences, found: Violation, *, what: str) -> IllegalScheduleError:
    """The refusal that tells of a violation."""
    pair = found.dependence
    return IllegalScheduleError(
        f"the {what} breaks the {pair.kind.value} dependence {pair.source_reference} -> {pair.sink_reference} "
        f"on {pair.array}",
        where=dependences.scop.name, witness=str(found),
        hint="the two instances touch the same element and at least one writes it; keep their order")


def all_active(dependences: Dependences) -> list[Active]:
    """Every dependence but the input ones in full: what is active at the root of a tree."""
    if dependences not in _WHOLE:
        kept = Kept()
        _WHOLE[dependences] = tuple(
            Active(dependence=d, relation=kept.one(d.relation), ordered=dependences.orders(d), kept=kept)
            for d in dependences.pairs if d.kind is not DependenceKind.INPUT)
    return list(_WHOLE[dependences])


_WHOLE: WeakKeyDictionary[Dependences, tuple[Active, ...]] = WeakKeyDictionary()


def active_at(dependences: Dependences, node: isl.ScheduleNode) -> list[Active]:
    """What is still active where `node` stands, given everything above it in its tree."""
    path = []
    while node.has_parent():
        path.append(node.get_child_position())
        node = node.parent()
    active = all_active(dependences)
    for position in reversed(path):
        active = active_below(node, active, position)
        node = node.child(position)
    return active


def active_below(node: isl.ScheduleNode, active: list[Active], position: int, *,
                 equal: Callable[[list[Active], dict[str, isl.PwAff]], list[Active]] | None = None) -> list[Active]:
    """What stays active in the child at `position` of a node, of what was active at the node.

    Parameters
    ----------
    equal : what stays active below a band member: `equal_parts`, unless `same_tiles` will do.
    """
    kind = kind_of(node)
    if kind == NodeKind.band:
        partial = node.band_get_partial_schedule()
        for member in range(node.band_n_member()):
            active = (equal or equal_parts)(active, total_values(partial, member))
    elif kind == NodeKind.filter:
        chosen = filtered_sets(node.filter_get_filter())
        active = [p for part in active if (p := within(part, chosen, chosen)) is not None]
    return active


def member_values(partial: isl.MultiUnionPwAff, member: int) -> dict[str, isl.PwAff]:
    """The values of one band member, by statement name."""
    pieces = partial.get_union_pw_aff(member).get_pw_aff_list()
    found = {}
    for index in range(pieces.n_pw_aff()):
        piece = pieces.get_at(index)
        found[piece.domain().get_tuple_name()] = piece
    return found


def total_values(partial: isl.MultiUnionPwAff, member: int) -> dict[str, isl.PwAff]:
    """`member_values` for comparisons: a value that one expression gives is given for all instances.

    The constraints of the domain, strides among them, would otherwise come into every relation again with every
    member, and isl would drown in existentially quantified variables.
    """
    return {name: isl.PwAff.from_aff(pieces[0][1]) if len(pieces := values.get_pieces()) == 1 else values
            for name, values in member_values(partial, member).items()}


def backward(part: Active, values: dict[str, isl.PwAff]) -> isl.Map:
    """The pairs that one band member runs in the wrong order.

    A sum of quotients runs forward where all that is divided does, which isl tells far sooner.
    """
    source, sink = values[part.dependence.source], values[part.dependence.sink]
    both = alike(source, sink)
    if both is not None and all(_runs_forward(part, *each) for each in both):
        return isl.Map.empty(part.relation.get_space())
    return _in_one_tile(part, part.kept.cut(
        "backward", part.relation, source, sink, lambda: part.relation.intersect(source.gt_map(sink))))


def _runs_forward(part: Active, source: isl.PwAff, sink: isl.PwAff) -> bool:
    """Whether no pair, in one tile or not, has a lesser value at its sink; False where that takes integer divisions."""
    both = alike(source, sink)
    if both is not None:
        return all(_runs_forward(part, *each) for each in both)
    return bool(part.kept.cut("backward", part.relation, source, sink, lambda: part.relation.intersect(
        source.gt_map(sink))).is_empty())


def carried(part: Active, values: dict[str, isl.PwAff]) -> isl.Map:
    """The pairs that one band member runs at different values.

    By intersections: subtracting the equal pairs takes isl far longer where the values are those of tiles.
    """
    source, sink = values[part.dependence.source], values[part.dependence.sink]
    later = part.kept.cut("forward", part.relation, source, sink, lambda: part.relation.intersect(source.lt_map(sink)))
    return _in_one_tile(part, later).union(backward(part, values))


def _in_one_tile(part: Active, pairs: isl.Map) -> isl.Map:
    """Those of some pairs that are in one tile of all loops around."""
    for values in part.tiles:
        if pairs.is_empty():
            break
        pairs = pairs.intersect(values[part.dependence.source].eq_map(values[part.dependence.sink]))
    return pairs


def cut_out(part: Active) -> Active | None:
    """The part with its tiles cut out of the relation; None when nothing is left."""
    return part if not part.tiles else _restricted(replace(part, tiles=()), _in_one_tile(part, part.relation))


def same_tiles(active: list[Active], values: dict[str, isl.PwAff]) -> list[Active]:
    """What stays active below one band member, tiles remembered instead of cut out of the relation.

    Most questions have the same answer for all tiles together, and isl gives it far sooner.
    """
    if not have_quotients(values):
        return equal_parts(active, values)
    return [replace(part, tiles=(*part.tiles, values)) for part in active]


def equal_parts(active: list[Active], values: dict[str, isl.PwAff]) -> list[Active]:
    """What stays active below one band member: the pairs with equal values."""
    return [same for part in active if (same := _equal_part(part, values)) is not None]


def _equal_part(part: Active, values: dict[str, isl.PwAff]) -> Active | None:
    source, sink = values[part.dependence.source], values[part.dependence.sink]
    return _restricted(part, part.kept.cut(
        "equal", part.relation, source, sink, lambda: part.relation.intersect(source.eq_map(sink))))


def _restricted(part: Active, relation: isl.Map) -> Active | None:
    """A part with fewer pairs; None when there are none."""
    return None if relation.is_empty() else replace(part, relation=relation)


def carrier(active: list[Active], values: dict[str, isl.PwAff]) -> Active | None:
    """A dependence that a loop with these values carries, with the carried pairs; None for a parallel loop."""
    for part in active:
        across = carried(part, values)
        if not across.is_empty():
            return replace(part, relation=across, tiles=())
    return None


@dataclass(frozen=True, kw_only=True)
class BandProperties:
    """What the dependences say about one band, given everything outside it.

    Parameters
    ----------
    permutable : no member runs an active pair backward, so the members may be permuted and tiled.
    coincident : per member, whether every pair that is active at the band has distance zero in it; such a
        loop is parallel wherever it stands in the band, and parallel between tiles too.
    parallel : per member, whether the loop is parallel where it stands: pairs that an earlier member of the
        same band carries do not count.
    """

    permutable: bool
    coincident: tuple[bool, ...]
    parallel: tuple[bool, ...]


def band_properties(dependences: Dependences, band: isl.ScheduleNode) -> BandProperties:
    """Judge one band node of a legal tree exactly."""
    return judge_band(active_at(dependences, band), band)


def judge_band(active: list[Active], band: isl.ScheduleNode) -> BandProperties:
    """Judge a band node from what is active at it."""
    partial = band.band_get_partial_schedule()
    remaining = active
    permutable, coincident, parallel = True, [], []
    for member in range(band.band_n_member()):
        values = total_values(partial, member)
        coincident.append(carrier(active, values) is None)
        parallel.append(coincident[-1] or carrier(remaining, values) is None)
        permutable = permutable and all(backward(p, values).is_empty() for p in active if p.ordered)
        remaining = equal_parts(remaining, values)
    return BandProperties(permutable=permutable, coincident=tuple(coincident), parallel=tuple(parallel))


def _violation_below(node: isl.ScheduleNode, active: list[Active]) -> Violation | None:
    if not active:
        return None
    kind = kind_of(node)
    if kind == NodeKind.leaf:
        left = next((same for part in active if (same := cut_out(part)) is not None), None)
        return None if left is None else witness_of(left, "the schedule leaves the two unordered")
    if kind == NodeKind.band:
        partial = node.band_get_partial_schedule()
        for member in range(node.band_n_member()):
            values = total_values(partial, member)
            for part in active:
                wrong = backward(part, values)
                if not wrong.is_empty():
                    return witness_of(replace(part, relation=wrong, tiles=()), LATER_FIRST)
            active = same_tiles(active, values)
    elif kind in (NodeKind.sequence, NodeKind.set):
        return _violation_in_children(node, active, ordered=kind == NodeKind.sequence)
    return _violation_below(node.child(0), active)


def _violation_in_children(node: isl.ScheduleNode, active: list[Active], *, ordered: bool) -> Violation | None:
    """Judge a sequence or set: pairs across children by their order, pairs inside one child by the child."""
    chosen = [filtered_sets(node.child(i).filter_get_filter()) for i in range(node.n_children())]
    inside: list[list[Active]] = [[] for _ in chosen]
    for first, last, pairs in chain.from_iterable(_between(part, chosen, ordered=ordered) for part in active):
        if first == last:
            inside[first].append(pairs)
        elif (wrong := cut_out(pairs)) is not None:
            return witness_of(wrong, LATER_FIRST if ordered else "the schedule leaves the two unordered")
    for position, remaining in enumerate(inside):
        found = _violation_below(node.child(position).child(0), remaining)
        if found is not None:
            return found
    return None


def _between(part: Active, chosen: list[dict[str, isl.Set]], *, ordered: bool) -> Iterator[tuple[int, int, Active]]:
    """Two children that run the sources and the sinks of some pairs, with these; but for those in their order."""
    starts = [i for i, names in enumerate(chosen) if part.dependence.source in names]
    ends = [i for i, names in enumerate(chosen) if part.dependence.sink in names]
    for first, last in product(starts, ends):
        if not (ordered and first < last) and (pairs := within(part, chosen[first], chosen[last])) is not None:
            yield first, last, pairs


def filtered_sets(chosen: isl.UnionSet) -> dict[str, isl.Set]:
    """The sets of a filter by statement name."""
    sets = chosen.get_set_list()
    return {sets.get_at(i).get_tuple_name(): sets.get_at(i) for i in range(sets.n_set())}


def within(part: Active, sources: dict[str, isl.Set], sinks: dict[str, isl.Set]) -> Active | None:
    """The pairs that start and end in the given sets; None when there are none."""
    source, sink = sources.get(part.dependence.source), sinks.get(part.dependence.sink)
    if source is None or sink is None:
        return None
    return _restricted(part, part.kept.cut(
        "within", part.relation, source, sink,
        lambda: part.relation.intersect_domain(source).intersect_range(sink)))


def witness_of(part: Active, reason: str, *, least: bool = False) -> Violation:
    """One concrete pair, at parameter values as small as a cheap search finds.

    Parameters
    ----------
    least : the lexicographically least pair, where there is one; otherwise any.
    """
    relation = part.relation
    parameters = {}
    for position in range(relation.dim(isl.dim_type.param)):
        value = _least_parameter(_without_empty_parts(relation), position)
        relation = relation.fix_val(isl.dim_type.param, position, value)
        parameters[str(relation.get_dim_name(isl.dim_type.param, position))] = int(value.to_python())
    pairs = _without_empty_parts(relation).wrap()
    bounded = least and all(pairs.dim_has_lower_bound(isl.dim_type.set, k) for k in range(pairs.dim(isl.dim_type.set)))
    point = (_lexicographically_least(pairs) if bounded else pairs).sample_point()
    count = point.get_space().dim(isl.dim_type.set)
    at = tuple(int(point.get_coordinate_val(isl.dim_type.set, i).to_python()) for i in range(count))
    depth = part.relation.dim(isl.dim_type.in_)
    return Violation(dependence=part.dependence, relation=part.relation, parameters=parameters,
                     source=at[:depth], sink=at[depth:], reason=reason)


def _without_empty_parts(relation: isl.Map) -> isl.Map:
    """The relation without parts that no whole numbers fulfil, from which isl would take least values nevertheless."""
    found = isl.Map.empty(relation.get_space())
    for part in relation.get_basic_maps():
        if not part.is_empty():
            found = found.union(isl.Map.from_basic_map(part))
    return found


def _lexicographically_least(pairs: isl.Set) -> isl.Set:
    """The least pair of a set without parameters."""
    for k in range(pairs.dim(isl.dim_type.set)):
        pairs = pairs.fix_val(isl.dim_type.set, k, pairs.dim_min_val(k))
    return pairs


def _least_parameter(relation: isl.Map, position: int) -> isl.Val:
    """A value of one parameter for which pairs exist: the least from zero on, or else the nearest to it."""
    values = relation.params()
    others = [i for i in range(values.dim(isl.dim_type.param)) if i != position]
    for other in reversed(others):
        values = values.project_out(isl.dim_type.param, other, 1)
    line = values.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, 1)
    sizes = line.intersect(isl.Set("{ [value] : value >= 0 }"))
    nearest = line.dim_max_val(0) if sizes.is_empty() else sizes.dim_min_val(0)
    if nearest.is_int():
        return nearest
    return line.sample_point().get_coordinate_val(isl.dim_type.set, 0)
