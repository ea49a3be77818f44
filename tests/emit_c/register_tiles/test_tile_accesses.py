"""Where the accesses of a register tile go at each of its points, and how they move from lane to lane."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.emit_c.loop_ir.index import constant, variable
from polysched.emit_c.loop_ir.loops import Edge, RegisterTile, StatementInstance, Temporary
from polysched.emit_c.loop_ir.text import linear_text
from polysched.emit_c.register_tiles.tile_accesses import (
    Lanes,
    PackedOperand,
    Point,
    Reach,
    is_contiguous,
    is_whole,
    iterators_at,
    packed_reach,
    points,
    private_reach,
    reach,
)
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

ROWS, LANES = Edge("i", variable("i"), 2, False), Edge("j", variable("j"), 8, True)
HEAD = "void f(int n, int m, float y[n], float {array}, int at[n])\n{{\n#pragma scop\n"
BODY = "for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n    y[i] += {read};\n#pragma endscop\n}}\n"


def program(read: str, array: str) -> Scop:
    return from_c_text((HEAD + BODY).format(array=array, read=read))


def found(read: str, array: str = "x[n][m]", lanes: int = 4) -> Reach:
    scop = program(read, array)
    (statement,) = scop.statements
    (access,) = [a for a in statement.accesses if a.array == "x"]
    values = {"i": variable("i"), "j": variable("j")}
    return reach(scop.array("x"), access, values, "j", lanes)


@pytest.mark.parametrize(("read", "array", "lanes"), [
    ("x[i][3]", "x[n][m]", Lanes.UNIFORM),
    ("x[i][j]", "x[n][m]", Lanes.UNIT),
    ("x[i][m - 1 - j]", "x[n][m]", Lanes.REVERSED),
    ("x[j][i]", "x[n][m]", Lanes.SPREAD),
    ("x[i][2 * j]", "x[n][2 * m]", Lanes.STRIDED),
    ("x[i][9 * j]", "x[n][9 * m]", Lanes.SPREAD),
    ("x[j][0]", "x[n][2]", Lanes.STRIDED),       # rows of two: every second element of memory
    ("x[i][j / 2]", "x[n][m]", Lanes.UNKNOWN),
    ("x[i][at[j]]", "x[n][m]", Lanes.UNKNOWN),
])
def test_how_an_access_moves(read: str, array: str, lanes: Lanes) -> None:
    assert found(read, array).lanes is lanes


def test_one_vector_covers_its_lanes() -> None:
    assert found("x[i][j]", lanes=8).span == 8
    assert found("x[i][m - 1 - j]", lanes=8).span == 8
    assert found("x[i][3]", lanes=8).span == 1


def test_the_step_of_strided_elements() -> None:
    assert found("x[i][2 * j]", "x[n][2 * m]").step == 2
    assert found("x[i][2 * m - 2 * j]", "x[n][2 * m + 1]").step == -2
    assert found("x[j][1]", "x[n][2]").step == 2


def test_what_is_not_linear_has_no_subscripts() -> None:
    assert found("x[i][at[j]]").subscripts is None


def test_a_temporary_has_subscripts_of_its_own() -> None:
    scop = program("x[i][j]", "x[n][m]")
    (access,) = [a for a in scop.statements[0].accesses if a.array == "x"]
    buffer = Temporary("x", "b", kept=(1,), bases=(variable("c"),), extents=(16,))
    made = reach(scop.array("x"), access, {"i": variable("i"), "j": variable("j")}, "j", 4, temporary=buffer)
    assert made.subscripts == (variable("j") - variable("c"),)
    assert made.lanes is Lanes.UNIT


def test_points_go_by_whole_vectors() -> None:
    made = points((ROWS, LANES), 4)
    assert [dict(p.offsets) for p in made] == [{"i": i, "j": j} for i in (0, 1) for j in (0, 4)]
    assert len(points((ROWS, LANES), 1)) == 16
    assert points((), 4) == (Point(()),)


def test_a_renamed_variable_wins_over_its_offset() -> None:
    values = Point((("i", 1), ("j", 4)), (("j", "j_2"),)).substitution()
    assert {name: linear_text(form) for name, form in values.items()} == {"i": "i + 1", "j": "j_2"}


def test_iterators_at_a_point() -> None:
    scop = program("x[i][j]", "x[n][m]")
    instance = StatementInstance(scop.statements[0].name, (variable("i") * 2, variable("j") + 1))
    made = iterators_at(scop, instance, Point((("i", 3), ("j", 4))))
    assert {name: linear_text(form) for name, form in made.items()} == {"i": "2*i + 6", "j": "j + 5"}


def test_a_panel_is_read_in_lanes_or_by_all_lanes_alike() -> None:
    operand = PackedOperand("P", (variable("j"),), in_lanes=True)
    assert packed_reach(operand, 8) == Reach("P", (variable("j"),), Lanes.UNIT, 8)
    assert packed_reach(operand, 1).lanes is Lanes.UNIFORM
    assert packed_reach(replace(operand, in_lanes=False), 8).lanes is Lanes.UNIFORM


def test_a_private_variable() -> None:
    y = program("x[i][j]", "x[n][m]").array("y")
    assert private_reach(y, None, 8).lanes is Lanes.UNIFORM
    assert private_reach(y, "j", 8) == Reach("y", (), Lanes.UNIT, 8)


def test_rows_of_pointers_are_contiguous_and_columns_of_structs_are_not() -> None:
    x = program("x[i][j]", "x[n][m]").array("x")
    assert is_contiguous(x)
    assert is_contiguous(replace(x, c_element="p->x[{}][{}]"))
    assert is_contiguous(replace(x, c_element="x[{} * m + {}]"))
    assert not is_contiguous(replace(x, c_element="x[{}][{}].re"))


def test_a_tile_on_a_copy_is_whole_where_all_points_are_instances() -> None:
    body = StatementInstance("S", ())
    whole = tuple((e.base, e.base + e.count) for e in (ROWS, LANES))
    assert is_whole(RegisterTile((), (ROWS, LANES), body, within=whole))
    assert not is_whole(RegisterTile((), (ROWS, LANES), body, within=(whole[0], (LANES.base, constant(9)))))


@pytest.mark.parametrize(("count", "lanes", "starts"), [
    (8, 4, [0, 4]), (14, 8, [0, 6]), (7, 4, [0, 3]), (28, 16, [0, 12]), (40, 16, [0, 16, 24]), (3, 2, [0, 1]),
    (2, 4, [0])])
def test_the_last_vector_ends_where_the_edge_ends(count: int, lanes: int, starts: list[int]) -> None:
    made = points((ROWS, Edge("j", variable("j"), count, True)), lanes)
    assert [dict(point.offsets)["j"] for point in made] == starts * 2
