"""Index-set splitting for periodic domains: cut statements in two where long dependences would forbid time tiling.

A stencil on a ring, `a[t + 1][i] = f(a[t][(i - 1) % n], a[t][i], a[t][(i + 1) % n])`, has dependences from one end
to the other, of length n - 1 in both directions: no hyperplane but t runs forward along all of them.  Source and
sink of such a dependence lie at equal distance from a middle, i = (n - 1) / 2.  When every statement is cut there,
the two halves can have rows of opposite direction, t + i and t - i + n, which are neighbours at both ends: the ring
folded flat.  The cut changes no order; only the scheduler sees two statements instead of one, and its tree is read
back as one of the program as written, with rows in pieces.

Where an instance lies is read from the element that it writes, so that borders written as statements of their own
are cut like the others, and dimensions count from the last subscript, so that the copy of one time step fits the
array of all.

Source: Bondhugula, Bandishti, Cohen, Potron, Vasilache, "Tiling and optimizing time-iterated computations on periodic
domains", PACT 2014, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import TypeAlias

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import require_legal
from polysched.records import dataclass
from polysched.scheduling.limits import LIMITS
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.solving.problem import at_large_size, without_upper_limits
from polysched.scheduling.tree.loop_tree import (
    Band,
    Filter,
    LoopTree,
    Node,
    Sequence,
    children,
    from_isl,
    to_isl,
    with_children,
)
from polysched.scop.budget import ISL_OPERATIONS, in_words, with_budget
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.scop.scop import Access, AccessKind, Scop, Statement, union_set

Parts: TypeAlias = Mapping[str, Mapping[str, isl.Set]]
"""Per statement its parts by name, over the spaces of the parts."""

MOST_CUTS = LIMITS.most_cuts


SHORT = LIMITS.short_distance


@dataclass(frozen=True, order=True)
class Cut:
    """Everything that lies at most at `(coefficients . parameters + constant) / 2` is below the cut.

    Parameters
    ----------
    dimension : of the arrays, counted from the last subscript, which is 0.
    coefficients, constant : the sum of the two ends of the dependences that are cut.
    """

    dimension: int
    coefficients: tuple[int, ...]
    constant: int


Scheduler: TypeAlias = Callable[[Dependences, int, Mapping[str, tuple[str, ...]]], Schedule]
"""A scheduler for a program that is cut, the largest size of its rings that is a number, and the parts by statement."""


def with_split_index_sets(plain: Schedule, schedule: Scheduler, *,
                          isl_operations: int = ISL_OPERATIONS) -> Schedule:
    """The schedule of the program cut along its long dependences, where that deepens outermost bands.

    Parameters
    ----------
    plain : the schedule without cuts; comes back, with a note in its report, where cuts gain nothing.
    schedule : the scheduler for the program that is cut.
    isl_operations : budget of finding the cuts, and of reading the tree back and checking it.

    Raises
    ------
    IllegalScheduleError : never for a sound scheduler; the tree is checked against the program as written.
    """
    dependences = plain.dependences
    cut_up = with_budget(isl_operations, lambda: _cut_up(dependences))
    if cut_up is None:
        return _noted(plain, f"no index-set splitting: isl ran out of {in_words(isl_operations)}")
    cuts, parts, split = cut_up
    if not cuts:
        return _noted(plain, "no index-set splitting: no long dependences with a common middle")
    found = schedule(split, max(abs(cut.constant) + 1 for cut in cuts), {n: tuple(own) for n, own in parts.items()})
    tree = with_budget(isl_operations, lambda: _whole_tree(dependences, found.tree, parts))
    if tree is None:
        return _noted(plain, f"no index-set splitting: isl ran out of {in_words(isl_operations)}")
    before, after = outer_depths(plain.tree), outer_depths(tree)
    if sum(after.values()) <= sum(before.values()) or any(after[name] < before[name] for name in before):
        return _noted(plain, "no index-set splitting: the outermost bands would be no deeper")
    where = " and ".join(_middle(dependences.scop, cut) for cut in cuts)
    note = f"index-set splitting of {', '.join(n for n, p in parts.items() if len(p) > 1)} in {where}"
    return _noted(replace(found, dependences=dependences, tree=tree), note)


def _cut_up(dependences: Dependences) -> tuple[tuple[Cut, ...], Parts, Dependences]:
    """The cuts, the parts of every statement, and the dependences between parts."""
    cuts = find_cuts(dependences)
    parts = _parts(dependences.scop, cuts)
    return cuts, parts, _split(dependences, parts) if cuts else dependences


def _whole_tree(dependences: Dependences, tree: isl.Schedule, parts: Parts) -> isl.Schedule:
    """A tree over parts as one over the statements as written, checked exactly."""
    origin = {part: (name, domain) for name, own in parts.items() for part, domain in own.items()}
    decoded = from_isl(tree)
    whole = to_isl(LoopTree(domain=_joined_set(decoded.domain, origin), root=_read_back(decoded.root, origin)))
    require_legal(dependences, whole, what="schedule of the split index sets")
    return whole


def _noted(schedule: Schedule, note: str) -> Schedule:
    return replace(schedule, report=replace(schedule.report, rungs=(note, *schedule.report.rungs)))


def find_cuts(dependences: Dependences) -> tuple[Cut, ...]:
    """Where long dependences have their middle; nothing when there are more than MOST_CUTS such places."""
    scop = dependences.scop
    places = {s.name: _places(s) for s in scop.statements}
    context = without_upper_limits(scop.context)
    sums: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for pair in dependences.pairs:
        if not dependences.orders(pair):
            continue
        relation = pair.relation.gist_params(scop.context).intersect_params(context)
        for dimension in sorted(places[pair.source].keys() & places[pair.sink].keys()):
            source, sink = places[pair.source][dimension], places[pair.sink][dimension]
            for part in relation.get_basic_maps():
                for coefficients, constants in _long(isl.Map.from_basic_map(part), source, sink, context):
                    sums.setdefault((dimension, coefficients), []).extend(constants)
    cuts = tuple(sorted(Cut(dimension, coefficients, (min(constants) + max(constants)) // 2)
                        for (dimension, coefficients), constants in sums.items()))
    return cuts if len(cuts) <= MOST_CUTS else ()


def outer_depths(tree: isl.Schedule) -> dict[str, int]:
    """Per statement the least number of members of the outermost permutable band around its instances."""
    found: dict[str, int] = {}
    for names, depth in _outer_bands(tree.get_root()):
        for name in names:
            found[name] = min(depth, found.get(name, depth))
    return found


def _outer_bands(node: isl.ScheduleNode) -> Iterator[tuple[list[str], int]]:
    kind = kind_of(node)
    if kind in (NodeKind.band, NodeKind.leaf):
        permutable = kind == NodeKind.band and (node.band_get_permutable() or node.band_n_member() == 1)
        sets = node.get_domain().get_set_list()
        names = [str(sets.get_at(i).get_tuple_name()) for i in range(sets.n_set())]
        yield names, node.band_n_member() if permutable else 0
        return
    for position in range(node.n_children()):
        yield from _outer_bands(node.child(position))


def _places(statement: Statement) -> dict[int, isl.Map]:
    """Per dimension, from the last subscript on, where an instance lies: the element that it writes."""
    write = next((a for a in statement.accesses if a.kind is AccessKind.MUST_WRITE and a.exact
                  and a.relation.dim(isl.dim_type.out) and a.relation.is_single_valued()), None)
    if write is None:
        return {}
    rank = write.relation.dim(isl.dim_type.out)
    found = {}
    for dimension in range(rank):
        first = rank - 1 - dimension
        place = write.relation.project_out(isl.dim_type.out, first + 1, dimension)
        place = place.project_out(isl.dim_type.out, 0, first)
        found[dimension] = place.reset_tuple_id(isl.dim_type.out)
    return found


def _long(relation: isl.Map, source: isl.Map, sink: isl.Map, context: isl.Set
          ) -> Iterator[tuple[tuple[int, ...], tuple[int, int]]]:
    """Parameter coefficients and range of the constant of twice the middle of a dependence that is long.

    Long is a distance that is, up to constants, one and the same multiple of parameters; or that is a number, more than
    half of the elements in reach and more than SHORT.
    """
    ends = relation.apply_domain(source).apply_range(sink)
    distance = _bounds(ends.deltas(), context)
    if distance is None or distance[0] != distance[1]:
        return
    if not any(distance[0]):
        reach = _bounds(source.range().union(sink.range()), context)
        least = min(abs(distance[2]), abs(distance[3]))
        if reach is None or any(reach[0]) or any(reach[1]) or distance[2] * distance[3] < 0 \
                or least <= max(SHORT, (reach[3] - reach[2]) // 2):
            return
    total = ends.wrap().apply(isl.Map("{ [[a] -> [b]] -> [a + b] }"))
    middle = _bounds(total, context)
    if middle is not None and middle[0] == middle[1]:
        yield middle[0], (middle[2], middle[3])


def _bounds(values: isl.Set, context: isl.Set
            ) -> tuple[tuple[int, ...], tuple[int, ...], int, int] | None:
    """Least and largest value as affine functions of the parameters: their coefficients, then their constants."""
    if values.is_empty() or not values.dim_is_bounded(isl.dim_type.set, 0):
        return None
    least, largest = (_affine(bound, context) for bound in (values.dim_min(0), values.dim_max(0)))
    if least is None or largest is None:
        return None
    return least[0], largest[0], least[1], largest[1]


def _affine(value: isl.PwAff, context: isl.Set) -> tuple[tuple[int, ...], int] | None:
    """Coefficients in the order of the context's parameters, and the constant; None for several pieces or divisions."""
    pieces = value.align_params(context.get_space()).get_pieces()
    if len(pieces) != 1:
        return None
    aff = pieces[0][1]
    if aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one():
        return None
    coefficients = tuple(int(aff.get_coefficient_val(isl.dim_type.param, i).to_python())
                         for i in range(aff.dim(isl.dim_type.param)))
    return coefficients, int(aff.get_constant_val().to_python())


