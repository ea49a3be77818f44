"""The nodes of the loop IR: what they say of themselves."""

from __future__ import annotations

from polysched.emit_c.loop_ir.index import constant, variable
from polysched.emit_c.loop_ir.loops import Panel, Temporary
from polysched.scop.body import Load
from polysched.scop.dtypes import FLOAT32

I_, J = variable("i"), variable("j")


def test_where_a_temporary_has_an_element() -> None:
    part = Temporary("A", "a", kept=(1,), bases=(J - 1,), extents=(4,))
    assert part.subscripts((I_, J + 1)) == (constant(2),)
    assert not part.is_whole
    assert Temporary("A", "a", kept=(0, 1), bases=(constant(0), constant(0)), extents=(4, 4)).is_whole


def test_the_size_of_a_panel() -> None:
    panel = Panel("p", "S", Load("r", FLOAT32), (I_, J), (8, 16), (), in_lanes=True, outer=("n",))
    assert panel.bytes == 8 * 16 * 4
    assert panel.bytes_text == "512ul * n"
