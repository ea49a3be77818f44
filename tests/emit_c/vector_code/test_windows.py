"""Pointers to what a tile reads through a window: which accesses get one, and how its elements are spelled."""

from __future__ import annotations

from dataclasses import replace

from polysched.emit_c.loop_ir.index import Linear, variable
from polysched.emit_c.register_tiles.accumulators import TileAccess
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Reach
from polysched.emit_c.vector_code.windows import Window, windows
from polysched.scop.scop import Array
from tests.emit_c.printers import printer_of

C, X, R, S, Y = (variable(name) for name in ("c", "x", "r", "s", "y"))
PRINTER = printer_of("for (int i = 0; i < n; i++)\n  y[i] = W[i][0][0];",
                     head="void f(int n, float W[n][9][9], float y[n])\n{\n#pragma scop\n")
ARRAY = PRINTER.scop.array("W")


def access(*subscripts: Linear, rows: int = 2, step: Linear = X) -> TileAccess:
    keys = tuple(Reach("W", tuple(f + k if f.coefficient(step.terms[0][0]) else f for f in subscripts),
                       Lanes.UNIFORM, 1) for k in range(rows))
    return TileAccess(Reach("W", subscripts, Lanes.UNIFORM, 1), keys, False)


def found(*accesses: TileAccess, array: Array = ARRAY, unrolled: tuple[str, ...] = ("r", "s")) -> tuple[Window, ...]:
    return windows(accesses, frozenset(unrolled), rows=frozenset({"x"}), array=lambda _: array, local_names={},
                   fresh=lambda wish, used: wish if wish not in used else f"{wish}_2")


def test_a_pointer_stands_behind_the_subscripts_that_nothing_unrolled_moves() -> None:
    (window,) = found(access(C, Y + R, X + S))
    assert (window.name, window.outer) == ("W_window", 1)
    assert window.declaration(PRINTER.index) == [
        "__typeof__(&W[c][y]) W_window = (__typeof__(&W[c][y]))&W[c][y][x];", '__asm__("" : "+r"(W_window));']
    assert [piece.text.code for _, piece in window.elements(PRINTER.index)] == ["W_window[r][s]", "W_window[r][s + 1]"]


def test_a_row_needs_no_conversion() -> None:
    (window,) = found(access(C, Y, X + S))
    assert window.declaration(PRINTER.index)[0] == "__typeof__(&W[c][y][x]) W_window = &W[c][y][x];"


def test_what_no_unrolled_loop_moves_has_no_window() -> None:
    assert found(access(C, Y, X)) == ()
    assert found(TileAccess(Reach("W", None, Lanes.UNKNOWN, 1), (), False)) == ()


def test_an_outer_subscript_that_differs_from_row_to_row_has_no_window() -> None:
    assert found(access(X, Y + R, C + S)) == ()


def test_each_access_has_its_own_and_equal_ones_share_it() -> None:
    one, other = access(C, Y + R, X + S), access(C + 1, Y + R, X + S)
    assert [w.name for w in found(one, one, other)] == ["W_window", "W_window_2"]


def test_an_element_of_a_struct_is_not_spelled_so() -> None:
    assert found(access(C, Y + R, X + S), array=replace(ARRAY, c_element="W[{}][{}][{}].re")) == ()


def test_rows_alone_vary_inside_all_loops() -> None:
    (window,) = found(access(C, Y + R, X + X + S), unrolled=())
    element = "W[c][y + r][2 * x + s]"
    assert window.declaration(PRINTER.index)[0] == f"__typeof__(&{element}) W_window = &{element};"
    assert found(access(C, Y + R, R), unrolled=()) == ()