def _parts(scop: Scop, cuts: tuple[Cut, ...]) -> Parts:
    """The parts of every statement; a statement that no cut divides is one part.

    A part that is empty at large sizes is none: the first element is below the middle, whatever a ring of one is.
    """
    found: dict[str, Mapping[str, isl.Set]] = {}
    for statement in scop.statements:
        places = _places(statement)
        halves = [{"low": low, "high": statement.domain.subtract(low)} for cut in cuts if cut.dimension in places
                  for low in (_below(scop, statement, places[cut.dimension], cut),)]
        halves = [half for half in halves if not any(at_large_size(side).is_empty() for side in half.values())]
        parts = {}
        for sides in product(*halves):
            part = statement.domain
            for half, side in zip(halves, sides, strict=True):
                part = part.intersect(half[side])
            if not part.is_empty():
                name = "_".join((statement.name, *sides))
                parts[name] = part.set_tuple_name(name)
        found[statement.name] = parts
    return found


def _below(scop: Scop, statement: Statement, place: isl.Map, cut: Cut) -> isl.Set:
    """The instances with `2 place <= middle`."""
    space = place.align_params(scop.context.get_space()).range().get_space()
    room = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space)).set_constant_val(cut.constant)
    for name, coefficient in zip(_parameters(scop), cut.coefficients, strict=True):
        position = space.find_dim_by_name(isl.dim_type.param, name)
        room = room.set_coefficient_val(isl.dim_type.param, position, coefficient)
    below = isl.PwAff.from_aff(room.set_coefficient_val(isl.dim_type.in_, 0, -2)).nonneg_set()
    return statement.domain.intersect(place.intersect_range(below).domain())


