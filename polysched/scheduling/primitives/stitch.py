"""`Stitch`: one loop over tiles of a dominant statement, with all that a tile needs computed inside of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import ClassVar

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.limits import LIMITS
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.primitives.images import Image, assumed_values, images
from polysched.scheduling.primitives.step import ProgramStep
from polysched.scheduling.tree.loop_tree import (
    Band,
    Filter,
    Leaf,
    LoopTree,
    Mark,
    Node,
    Sequence,
    to_isl,
)
from polysched.scop.body import IteratorRef
from polysched.scop.dtypes import INT64
from polysched.scop.scop import Access, Array, Scop, Statement, Storage, union_set


@dataclass(frozen=True, kw_only=True)
class Stitch(ProgramStep):
    """Tile the outer loops of one statement; each tile computes what it reads, part after part.

    Rewrite:  for i: A[i] = f(i); for j: B[j] = A[j] + A[j+1]
              ->  for t: (for i in 4t..4t+4: A[t][i] = f(i)); for j in 4t..4t+3: B[j] = A[t][i] + A[t][i+1]

    The parts keep the loops that they had, inside of the tile; later rooms tile, block and vectorise each of them.
    Arrays whose values are of no use afterwards, and that several tiles would compute, get a copy per tile, which
    emission contracts to scratch memory of one tile.  Statements behind the dominant one, each of whose instances reads
    from one tile, run in it.

    Parameters
    ----------
    dominant : the statement.
    sizes : tile edge per loop around it, outermost first; loops that are not named stay inside.
    producers : the statements ahead that run in the tiles; empty for all whose values it needs.
    most_again : per cent of the instances of a producer that may be computed again, because several tiles need them.

    Source: Z. Zheng et al., "AStitch: enabling a new multi-dimensional optimization space for memory-intensive ML
    training and inference on modern SIMT architectures", ASPLOS 2022; J. Zhao and P. Di, MICRO 2020, section III.
    """

    NAME: ClassVar[str] = "stitch"
    SPLITS: ClassVar[bool] = False
    dominant: str
    sizes: tuple[int, ...]
    producers: tuple[str, ...] = ()
    most_again: int = LIMITS.computed_again_percent

    def rewrite_program(self, dependences: Dependences, tree: LoopTree) -> tuple[Scop, LoopTree]:
        scop = dependences.scop
        found = images(dependences, tree, self.dominant, self.sizes, self.producers)
        self._refuse_recomputation(scop, found)
        own = {image.statement: image for image in found}
        copied = _copied_arrays(scop, own)
        moved = {name: image for name, image in own.items()
                 if image.again or any(a.array in copied for a in scop.statement(name).accesses)}
        _refuse_rests(scop, own, moved)
        statements = {name: _with_tiles(scop.statement(name), image) for name, image in moved.items()}
        new = replace(scop, statements=tuple(_stitched(
            s, own, statements, copied, is_of_use=_is_of_use(scop, s.name)) for s in scop.statements))
        new = replace(new, arrays=tuple(_per_tile(a, new, len(self.sizes)) if a.name in copied else a
                                        for a in scop.arrays))
        new_tree = _Stitching(dependences, tree, own, statements, len(self.sizes)).tree()
        return replace(new, schedule=to_isl(new_tree)), new_tree

    def _refuse_recomputation(self, scop: Scop, found: tuple[Image, ...]) -> None:
        values = assumed_values(scop)
        for image in found:
            share = image.recomputed(values)
            if 100 * share > self.most_again:
                raise UsageError(f"tiles of {self.dominant} compute {share:.0%} of {image.statement} again",
                                 witness=f"more than {self.most_again}%, at " + (", ".join(
                                     f"{k}={v}" for k, v in values.items()) or "the given sizes"),
                                 hint="make the tiles larger, tile fewer loops, or name other producers")


def _copied_arrays(scop: Scop, own: Mapping[str, Image]) -> frozenset[str]:
    """The arrays that several tiles would write the same elements of: each tile gets its own.

    Raises
    ------
    UsageError : values of one are of use outside of the tiles.
    """
    found = {a.array: name for name, image in own.items() if image.again for a in scop.statement(name).writes}
    for array, writer in found.items():
        if not scop.array(array).is_temporary:
            raise UsageError(f"several tiles would compute {array!r}, which is read after the region",
                             where=writer, hint="tile so that images do not overlap, or leave its statement out")
        users = [s.name for s in scop.statements if any(a.array == array for a in s.accesses)]
        if outside := [name for name in users if name not in own]:
            raise UsageError(f"several tiles would compute {array!r}, which {outside[0]} uses outside of them",
                             where=writer, hint="stitch that statement, too, or leave this one out")
    return frozenset(found)


def _refuse_rests(scop: Scop, own: Mapping[str, Image], moved: Collection[str]) -> None:
    """Refuse a statement with copies of which some instances are of use, and no tile needs them."""
    for name in moved:
        if _is_of_use(scop, name) and not own[name].left.is_empty():
            raise UsageError(f"no tile needs some instances of {name}, whose values are read after the region",
                             witness=own[name].left.sample_point().to_str(),
                             hint="take a dominant statement that covers them")


def _is_of_use(scop: Scop, name: str) -> bool:
    return any(not scop.array(a.array).is_temporary for a in scop.statement(name).writes)


def _with_tiles(statement: Statement, image: Image) -> Statement:
    """The statement once per tile that needs it, with the numbers of the tile as leading iterators."""
    count = image.tiles.dim(isl.dim_type.out)
    domain = image.tiles.reverse().wrap().flatten().set_tuple_name(statement.name)
    for k, name in enumerate((*_fresh(statement.iterators, count), *statement.iterators)):
        domain = domain.set_dim_name(isl.dim_type.set, k, name)
    back = isl.Map.identity(domain.get_space().map_from_set()).project_out(
        isl.dim_type.out, 0, count).set_tuple_name(isl.dim_type.out, statement.name)

    def widen(access: Access) -> Access:
        return replace(access, relation=back.apply_range(access.relation).intersect_domain(domain))

    return replace(statement, domain=domain, accesses=tuple(widen(a) for a in statement.accesses))


def _fresh(taken: tuple[str, ...], count: int) -> tuple[str, ...]:
    found: list[str] = []
    for k in range(count):
        name = f"t{k}"
        while name in taken:
            name += "_tile"
        found.append(name)
    return tuple(found)


def _stitched(statement: Statement, own: Mapping[str, Image], moved: Mapping[str, Statement],
              copied: Collection[str], *, is_of_use: bool) -> Statement:
    """A statement of the program after: with tiles, or without the instances that nothing needs."""
    image = own.get(statement.name)
    if image is None:
        return statement
    if statement.name not in moved:
        if image.left.is_empty() or is_of_use:
            return statement
        needed = image.tiles.domain()
        return replace(statement, domain=_named_like(needed, statement), accesses=tuple(
            replace(a, relation=a.relation.intersect_domain(needed)) for a in statement.accesses))
    new = moved[statement.name]
    names = new.iterators[:new.depth - statement.depth]
    return replace(new, accesses=tuple(_in_copy(a, names) if a.array in copied else a for a in new.accesses))


def _named_like(domain: isl.Set, statement: Statement) -> isl.Set:
    for k, name in enumerate(statement.iterators):
        domain = domain.set_dim_name(isl.dim_type.set, k, name)
    return domain


def _in_copy(access: Access, names: tuple[str, ...]) -> Access:
    """The access in the copy of a tile."""
    relation = access.relation.insert_dims(isl.dim_type.out, 0, len(names))
    for k in range(len(names)):
        relation = relation.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return replace(access, relation=relation.set_tuple_name(isl.dim_type.out, access.array),
                   subscripts=(*(IteratorRef(name, INT64) for name in names), *access.subscripts))


def _per_tile(array: Array, scop: Scop, count: int) -> Array:
    """The array with a copy per tile."""
    users = [s for s in scop.statements if any(a.array == array.name for a in s.accesses)]
    extents = tuple(_tiles_along(scop, users, k) for k in range(count))
    return replace(array, extents=(*extents, *array.extents), storage=Storage.LOCAL, dead_after=False,
                   c_extents=(*(None for _ in extents), *array.c_extents), restrict=True, constant=False,
                   c_element=array.name.replace(".", "_") + "[{}]" * (count + len(array.extents)))


def _tiles_along(scop: Scop, users: list[Statement], position: int) -> isl.PwAff:
    """Tiles along one tiled loop; their numbers start at zero or later.

    Raises
    ------
    UsageError : they do not.
    """
    largest: isl.PwAff | None = None
    for statement in users:
        domain = statement.domain.intersect_params(scop.context)
        least = domain.dim_min(position)
        if not least.lt_set(least.scale_val(isl.Val.zero(isl.DEFAULT_CONTEXT))).is_empty():
            raise UsageError(f"a tiled loop around {statement.name} starts below zero",
                             hint="shift the loop first, so that it starts at zero; reverse one that counts down")
        top = domain.dim_max(position).add_constant_val(isl.Val.one(isl.DEFAULT_CONTEXT))
        top = top.project_domain_on_params()
        largest = top if largest is None else largest.union_max(top)
    assert largest is not None
    return largest.coalesce()


class _Stitching:
    """Builds the tree: what runs before, the loops over tiles around the parts, what runs after."""

    def __init__(self, dependences: Dependences, tree: LoopTree, own: Mapping[str, Image],
                 moved: Mapping[str, Statement], count: int) -> None:
        self.dependences, self.old, self.own, self.moved, self.count = dependences, tree, own, moved, count
        scop = dependences.scop
        kept = {name: image.tiles.domain() for name, image in own.items() if name not in moved}
        self.inside = union_set([*kept.values(), *(s.domain.intersect_params(scop.context) for s in moved.values())])
        rests = [image.left for name, image in own.items() if _is_of_use(scop, name) and name not in moved]
        ahead, behind = self._outside()
        others = {s.name: s.domain for s in scop.statements if s.name not in own}
        self.before = union_set([*rests, *(others[n] for n in ahead)]) if rests or ahead else None
        self.after = union_set([others[n] for n in behind]) if behind else None

    def _outside(self) -> tuple[list[str], list[str]]:
        """The other statements: those that the tiles wait for, and the rest.

        Raises
        ------
        UsageError : one of them stands between.
        """
        pairs = {(d.source, d.sink) for d in self.dependences.pairs if d.source != d.sink}
        names = [s.name for s in self.dependences.scop.statements if s.name not in self.own]
        ahead = [n for n in names if _leads(pairs, {n}) & set(self.own)]
        after = [n for n in names if n not in ahead]
        between = [n for n in ahead if n in _leads(pairs, set(self.own))]
        if between:
            raise UsageError(f"{between[0]} stands between statements of the tiles", hint="stitch it, too")
        return ahead, after

    def tree(self) -> LoopTree:
        """The tree after."""
        tiles: Node = self._restricted(self.old.root, self.inside, self._back())
        number = 0
        for k in reversed(range(self.count)):
            tiles = Band(members=(self._number(k),), coincident=(False,), permutable=True, child=tiles,
                         mark=LoopMark(role=Role.TILE, band=number, member=k))
        branches: list[tuple[isl.UnionSet, Node]] = [(self.inside, tiles)]
        if self.before is not None and not self.before.is_empty():
            branches.insert(0, (self.before, self._restricted(self.old.root, self.before, None)))
        if self.after is not None:
            branches.append((self.after, self._restricted(self.old.root, self.after, None)))
        domain = branches[0][0]
        for keep, _ in branches[1:]:
            domain = domain.union(keep)
        return LoopTree(domain=domain, root=tiles if len(branches) == 1 else Sequence(branches=tuple(branches)))

    def _number(self, k: int) -> isl.UnionPwAff:
        """The number of the tile along one loop, of every instance in the tiles."""
        found = isl.UnionPwAff.empty(self.inside.get_space())
        for name, image in self.own.items():
            if name in self.moved:
                domain = self.moved[name].domain
                function = isl.PwAff.from_aff(isl.Aff.var_on_domain(
                    isl.LocalSpace.from_space(domain.get_space()), isl.dim_type.set, k)).intersect_domain(domain)
            else:
                function = isl.PwMultiAff.from_map(image.tiles).get_pw_aff(k)
            found = found.union_add(isl.UnionPwAff.from_pw_aff(function))
        return found

    def _back(self) -> isl.UnionPwMultiAff:
        """From the instances in the tiles to those that they stand for."""
        found = isl.UnionPwMultiAff.empty(self.inside.get_space())
        for name, image in self.own.items():
            if name in self.moved:
                domain = self.moved[name].domain
                relation = isl.Map.identity(domain.get_space().map_from_set()).project_out(
                    isl.dim_type.out, 0, self.count).set_tuple_name(isl.dim_type.out, name).intersect_domain(domain)
            else:
                domain = image.tiles.domain()
                relation = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
            found = found.add_pw_multi_aff(isl.PwMultiAff.from_map(relation))
        return found

    def _restricted(self, node: Node, keep: isl.UnionSet, back: isl.UnionPwMultiAff | None) -> Node:
        """The tree of some instances, or of those that stand for them."""
        def of(instances: isl.UnionSet) -> isl.UnionSet:
            return (instances if back is None else instances.preimage_union_pw_multi_aff(back)).intersect(keep)

        match node:
            case Band():
                members = tuple((m if back is None else m.pullback_union_pw_multi_aff(back)).intersect_domain(keep)
                                for m in node.members)
                return replace(node, members=members, child=self._restricted(node.child, keep, back))
            case Sequence():
                branches = [(own, child) for part, child in node.branches if not (own := of(part)).is_empty()]
                parts = tuple((own, self._restricted(child, own, back)) for own, child in branches)
                return parts[0][1] if len(parts) == 1 else replace(node, branches=parts)
            case Filter():
                return replace(node, keep=of(node.keep), child=self._restricted(node.child, of(node.keep), back))
            case Mark():
                return replace(node, child=self._restricted(node.child, keep, back))
            case Leaf():
                return node


def _leads(pairs: Collection[tuple[str, str]], start: set[str]) -> set[str]:
    """The statements that depend on some of these, directly or not, without these themselves."""
    found, waiting = set[str](), list(start)
    while waiting:
        name = waiting.pop()
        new = {b for a, b in pairs if a == name} - found
        found |= new
        waiting += new
    return found
