"""Which instances each tile of a dominant statement needs: inverse images of what it reads, back to the sources.

The tiles of the dominant statement are boxes of the outer loops around it.  A producer runs in every tile that reads
its values; where images of tiles overlap, it runs in each of them.  A statement behind the dominant one runs in the
tile whose values it reads, where that is one tile.

Source: J. Zhao and P. Di, "Optimizing the Memory Hierarchy by Compositing Automatic Transformations on Computations and
Data", MICRO 2020, section III (tiles of live-out statements, extension by inverse images).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.parameter_sizes import largest_parameters
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.limits import LIMITS
from polysched.scheduling.tree.loop_tree import Band, Filter, Leaf, LoopTree, Mark, Node
from polysched.scheduling.tree.loop_tree import Sequence as Ordered
from polysched.scop.assumptions import ASSUMED
from polysched.scop.budget import with_budget
from polysched.scop.points import isl_value
from polysched.scop.scop import Scop, Statement


@dataclass(frozen=True, eq=False, kw_only=True)
class Image:
    """What the tiles run of one statement.

    Parameters
    ----------
    statement : its name.
    tiles : `{ S[i] -> [t] }`: the tiles, by number, that an instance runs in.
    domain : all instances of the statement.
    """

    statement: str
    tiles: isl.Map
    domain: isl.Set

    @cached_property
    def again(self) -> bool:
        """Whether an instance runs in several tiles."""
        return not self.tiles.is_single_valued()

    @cached_property
    def left(self) -> isl.Set:
        """The instances that no tile needs."""
        return self.domain.subtract(self.tiles.domain()).coalesce()

    def recomputed(self, values: dict[str, int]) -> float:
        """Instances beyond the first run of each, as a share of all, by the boxes around the images.

        Parameters
        ----------
        values : of the parameters.
        """
        if not self.again:
            return 0.0
        tiles = _fixed(self.tiles, values)
        numbers, once = tiles.range(), _box(tiles.domain())
        middle = _middle(numbers)
        runs = _box(tiles.intersect_range(middle).domain()) * _box(numbers)
        return max(0.0, runs / once - 1.0) if once else 0.0


def assumed_values(scop: Scop) -> dict[str, int]:
    """Values of the parameters for counts: what arrays admit at most, else a typical size."""
    largest = largest_parameters(scop)
    return {p.name: min(largest.get(p.name, ASSUMED.typical_size), ASSUMED.typical_size) for p in scop.parameters}


def _fixed(tiles: isl.Map, values: dict[str, int]) -> isl.Map:
    for position in range(tiles.dim(isl.dim_type.param)):
        name = tiles.get_dim_name(isl.dim_type.param, position)
        tiles = tiles.fix_val(isl.dim_type.param, position, isl_value(values.get(str(name), ASSUMED.typical_size)))
    return tiles


def _box(points: isl.Set) -> int:
    """Points in the bounding box."""
    size = 1
    if points.is_empty():
        return 0
    for k in range(points.dim(isl.dim_type.set)):
        low, high = points.dim_min_val(k), points.dim_max_val(k)
        if not (low.is_int() and high.is_int()):
            return 0
        size *= int(high.to_python()) - int(low.to_python()) + 1
    return size


def _middle(numbers: isl.Set) -> isl.Set:
    """A tile that is neither the first nor the last, where there are three."""
    for k in range(numbers.dim(isl.dim_type.set)):
        low, high = numbers.dim_min_val(k), numbers.dim_max_val(k)
        if low.is_int() and high.is_int():
            value = (int(low.to_python()) + int(high.to_python())) // 2
            numbers = numbers.fix_val(isl.dim_type.set, k, isl_value(value))
    return numbers


def images(dependences: Dependences, tree: LoopTree, dominant: str, sizes: Sequence[int],
           producers: Collection[str] = ()) -> tuple[Image, ...]:
    """The images of all statements that run in the tiles of a dominant statement, in textual order.

    Parameters
    ----------
    sizes : tile edge per loop around the dominant statement, outermost first.
    producers : the statements ahead that run in the tiles; empty for all whose values the dominant one needs.

    Raises
    ------
    UsageError : there is no such statement, or it has fewer loops, or a producer is none.
    """
    scop = dependences.scop
    known = [s.name for s in scop.statements]
    for name in (dominant, *producers):
        if name not in known:
            raise UsageError(f"the program has no statement {name!r}", hint=f"it has {', '.join(known)}")
    flow = [d for d in dependences.pairs if d.kind is DependenceKind.FLOW and not d.relation.is_empty()]
    found = {dominant: _domain(scop, dominant, _tile_numbers(scop, tree, dominant, sizes))}
    _add_producers(scop, flow, dominant, producers, found)
    if not producers:
        _add_followers(scop, flow, found)
    return tuple(Image(statement=s.name, tiles=found[s.name], domain=_instances(scop, s.name))
                 for s in scop.statements if s.name in found)


def _instances(scop: Scop, name: str) -> isl.Set:
    return scop.statement(name).domain.intersect_params(scop.context)


def _domain(scop: Scop, name: str, tiles: isl.Map) -> isl.Map:
    return tiles.intersect_domain(_instances(scop, name)).coalesce()


def _tile_numbers(scop: Scop, tree: LoopTree, dominant: str, sizes: Sequence[int]) -> isl.Map:
    """`{ D[i] -> [t] }` of the outermost loops that move the dominant statement."""
    statement = scop.statement(dominant)
    around = list(loops_around(tree.root, statement))
    if not sizes or len(sizes) > len(around):
        raise UsageError(f"{len(sizes)} tile sizes for {dominant}, which stands in {len(around)} loops",
                         hint="give one size for each of its outermost loops, 1 to all of them")
    if any(size < 1 for size in sizes):
        raise UsageError("a tile size is at least 1", witness=str(tuple(sizes)))
    numbers: isl.Map | None = None
    for function, size in zip(around, sizes, strict=False):
        each = isl.Map.from_pw_aff(function.scale_down_val(isl_value(size)).floor())
        numbers = each if numbers is None else numbers.flat_range_product(each)
    assert numbers is not None
    return numbers


def loops_around(node: Node, statement: Statement) -> Iterable[isl.PwAff]:
    """The functions of the loops that move a statement, outermost first.

    Raises
    ------
    UsageError : its instances stand in several places.
    """
    match node:
        case Band():
            for member in node.members:
                function = member.extract_pw_aff(statement.domain.get_space().from_domain().add_dims(
                    isl.dim_type.out, 1))
                if any(aff.involves_dims(isl.dim_type.in_, d, 1) for _, aff in function.get_pieces()
                       for d in range(statement.depth)):
                    yield function
            yield from loops_around(node.child, statement)
        case Ordered():
            own = [child for keep, child in node.branches
                   if not isl.UnionSet.from_set(statement.domain).intersect(keep).is_empty()]
            if len(own) > 1:
                raise UsageError(f"instances of {statement.name} stand in {len(own)} places of the tree",
                                 hint="stitch before other steps take its loops apart")
            if own:
                yield from loops_around(own[0], statement)
        case Filter() | Mark():
            yield from loops_around(node.child, statement)
        case Leaf():
            return


def _add_producers(scop: Scop, flow: Sequence[Dependence], dominant: str, wanted: Collection[str],
                   found: dict[str, isl.Map]) -> None:
    """What each producer runs of, from the dominant statement backwards."""
    ahead = _reaching(flow, dominant)
    if missing := [name for name in wanted if name not in ahead]:
        raise UsageError(f"{dominant} needs no value of {missing[0]}", hint="name statements that it reads from")
    members = {*(wanted or ahead)} - {dominant}
    for group in reversed(_in_order(flow, members)):
        for name, tiles in _needed(scop, flow, group, found).items():
            found[name] = _in_one_piece(_domain(scop, name, tiles), _instances(scop, name))


def _in_one_piece(tiles: isl.Map, domain: isl.Set) -> isl.Map:
    """An image, or one that is larger by little and has one piece, so that its loops have one form."""
    if tiles.n_basic_map() < 2:
        return tiles
    numbers = isl.Set.from_basic_set(tiles.range().simple_hull())
    hull = isl.Map.from_basic_map(tiles.simple_hull()).intersect_domain(domain).intersect_range(numbers).coalesce()
    simpler = hull.n_basic_map() < tiles.n_basic_map() and hull.is_single_valued() == tiles.is_single_valued()
    return hull if simpler else tiles


def _reaching(flow: Sequence[Dependence], target: str) -> set[str]:
    """The statements whose values a statement needs, directly or not."""
    found, waiting = set[str](), [target]
    while waiting:
        name = waiting.pop()
        new = {d.source for d in flow if d.sink == name} - found
        found |= new
        waiting += new
    return found


def _in_order(flow: Sequence[Dependence], members: set[str]) -> list[tuple[str, ...]]:
    """Strongly connected groups of statements in topological order."""
    inside = [d for d in flow if d.source in members and d.sink in members]
    reach = {name: _reaching(inside, name) for name in members}
    groups = {frozenset({name, *(o for o in reach[name] if name in reach[o])}) for name in members}
    return [tuple(sorted(g)) for g in sorted(groups, key=lambda g: (
        max(len(reach[name] | {name}) for name in g), min(g)))]


def _needed(scop: Scop, flow: Sequence[Dependence], group: tuple[str, ...],
            found: dict[str, isl.Map]) -> dict[str, isl.Map]:
    """Tiles that need the instances of a group, by statement."""
    direct: dict[str, isl.Map] = {}
    for pair in flow:
        if pair.source in group and pair.sink in found and pair.sink not in group:
            tiles = pair.relation.apply_range(found[pair.sink])
            direct[pair.source] = tiles if pair.source not in direct else direct[pair.source].union(tiles)
    inside = [d for d in flow if d.source in group and d.sink in group]
    if not inside:
        return direct
    reached = _closure(scop, inside, group)
    result = dict(direct)
    for relation in reached:
        source, sink = (relation.get_tuple_name(t) for t in (isl.dim_type.in_, isl.dim_type.out))
        if sink in direct:
            tiles = relation.apply_range(direct[sink])
            result[source] = tiles if source not in result else result[source].union(tiles)
    return result


def _closure(scop: Scop, inside: Sequence[Dependence], group: tuple[str, ...]) -> list[isl.Map]:
    """What reaches what inside a group, or a superset of it."""
    if len(group) == 1:
        return [_kept_iterators(_instances(scop, group[0]), inside)]
    union = isl.UnionMap.from_map(inside[0].relation)
    for pair in inside[1:]:
        union = union.union(isl.UnionMap.from_map(pair.relation))
    made = with_budget(LIMITS.closure_operations, lambda: union.transitive_closure()[0])
    if made is None:
        raise UsageError(f"{', '.join(group)} depend on each other in a circle that is too large to follow",
                         hint="name the producers to stitch without them")
    found: list[isl.Map] = []
    made.foreach_map(found.append)
    return found


def _kept_iterators(domain: isl.Set, inside: Sequence[Dependence]) -> isl.Map:
    """All pairs of instances that agree in the iterators that no value of the statement's own crosses."""
    depth = domain.dim(isl.dim_type.set)
    pairs = isl.Map.from_domain_and_range(domain, domain)
    for k in range(depth):
        if all(d.relation.is_subset(d.relation.equate(isl.dim_type.in_, k, isl.dim_type.out, k)) for d in inside):
            pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return pairs


