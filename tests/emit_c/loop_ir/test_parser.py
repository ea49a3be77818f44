"""Reading the text form of the loop IR: spellings that it accepts, and refusals that name the line."""

from __future__ import annotations

import pytest

from polysched.emit_c.loop_ir.index import Comparison, Junction, constant, variable
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Packed, RegisterTile, StatementInstance
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.errors import SourceSyntaxError
from polysched.scheduling.marks import LoopMark, Role

I_, N = variable("i"), variable("n")
PANEL = ("with packed(Panel(name='P', statement='S', value=Load(reference='S_r0', dtype=dtype('float32')), "
         "subscripts=(linear(i), ), extents=(8, ), loops=(loop(i, 0, 8), ), in_lanes=True), S(0)):\n")
TILE = "    with register_tile(loops=(), edges=(edge(i, 0, 8, simd=True), ), panels=('{}', )):\n        S(i)\n"


def test_a_step_and_a_mark_stand_behind_the_bounds() -> None:
    read = parse_loops("for i in range(0, n - 1, 4, mark='role=tile parallel=1', depth=2):\n    S(2*i - 3)")
    assert read == For("i", constant(0), N - 1, 4, StatementInstance("S", (I_ * 2 - 3,)),
                       LoopMark(role=Role.TILE, parallel=True), 2)


def test_nothing_is_a_block_without_children() -> None:
    assert parse_loops("") == Block(())
    assert parse_loops("for i in range(0, n):\n    pass") == For("i", constant(0), N, 1, Block(()))


def test_names_that_are_no_names_in_python_are_elements_of_names() -> None:
    (only,) = [n for n in walk_nodes(parse_loops("with let(names['min'], names['a->n'] + 1):\n    S()"))
               if isinstance(n, Let)]
    assert (only.variable, only.value) == ("min", variable("a->n") + 1)
    assert parse_loops("statements['1st'](i)") == StatementInstance("1st", (I_,))


def test_conditions_nest() -> None:
    read = parse_loops("if any(i < n, all(i == 3, n >= 4)):\n    S(i)\nelse:\n    T(i)")
    assert read == If(Junction("||", (Comparison("<", I_, N), Junction("&&", (
        Comparison("==", I_, constant(3)), Comparison(">=", N, constant(4)))))),
        StatementInstance("S", (I_,)), StatementInstance("T", (I_,)))


def test_a_tile_names_the_panels_that_are_filled_around_it() -> None:
    read = parse_loops(PANEL + TILE.format("P"))
    assert isinstance(read, Packed)
    assert isinstance(read.body, RegisterTile)
    assert read.body.panels == (read.panel,)
    with pytest.raises(SourceSyntaxError, match="no panel Q is filled around this tile"):
        parse_loops(PANEL + TILE.format("Q"))


@pytest.mark.parametrize("text", [
    "while True:\n    S(i)",
    "S",
    "S(i * n)",
    "S(i ** 2)",
    "S(2 * i, temporaries=unknown(3))",
    "for i in range(n):\n    S(i)",
    "for i in loops(0, n):\n    S(i)",
    "for i in range(0, n, 'x'):\n    S(i)",
    "for i in range(0, n, mark='role=nonsense'):\n    S(i)",
    "for i in range(0, n, mark='parallel=maybe'):\n    S(i)",
    "for i in range(0, n, colour=3):\n    S(i)",
    "if i < j < n:\n    S(i)",
    "if i != n:\n    S(i)",
    "with let(i):\n    S(i)",
    "with let(i, 1, 2):\n    S(i)",
    "with packed(3):\n    S(i)",
    "with on_copy(3, 4, 5):\n    S(i)",
    "with nothing(3):\n    S(i)",
    "with local(Temporary(name='t')):\n    S(i)",
    "with register_tile(loops=()):\n    S(i)",
    "with thread_reduction(first='a'):\n    S(i)",
    "S(floord(i))",
    "S(floord(i, n))",
    "S(choose(i, 1, 2))",
])
def test_what_is_no_text_form_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(SourceSyntaxError) as refused:
        parse_loops("T(0)\n" + text)
    assert "line" in refused.value.where
    assert refused.value.where != "line 1"


def test_what_is_no_python_is_refused() -> None:
    with pytest.raises(SourceSyntaxError) as refused:
        parse_loops("S(0)\nfor i in range(0, n)\n    S(i)")
    assert refused.value.where == "line 2"
    assert refused.value.witness.startswith("for i in")
