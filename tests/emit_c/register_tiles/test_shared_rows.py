"""Elements that rows of a register tile read again: which accesses these are, and whether they stay in registers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.emit_c.loop_ir.index import Linear, constant, variable
from polysched.emit_c.loop_ir.loops import Block, Edge, For, RegisterTile, StatementInstance
from polysched.emit_c.register_tiles.shared_rows import MOST_SUMS_BESIDE_ROWS, SharedRows, shared_rows
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Reach
from polysched.target.target import CorePorts

X, S, C, N = variable("x"), variable("s"), variable("c"), variable("n")
TILE = RegisterTile((For("s", constant(0), constant(3), 1, Block(())),),
                    (Edge("x", X, 6, False), Edge("c", C, 16, True)), StatementInstance("S", (X, C, S)))
PORTS = CorePorts()


def at(*subscripts: Linear, lanes: Lanes = Lanes.UNIFORM) -> Reach:
    return Reach("A", subscripts, lanes, 1)


def found(*reached: Reach, sums: int = 12, rows: int = 6, registers: int = 16) -> SharedRows:
    return shared_rows(TILE, reached, sums=sums, rows=rows, registers=registers, ports=PORTS)


@pytest.mark.parametrize(("reached", "is_shared"), [
    (at(X + S), True),             # row x + 1 reads in one iteration what row x reads in the next
    (at(X, S), False),             # no row reads what another does
    (at(N, X * 2 + S), True),
    (at(C + S), False),            # lanes, not rows
    (at(X), False),
    (Reach("A", None, Lanes.UNKNOWN, 1), False),
])
def test_accesses_of_a_window(reached: Reach, is_shared: bool) -> None:
    assert found(reached).reaches == ((reached,) if is_shared else ())


def test_elements_are_left_where_sums_fill_the_registers() -> None:
    registers = 16
    few = int(MOST_SUMS_BESIDE_ROWS * registers)
    assert found(at(X + S), sums=few + 1).are_left
    assert not found(at(X + S), sums=few).are_left
    assert not found(at(X, S), sums=few + 1).are_left, "nothing is read again"
    assert not found(at(X + S, lanes=Lanes.UNIT), sums=few + 1).are_left, "vectors stay in registers"


def test_loops_stay_loops_beside_full_pipes_only() -> None:
    ports = replace(PORTS, fma_pipes=1, issue_per_cycle=4)
    slow = replace(PORTS, fma_pipes=2, issue_per_cycle=2)
    tile = found(at(X + S), sums=14, rows=7)
    assert replace(tile, ports=ports).are_rolled
    assert not replace(tile, ports=slow).are_rolled
    assert replace(tile, ports=slow).leave_no_register
    assert not replace(tile, ports=ports).leave_no_register
