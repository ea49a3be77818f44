"""Annealing repeats itself, keeps rectangles apart, and finds what all orders of a 3x3 mesh have as their best."""

import itertools
import random

import numpy as np

from polysched.mesh import MeshTarget, Message, Operator, OperatorGraph, Rectangle
from polysched.mesh.annealing import _Board, _changed, anneal
from polysched.mesh.cost import Ledger, scored
from polysched.mesh.packing import free_places, greedy
from polysched.mesh.shapes import allocate, fronts
from tests.mesh.random_graphs import random_graph


def begun(seed, count, target, cores, **options):
    graph = random_graph(seed, count, **options)
    shapes = allocate(fronts(graph, target), cores)
    assert shapes is not None
    rectangles = greedy(graph, shapes, target)
    assert rectangles is not None
    return graph, rectangles


def test_the_same_seed_gives_the_same_places_apart_from_each_other() -> None:
    target = MeshTarget(rows=6, columns=6, dead=((2, 3),))
    graph, first = begun(4, 10, target, 24)
    annealed = anneal(graph, target, first, seed=3, moves=800)
    assert annealed == anneal(graph, target, first, seed=3, moves=800)
    found = annealed.rectangles
    assert scored(graph, target, found) < scored(graph, target, first)
    taken = np.where(target.alive, 0, 1)
    for rectangle, before in zip(found, first, strict=True):
        assert (rectangle.rows, rectangle.columns) == (before.rows, before.columns)
        taken[rectangle.slices] += 1
    assert taken.max() == 1


def test_it_finds_the_best_of_all_placements_on_3x3() -> None:
    target = MeshTarget(rows=3, columns=3)
    graph, first = begun(1, 4, target, 9, single=True)
    cores = [Rectangle(r, c, 1, 1) for r in range(3) for c in range(3)]
    # a mirrored placement has mirrored loads
    best = min(scored(graph, target, places) for places in itertools.permutations(cores, 4)
               if places[0].row <= 1 and places[0].column <= 1)
    assert anneal(graph, target, first, moves=1500).score == best


def test_nothing_to_gain_is_left_as_it_is() -> None:
    target = MeshTarget(rows=2, columns=2)
    graph, first = begun(1, 1, target, 4)
    assert anneal(graph, target, first).rectangles == first


def test_operators_take_other_shapes_and_messages_turn_where_that_is_allowed() -> None:
    target = MeshTarget(rows=4, columns=4, dead=((3, 3),))
    graph, first = begun(2, 4, target, 9)
    choices = [[s for s in front if s.cores <= 4] for front in fronts(graph, target)]
    found = anneal(graph, target, first, moves=600, choices=choices, turns=True, soft=True)
    ledger = Ledger(graph, target, found.rectangles, orders=found.orders)
    assert ledger.score == found.score <= scored(graph, target, first)
    for rectangle, of_one, before in zip(found.rectangles, choices, first, strict=True):
        assert (rectangle.rows, rectangle.columns) in {(s.rows, s.columns) for s in (*of_one, before)}
    taken = np.where(target.alive, 0, 1)
    for rectangle in found.rectangles:
        taken[rectangle.slices] += 1
    assert taken.max() == 1
    plain = anneal(graph, target, first, moves=600)
    assert set(plain.orders) <= {"xy"}
    assert [(r.rows, r.columns) for r in plain.rectangles] == [(r.rows, r.columns) for r in first]


def test_no_change_comes_to_less_than_it_says_ahead() -> None:
    target = MeshTarget(rows=5, columns=5, dead=((3, 3),))
    graph, first = begun(7, 8, target, 18)
    ledger, board, draw = Ledger(graph, target, first), _Board(target, first), random.Random(1)
    choices, seen = fronts(graph, target), 0
    for _ in range(300):
        change = _changed(ledger, board, draw, choices, turns=True)
        if change is None:
            continue
        undo = ledger.make(change)
        assert change.least_score <= ledger.score <= ledger.energy
        assert ledger.score == Ledger(graph, target, ledger.rectangles, orders=ledger.orders).score
        assert (ledger.loads >= 0).all()
        if draw.random() < 0.5:
            ledger.undo(undo)
            continue
        board.move(undo.rectangles, change.rectangles)
        seen += 1
        taken = np.where(target.alive, -1, -2)
        for number, rectangle in enumerate(ledger.rectangles):
            assert (taken[rectangle.slices] == -1).all()
            taken[rectangle.slices] = number
        assert board.owners == taken.ravel().tolist()
        assert board.free == sum(1 << core for core, owner in enumerate(board.owners) if owner == -1)
    assert seen > 50


def test_the_nearest_free_place_is_that_of_all_windows() -> None:
    draw, target = np.random.default_rng(1), MeshTarget(rows=4, columns=6)
    board = _Board(target, [])
    for _ in range(200):
        free = draw.random((4, 6)) < 0.7
        old = Rectangle(*(int(n) for n in draw.integers(0, 3, 2)), *(int(n) for n in draw.integers(1, 4, 2)))
        places = free_places(free, old.rows, old.columns)
        found = board.nearest(sum(1 << core for core, is_free in enumerate(free.ravel()) if is_free), old)
        if not len(places):
            assert found is None
            continue
        row, column = places[int(np.abs(places - [old.row, old.column]).sum(1).argmin())]
        assert found == Rectangle(row, column, old.rows, old.columns)


def test_energy_falls_where_one_of_several_large_loads_does() -> None:
    target = MeshTarget(rows=1, columns=4)
    graph = OperatorGraph(name="g", operators=tuple(Operator(name=n, work=1) for n in "abcd"), messages=(
        Message(source="a", sink="b", bytes=100), Message(source="c", sink="d", bytes=100)))
    apart = Ledger(graph, target, [Rectangle(0, n, 1, 1) for n in range(4)])
    across = Ledger(graph, target, [Rectangle(0, n, 1, 1) for n in (0, 3, 1, 2)])
    assert apart.largest == 100
    assert across.largest == 200
    assert apart.score < apart.energy < across.score < across.energy