def _add_followers(scop: Scop, flow: Sequence[Dependence], found: dict[str, isl.Map]) -> None:
    """Statements behind that each read from one tile, in the order of the flow."""
    behind = {s.name for s in scop.statements if s.name not in found and _reaching(flow, s.name) & set(found)}
    for group in _in_order(flow, behind):
        if len(group) > 1:
            continue
        name = group[0]
        sources = {d.source for d in flow if d.sink == name} - {name}
        if sources - set(found) & behind or any(_reaching(flow, s) & set(found) for s in sources - set(found)):
            continue
        tiles = _read_from(scop, flow, name, found)
        if tiles is not None:
            found[name] = tiles
            _add_starts(scop, flow, sources - set(found), found)


def _add_starts(scop: Scop, flow: Sequence[Dependence], starts: set[str], found: dict[str, isl.Map]) -> None:
    """Statements that read nothing, and whose values are needed in the tiles alone: where sums start from."""
    for start in sorted(starts):
        if {d.sink for d in flow if d.source == start} <= set(found) and not any(d.sink == start for d in flow):
            tiles = _domain(scop, start, _needed(scop, flow, (start,), found)[start])
            if tiles.is_single_valued() and _instances(scop, start).is_subset(tiles.domain()):
                found[start] = tiles


def _read_from(scop: Scop, flow: Sequence[Dependence], name: str, found: dict[str, isl.Map]) -> isl.Map | None:
    """The one tile that each instance reads from; None where there are several, or none for some."""
    domain = _instances(scop, name)
    tiles: isl.Map | None = None
    for pair in (d for d in flow if d.sink == name and d.source in found):
        each = pair.relation.reverse().apply_range(found[pair.source])
        tiles = each if tiles is None else tiles.union(each)
    if tiles is None:
        return None
    inside = [d for d in flow if d.source == d.sink == name]
    if inside:
        tiles = tiles.union(_kept_iterators(domain, inside).apply_range(tiles))
    tiles = tiles.intersect_domain(domain).coalesce()
    return tiles if tiles.is_single_valued() and domain.is_subset(tiles.domain()) else None