def _parameters(scop: Scop) -> list[str]:
    return [str(scop.context.get_dim_name(isl.dim_type.param, i)) for i in range(scop.context.dim(isl.dim_type.param))]


def _middle(scop: Scop, cut: Cut) -> str:
    terms = [name if c == 1 else f"{c}{name}" for name, c in zip(_parameters(scop), cut.coefficients, strict=True) if c]
    total = " + ".join((*terms, *((str(cut.constant),) if cut.constant else ()))).replace("+ -", "- ")
    place = "the last dimension" if cut.dimension == 0 else f"dimension {cut.dimension + 1} from the last"
    return f"{place} after ({total or '0'})/2"


def _split(dependences: Dependences, parts: Parts) -> Dependences:
    """The same dependences between the parts of statements."""
    scop = dependences.scop
    statements = tuple(_part(s, name, domain) for s in scop.statements for name, domain in parts[s.name].items())
    back = isl.UnionPwMultiAff.empty(scop.context.get_space())
    for name, own in parts.items():
        for domain in own.values():
            back = back.union_add(_to_whole(domain, name))
    pairs = tuple(
        replace(pair, source=source, sink=sink, relation=relation) for pair in dependences.pairs
        for source, sources in parts[pair.source].items() for sink, sinks in parts[pair.sink].items()
        if not (relation := _renamed(pair.relation, source, sink).intersect_domain(sources).intersect_range(sinks)
                ).is_empty())
    return replace(dependences, pairs=pairs, scop=replace(
        scop, statements=statements, schedule=scop.schedule.pullback_union_pw_multi_aff(back)),
        relaxed=tuple(part for name in dependences.relaxed for part in parts[name]))


