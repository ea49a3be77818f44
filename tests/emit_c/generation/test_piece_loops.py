"""Loops over pieces of a width that the running program knows: their ends, conditions on them, and the check."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.emit_c import scan
from polysched.emit_c.generation import loop_generation
from polysched.emit_c.generation.loop_run import run_loops
from polysched.emit_c.generation.piece_loops import is_over_pieces, loop_over_pieces, where
from polysched.emit_c.generation.scan_check import visits_every_instance
from polysched.emit_c.loop_ir.index import Comparison, Linear, constant, product, substitute, variable, variables
from polysched.emit_c.loop_ir.loops import Block, For, If, StatementInstance
from polysched.emit_c.loop_ir.traversal import map_children, walk_nodes
from polysched.pipeline import scanned_with_fallbacks
from polysched.scheduling.marks import LoopMark
from polysched.tiling import tile
from polysched.tiling.shapes.split_tiles import BEGIN, HALF, PIECE
from tests.schedules import pluto_of
from tests.tiling.shapes.test_split_tiles import SYMBOLIC
from tests.tiling.test_tile_bands import MACHINE, plain

MARK = LoopMark(pieces=3, parallel=True)
INSTANCE = StatementInstance("S", (variable(BEGIN),))


@pytest.fixture(scope="module")
def symbolic():
    return pluto_of(SYMBOLIC)


@pytest.mark.parametrize(("kind", "begins"), [(PIECE, [0, 10, 20]), (HALF, [10, 20, 30, 40])])
def test_pieces_and_halves_lie_side_by_side(kind, begins):
    loop = loop_over_pieces(kind, MARK, INSTANCE)
    assert run_loops(loop, {"polysched_width0": 10}) == [("S", (begin,)) for begin in begins]


def test_a_condition_on_the_ends_is_asked_inside_of_the_pieces():
    loop = loop_over_pieces(PIECE, MARK, INSTANCE)
    late = Comparison(">=", variable(BEGIN), constant(10))
    width = {"polysched_width0": 10}
    assert run_loops(where(late, loop, None), width) == [("S", (10,)), ("S", (20,))]
    assert run_loops(where(late, Block(()), loop), width) == [("S", (0,))]
    inside = where(late, INSTANCE, None)
    assert inside == If(late, INSTANCE), "inside of a piece its ends are known"


def test_a_product_of_a_variable_and_a_number_is_no_product():
    form = product(variable("p"), variable("w") + 1)
    assert variables(form) == {"p", "w"}
    assert substitute(form, {"p": constant(3)}) == variable("w") * 3 + 3
    assert substitute(form, {"w": Linear((), 4)}) == variable("p") * 5


def test_loops_that_leave_out_a_piece_are_not_taken(symbolic):
    tiled = tile(symbolic, plain(sizes=(2, 8, 16), split=True, target=replace(MACHINE, cores=2)))
    loops = scan(tiled).loops
    assert visits_every_instance(loops, symbolic.scop)

    def without_last(node):
        if isinstance(node, For) and is_over_pieces(node):
            node = replace(node, upper=node.upper - 1)
        return map_children(node, without_last)

    assert not visits_every_instance(without_last(loops), symbolic.scop)


def test_pieces_that_are_wrong_become_wavefronts(symbolic, monkeypatch):
    def checked(node, scop):
        return not any(map(is_over_pieces, walk_nodes(node))) and visits_every_instance(node, scop)

    monkeypatch.setattr(loop_generation, "visits_every_instance", checked)
    found = scanned_with_fallbacks(tile(symbolic, plain(
        sizes=(2, 8, 16), split=True, target=replace(MACHINE, cores=2))))[1]
    assert found.fallbacks[0].startswith("tiles were not split after all")
