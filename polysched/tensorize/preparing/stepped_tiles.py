"""Loops over tiles, whose points say which tile they are in, taken away: the loop over the points goes through all.

Rewrite:  for kk = 0, 16, ...: for k = kk ... min(kk + 15, K - 1): S   ->   for k = 0 ... K - 1: S

A tile's number may be of no other use: neither bodies nor subscripts name it.  Tiles of several dimensions are left
one after the other, which changes the order; that every value comes from where it came is checked.
Source: the inverse of strip-mining (Wolfe, "More iteration space tiling", Supercomputing 1989).
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.scheduling.tree.loop_tree import Band, LoopTree, from_isl, replace_node, split_bands, to_isl, walk
from polysched.scop.body import Assign, IteratorRef, statement_expressions
from polysched.scop.body import walk as walk_expression
from polysched.scop.scop import Scop, Statement, union_map, union_set
from polysched.tensorize.preparing.restating import Restated, checked, identity, pulled_back
from polysched.tensorize.software.renaming import named_set

_SET, _IN = isl.dim_type.set, isl.dim_type.in_


def without_stepped_tiles(dependences: Dependences) -> Dependences | None:
    """The program without one loop over tiles; None where there is none."""
    scop = dependences.scop
    if not any(_redundant(s, at) for s in scop.statements for at in range(s.depth)):
        return None
    tree = from_isl(scop.schedule)
    root = split_bands(tree.root)
    for band in (node for node in walk(root) if isinstance(node, Band)):
        places = _places(scop, band)
        if places and (after := checked(dependences, _without(scop, replace(tree, root=replace_node(
                root, band, band.child)), places))) is not None:
            return after
    return None


def _places(scop: Scop, band: Band) -> dict[str, int]:
    """Per statement inside the position of the iterator that a band counts; empty where one needs it."""
    value = isl.UnionMap.from_union_pw_aff(band.members[0])
    found: dict[str, int] = {}
    for statement in scop.statements:
        mine = value.intersect_domain(isl.UnionSet.from_set(statement.domain))
        if mine.is_empty():
            continue
        at = next((at for at in range(statement.depth) if mine.is_equal(isl.UnionMap.from_map(
            _iterator(statement, at)))), None)
        if at is None or not _redundant(statement, at):
            return {}
        found[statement.name] = at
    return found


def _iterator(statement: Statement, at: int) -> isl.Map:
    """`{ S[i, j] -> [j] }`."""
    same = isl.Map.identity(statement.domain.get_space().map_from_set()).intersect_domain(statement.domain)
    out = isl.dim_type.out
    return same.project_out(out, at + 1, statement.depth - at - 1).project_out(out, 0, at).reset_tuple_id(out)


def _redundant(statement: Statement, at: int) -> bool:
    """The other iterators tell an iterator that changes, and nothing names it."""
    name = statement.iterators[at]
    if not all(isinstance(b, Assign) for b in statement.body) or \
            not statement.domain.plain_get_val_if_fixed(_SET, at).is_nan():
        return False
    named = (*statement_expressions(statement.body), *(x for a in statement.accesses for x in a.subscripts))
    if any(isinstance(e, IteratorRef) and e.name == name for top in named for e in walk_expression(top)):
        return False
    return bool(_to_full(statement, at).is_single_valued())


def _to_full(statement: Statement, at: int) -> isl.Map:
    """`{ S[i, k] -> S[i, kk, k] }`."""
    same = isl.Map.identity(statement.domain.get_space().map_from_set()).intersect_domain(statement.domain)
    return same.project_out(_IN, at, 1).set_tuple_name(_IN, statement.name)


def _without(scop: Scop, tree: LoopTree, places: dict[str, int]) -> Restated:
    """The program whose statements have lost an iterator, in the order of a tree without its loop."""
    back = identity(scop, but=frozenset(places)).union(union_map(
        _to_full(scop.statement(name), at) for name, at in places.items()))
    statements = tuple(_shorter(s, places[s.name]) if s.name in places else s for s in scop.statements)
    schedule = pulled_back(to_isl(tree), back, union_set(s.domain for s in statements))
    return Restated(scop=replace(scop, statements=statements, schedule=schedule), back=back)


def _shorter(statement: Statement, at: int) -> Statement:
    names = [n for k, n in enumerate(statement.iterators) if k != at]
    domain = named_set(_plain(statement.domain.project_out(_SET, at, 1)).set_tuple_name(statement.name), names)
    accesses = tuple(replace(a, relation=plain_relation(a.relation.project_out(_IN, at, 1).set_tuple_name(
        _IN, statement.name), domain)) for a in statement.accesses)
    return replace(statement, domain=domain, accesses=accesses)


def plain_relation(relation: isl.Map, domain: isl.Set) -> isl.Map:
    """The same relation over a domain in one piece, where it is one affine function."""
    hull = isl.Map.from_basic_map(relation.affine_hull()).intersect_domain(domain)
    return hull if hull.is_equal(relation) else relation.gist_domain(domain).intersect_domain(domain)


def _plain(domain: isl.Set) -> isl.Set:
    """The same set without the number of the tile, where its hull has no other points."""
    hull = isl.Set.from_basic_set(domain.coalesce().polyhedral_hull())
    return hull if hull.is_equal(domain) else domain
