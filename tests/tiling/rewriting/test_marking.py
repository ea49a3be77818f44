"""Marks of the finished tree, beside the dependences counted pair by pair at small sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.scheduling import pluto
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.tree.loop_tree import Band, Filter, Leaf, Node, Sequence, children, from_isl
from polysched.scop.points import fix_parameters, points_of
from polysched.tiling import TilingOptions, tile
from polysched.tiling.rewriting.marking import mark_loops
from polysched.tiling.tiled_schedule import TiledSchedule
from polysched.tiling.tree.position import top
from tests.scop_builder import build_scop
from tests.tiling import kernels

PROGRAMS = {"product": kernels.product, "two products": kernels.time_with_two_products,
            "in place": kernels.gauss_seidel, "jacobi": kernels.jacobi, "elimination": kernels.elimination,
            "copy": kernels.copy}
AT = {"N": 6, "T": 3}


@cache
def tiled(name: str, **options: int) -> TiledSchedule:
    return tile(pluto(analyse(PROGRAMS[name]())), TilingOptions(sizes=2, register=False, **options))


def loops(node: Node, domain: isl.UnionSet, around: tuple[Band, ...] = ()) -> Iterator[
        tuple[Band, tuple[Band, ...], isl.UnionSet]]:
    """Every loop, with those around it and the instances that arrive."""
    match node:
        case Band():
            yield node, around, domain
            yield from loops(node.child, domain, (*around, node))
        case Filter():
            yield from loops(node.child, domain.intersect(node.keep), around)
        case Sequence():
            for keep, child in node.branches:
                yield from loops(child, domain.intersect(keep), around)
        case _:
            for child in children(node):
                yield from loops(child, domain, around)


def values(band: Band, domain: isl.UnionSet) -> dict[tuple[str, ...], int]:
    """The iteration of a loop in which each instance runs."""
    found = {}
    for space_map in _maps(isl.UnionMap.from_union_pw_aff(band.members[0]).intersect_domain(domain)):
        fixed = fix_parameters(space_map, AT)
        name = fixed.get_tuple_name(isl.dim_type.in_)
        depth = fixed.dim(isl.dim_type.in_)
        for point in points_of(fixed.wrap().flatten()):
            found[(name, *point[:depth])] = point[depth]
    return found


def _maps(union: isl.UnionMap) -> list[isl.Map]:
    listed = union.get_map_list()
    return [listed.get_at(k) for k in range(listed.n_map())]


def pairs(relation: isl.UnionMap) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    found = set()
    for part in _maps(relation):
        fixed = fix_parameters(part, AT)
        depth = fixed.dim(isl.dim_type.in_)
        names = fixed.get_tuple_name(isl.dim_type.in_), fixed.get_tuple_name(isl.dim_type.out)
        for point in points_of(fixed.wrap().flatten()):
            found.add(((names[0], *point[:depth]), (names[1], *point[depth:])))
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_parallel_or_in_lanes_carries_nothing(name: str) -> None:
    made = tiled(name)
    dependences = analyse(PROGRAMS[name]())
    all_pairs = pairs(dependences.validity.union(dependences.unordered))
    seen = defaultdict(int)
    for band, around, domain in loops(from_isl(made.tree).root, made.tree.get_domain()):
        mark = band.mark
        if mark is None or not (mark.parallel or mark.simd):
            continue
        own = values(band, domain)
        outer = [values(b, domain) for b in around]
        carried = [(s, t) for s, t in all_pairs if s in own and t in own and own[s] != own[t]
                   and all(v[s] == v[t] for v in outer)]
        assert carried == []
        seen["parallel"] += mark.parallel
        seen["simd"] += mark.simd
    assert seen["parallel"] + seen["simd"] > 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_loop_of_a_nest_is_parallel_and_no_point_loop(name: str) -> None:
    for band, around, _ in loops(from_isl(tiled(name).tree).root, tiled(name).tree.get_domain()):
        assert band.mark is not None
        if band.mark.parallel:
            assert band.mark.role is not Role.POINT
            assert not any(b.mark is not None and b.mark.parallel for b in around)


def test_without_threads_or_lanes_nothing_is_marked() -> None:
    found = [band.mark for band, _, _ in loops(
        from_isl(tiled("product", parallel=0, simd=False).tree).root, tiled("product").tree.get_domain())]
    assert not any(mark is not None and (mark.parallel or mark.simd) for mark in found)


def test_a_loop_needs_a_mark() -> None:
    scop = kernels.copy()
    dependences = analyse(scop)
    band = Band(members=(isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, "{ S[i] -> [(i)] }"),), child=Leaf(),
                permutable=True, coincident=(False,), mark=None)
    position = top(dependences, scop.domain)
    with pytest.raises(ValueError, match="a loop without a mark"):
        mark_loops(position, band, TilingOptions(), scop)
    marked = mark_loops(position, replace(band, mark=LoopMark()), TilingOptions(), scop)
    assert isinstance(marked, Band)
    assert marked.coincident == (True,)
    assert marked.mark is not None
    assert marked.mark.parallel
    assert marked.mark.simd
    assert marked.mark.least_iterations > 1, "a short row is not worth a team"


@pytest.mark.parametrize(("first", "parallel"), [("0", 1), ("floor(i/32)", 0)])
def test_around_others_a_loop_of_one_iteration_leaves_the_threads_to_the_next_one(first: str, parallel: int) -> None:
    """A tile as long as the rows it is of: its loop does not say so by its form."""
    text = f"{{ S[i, j] -> [({first})] }}"
    scop = build_scop([("S", "{ S[i, j] : 0 <= i < 50 and 0 <= j < N }", ["{ S[i, j] -> A[i, j] }"],
                        ["{ S[i, j] -> B[i, j] }"])], "{ S[i, j] -> [i, j] }")
    members = [isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, t) for t in (
        text, "{ S[i, j] -> [(i)] }", "{ S[i, j] -> [(j)] }")]
    node: Node = Leaf()
    for member, role in zip(members[::-1], (Role.LOOP, Role.LOOP, Role.TILE), strict=True):
        node = Band(members=(member,), child=node, permutable=True, coincident=(False,), mark=LoopMark(role=role))
    marked = mark_loops(top(analyse(scop), scop.domain), node, TilingOptions(), scop)
    found = [band.mark for band, _, _ in loops(marked, scop.domain)]
    assert [mark is not None and mark.parallel for mark in found] == [place == parallel for place in range(3)]
