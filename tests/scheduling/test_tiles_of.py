"""Tiles of trees: the tile of every instance by hand, steps against all dependences, threads, and slices."""

from __future__ import annotations

import itertools

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.dependence.picture import dependent_instances
from polysched.scheduling import SchedulerOptions, pluto, steps
from polysched.scheduling.picture import draw_tiles
from polysched.scheduling.primitives import Skew, Tile
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tiles_of import TileLoop, bodies, fibre, sliced, tile_loops, tile_of, turns
from polysched.scheduling.tree.loop_tree import from_isl
from polysched.scop.points import fix_parameters, points_of
from polysched.tiling import TilingOptions, tile
from tests.scop_builder import build_scop

SIZES = {"N": 9}


def stencil() -> Schedule:
    scop = build_scop([("S0", "{ S0[t, i] : 0 <= t < N and 1 <= i < N }",
                        ["{ S0[t, i] -> A[i - 1] }", "{ S0[t, i] -> A[i + 1] }"], ["{ S0[t, i] -> A[i] }"])],
                      "{ S0[t, i] -> [t, i] }")
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def by_hand() -> Schedule:
    return steps.apply(stencil(), Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(2, 3)))


def test_the_tile_of_every_instance_and_the_instances_of_every_tile() -> None:
    schedule = by_hand()
    domain = schedule.scop.statements[0].domain
    loops = tile_loops(from_isl(schedule.tree))
    found = tile_of(loops, domain, SIZES)
    assert {point: tuple(value for _, value in tile) for point, tile in found.items()} == {
        (t, i): (t // 2 * 2, (t + i) // 3 * 3) for t in range(9) for i in range(1, 9)}
    for wanted in set(found.values()):
        assert set(points_of(fibre(loops, wanted, domain, SIZES))) == {p for p, t in found.items() if t == wanted}


TREES = pytest.mark.parametrize("schedule", [
    pytest.param(lambda: by_hand().tree, id="by hand"),
    pytest.param(lambda: tile(pluto(stencil().dependences), TilingOptions(sizes=(3, 4), register=False)).tree,
                 id="wavefronts"),
    pytest.param(lambda: tile(pluto(stencil().dependences, options=SchedulerOptions(concurrent_start=1)),
                              TilingOptions(sizes=(4, 4), register=False)).tree, id="diamonds")])


@TREES
def test_no_tile_runs_before_or_beside_one_that_it_depends_on(schedule) -> None:
    dependences, tree = stencil().dependences, schedule()
    picture = draw_tiles(dependences, tree, parameters=SIZES)
    domain = dependences.scop.statements[0].domain
    found = tile_of(tile_loops(from_isl(tree)), domain, SIZES)
    numbers = {t: n for n, t in enumerate(sorted(set(found.values())))}
    drawn = {("S0", p) for p in points_of(fix_parameters(domain, SIZES))}
    pairs = dependent_instances(dependences.pairs, SIZES, drawn)
    assert pairs
    for (_, source), (_, sink) in pairs:
        first, second = numbers[found[source]], numbers[found[sink]]
        before, after = picture.turns[first], picture.turns[second]
        assert first == second or before.step < after.step or (
            before.step == after.step and before.thread is not None and before.thread == after.thread)


@TREES
def test_no_tile_is_drawn_over_another(schedule) -> None:
    """At the border of the domain, too, where a tile has few instances."""
    for size in (7, 8, 9):
        (panel,) = draw_tiles(stencil().dependences, schedule(), parameters={"N": size}).panels
        assert panel.shapes
        for x, y in itertools.product(range(-4, 4 * size + 4), repeat=2):
            place = x / 4 + 0.11, y / 4 + 0.07   # on no side of a tile
            around = [number for number, found in panel.shapes.items() if any(_holds(p, place) for p in found)]
            assert len(around) < 2, (size, place)


def _holds(polygon, place) -> bool:
    """Whether a place lies inside a convex polygon: on one side of all its sides."""
    sides = [(x2 - x1) * (place[1] - y1) - (y2 - y1) * (place[0] - x1)
             for (x1, y1), (x2, y2) in itertools.pairwise((*polygon, polygon[0]))]
    return all(side > 0 for side in sides) or all(side < 0 for side in sides)


def test_diamonds_are_polygons_of_their_area() -> None:
    scop = build_scop([("S0", "{ S0[t, i] : 0 <= t < N and 1 <= i < N }", [
        "{ S0[t, i] -> A[t, i - 1] }", "{ S0[t, i] -> A[t, i + 1] }"], ["{ S0[t, i] -> A[t + 1, i] }"])],
        "{ S0[t, i] -> [t, i] }")
    dependences = analyse(scop)
    tree = tile(pluto(dependences, options=SchedulerOptions(concurrent_start=1)),
                TilingOptions(sizes=(4, 4), register=False)).tree
    (panel,) = draw_tiles(dependences, tree, parameters={"N": 20}).panels
    inner = [polygons[0] for polygons in panel.shapes.values() if len(polygons) == 1 and len(polygons[0]) == 4]
    slanted = [p for p in inner if all(abs(a[0] - b[0]) > 0.1 and abs(a[1] - b[1]) > 0.1
                                       for a, b in itertools.pairwise((*p, p[0])))]
    assert slanted, "a diamond has no side along an axis"


def test_threads_share_the_tiles_of_a_step_in_equal_parts() -> None:
    dependences = stencil().dependences
    tree = tile(pluto(dependences), TilingOptions(sizes=(2, 2), register=False)).tree
    found = draw_tiles(dependences, tree, parameters=SIZES, threads=2).turns
    for step in {turn.step for turn in found.values()}:
        threads = [turn.thread for turn in found.values() if turn.step == step]
        assert abs(threads.count(0) - threads.count(1)) <= 1


@pytest.mark.parametrize(("count", "expected"), [
    (2, [0, 1]), (4, [0, 1, 2, 3]), (6, [0, 0, 1, 1, 2, 3]), (7, [0, 0, 1, 1, 2, 2, 3]), (8, [0, 0, 1, 1, 2, 2, 3, 3]),
])
def test_which_thread_gets_which_tile(count: int, expected: list[int]) -> None:
    loop = TileLoop(0, isl.UnionPwAff("{ S0[i] -> [(i)] }"), True)
    found, _ = turns((loop,), {((0, n),): n for n in range(count)}, {}, (), threads=4)
    assert [found[n].thread for n in range(count)] == expected


def test_tiles_that_wait_for_each_other_run_one_by_one() -> None:
    tiles = {("S0", (n,)): ((0, n % 2),) for n in range(4)}
    numbers = {((0, 0),): 0, ((0, 1),): 1}
    pairs = [(("S0", (n,)), ("S0", (n + 1,))) for n in range(3)]
    found, words = turns((), numbers, tiles, pairs, threads=1)
    assert [found[n].step for n in (0, 1)] == [0, 1]
    assert "circular" in words
    found, words = turns((), numbers, tiles, pairs[:1], threads=1)
    assert [found[n].step for n in (0, 1)] == [0, 1]
    assert "earliest" in words


def test_bodies_of_a_slice_hold_its_points_or_nothing() -> None:
    domain = isl.Set("{ S[i, j, k] : 0 <= i, j, k < 4 and i + j < 6 }")
    inside = {(i, 1, k) for i in range(2) for k in range(4)}
    part = isl.Set("{ S[i, j, k] : 0 <= i < 2 and 0 <= j, k < 4 }")
    (spaces,) = bodies(part, domain, (2, 0), {1: 1}, inside)
    assert all(space.height((float(k), float(i))) > 0 for i, _, k in inside for space in spaces)
    assert bodies(part, domain, (2, 0), {1: 1}, set(list(inside)[:3])) != (spaces,)
    assert sliced(domain, {1: 1}).dim(isl.dim_type.set) == 2