def _part(statement: Statement, name: str, domain: isl.Set) -> Statement:
    def moved(access: Access) -> Access:
        relation = access.relation.set_tuple_name(isl.dim_type.in_, name).intersect_domain(domain)
        return replace(access, relation=relation)

    return replace(statement, name=name, domain=domain, accesses=tuple(moved(a) for a in statement.accesses))


def _renamed(relation: isl.Map, source: str, sink: str) -> isl.Map:
    return relation.set_tuple_name(isl.dim_type.in_, source).set_tuple_name(isl.dim_type.out, sink)


def _to_whole(domain: isl.Set, name: str) -> isl.UnionPwMultiAff:
    """`{ S_low[i] -> S[i] }` on the domain of a part."""
    identity = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
    return isl.UnionPwMultiAff.from_union_map(isl.UnionMap.from_map(identity.set_tuple_name(isl.dim_type.out, name)))


def _read_back(node: Node, origin: Mapping[str, tuple[str, isl.Set]]) -> Node:
    """A tree over parts as one over the statements as written, with rows in pieces."""
    match node:
        case Band():
            node = replace(node, members=tuple(_joined_row(member, origin) for member in node.members))
        case Sequence():
            node = replace(node, branches=tuple((_joined_set(keep, origin), child) for keep, child in node.branches))
        case Filter():
            node = replace(node, keep=_joined_set(node.keep, origin))
    return with_children(node, tuple(_read_back(child, origin) for child in children(node)))


def _joined_set(chosen: isl.UnionSet, origin: Mapping[str, tuple[str, isl.Set]]) -> isl.UnionSet:
    sets = chosen.get_set_list()
    found = [sets.get_at(i) for i in range(sets.n_set())]
    return union_set(s.intersect(origin[s.get_tuple_name()][1]).set_tuple_name(origin[s.get_tuple_name()][0])
                     for s in found).coalesce()


def _joined_row(row: isl.UnionPwAff, origin: Mapping[str, tuple[str, isl.Set]]) -> isl.UnionPwAff:
    rows = row.get_pw_aff_list()
    found: dict[str, isl.PwAff] = {}
    for part in (rows.get_at(i) for i in range(rows.n_pw_aff())):
        name, domain = origin[part.domain().get_tuple_name()]
        piece = part.intersect_domain(domain)
        piece = piece.set_tuple_id(isl.dim_type.in_, domain.set_tuple_name(name).get_tuple_id())
        found[name] = found[name].union_add(piece).coalesce() if name in found else piece
    joined = isl.UnionPwAff.empty(row.get_space())
    for piece in found.values():
        joined = joined.union_add(isl.UnionPwAff.from_pw_aff(piece))
    return joined
