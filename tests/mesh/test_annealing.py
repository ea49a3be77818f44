"""Annealing repeats itself, keeps rectangles apart, and finds what all orders of a 3x3 mesh have as their best."""

import itertools

import numpy as np

from polysched.mesh import MeshTarget, Message, Operator, OperatorGraph, Rectangle
from polysched.mesh.annealing import anneal
from polysched.mesh.cost import Ledger, scored
from polysched.mesh.packing import greedy
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


def test_energy_falls_where_one_of_several_large_loads_does() -> None:
    target = MeshTarget(rows=1, columns=4)
    graph = OperatorGraph(name="g", operators=tuple(Operator(name=n, work=1) for n in "abcd"), messages=(
        Message(source="a", sink="b", bytes=100), Message(source="c", sink="d", bytes=100)))
    apart = Ledger(graph, target, [Rectangle(0, n, 1, 1) for n in range(4)])
    across = Ledger(graph, target, [Rectangle(0, n, 1, 1) for n in (0, 3, 1, 2)])
    assert apart.largest == 100
    assert across.largest == 200
    assert apart.score < apart.energy < across.score < across.energy
