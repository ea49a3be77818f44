"""What is at hand inside a register tile: one variable per text, and none for what already has a name."""

from __future__ import annotations

from polysched.emit_c.loop_ir.index import variable
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Reach
from polysched.emit_c.scalar_code.c_text import CText, Level
from polysched.emit_c.vector_code.tile_scope import Piece, TileScope
from polysched.scop.dtypes import FLOAT32

HELD = Reach("C", (variable("i"),), Lanes.UNIT, 4)


def scope(*in_use: str, taken: frozenset[str] = frozenset()) -> TileScope:
    return TileScope(registers={HELD: Piece(CText("C_0"), FLOAT32, True)}, written=frozenset({"C"}),
                     taken=TakenNames(used=taken, visible=taken), in_use=frozenset(in_use))


def loaded(text: str) -> Piece:
    return Piece(CText(text, Level.UNARY), FLOAT32, True)


def test_registers_hold_elements_of_what_is_written() -> None:
    made = scope()
    assert made.held(HELD) == Piece(CText("C_0"), FLOAT32, True)
    assert made.held(Reach("C", (variable("j"),), Lanes.UNIT, 4)) is None
    assert not made.is_read_only("C")
    assert made.is_read_only("A")


def test_the_same_text_is_bound_once() -> None:
    made = scope()
    first, again, other = (made.bind("A", loaded(text), "vec") for text in ("*(vec *)&A[i]", "*(vec *)&A[i]", "A[j]"))
    assert first == again == Piece(CText("A_0"), FLOAT32, True)
    assert other.text.code == "A_1"
    assert made.lines == ["const vec A_0 = *(vec *)&A[i];", "const vec A_1 = A[j];"]


def test_a_name_is_no_value_to_bind() -> None:
    made = scope()
    assert made.bind("A", loaded("A_part"), "vec") == loaded("A_part")
    assert made.lines == []


def test_what_may_change_later_is_declared_each_time() -> None:
    made = scope()
    names = [made.declare("A", loaded("A[i]"), "vec").text.code for _ in range(2)]
    assert names == ["A_0", "A_1"]


def test_names_of_loops_registers_and_the_program_are_passed_over() -> None:
    made = scope("A_0", "A_2", taken=frozenset({"A_1"}))
    assert made.bind("A", loaded("A[i]"), "vec").text.code == "A_3"
    assert made.bind("p->a", loaded("p->a[i]"), "vec").text.code.isidentifier()


def test_a_program_may_have_all_the_short_names() -> None:
    """Numbers are tried until one is free, however many the file has taken."""
    taken = frozenset(f"A_{k}" for k in range(40))
    assert scope(taken=taken).bind("A", loaded("A[i]"), "vec").text.code == "A_40"
