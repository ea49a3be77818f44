"""Strides of layouts are the distances in memory that enumeration of the iterations finds, and modes follow them."""

from __future__ import annotations

import math
from itertools import product

import pytest

from polysched.scop.body import Load
from polysched.scop.points import points_of
from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.operand_layout import uniform_step
from tests.tensorize.described import matched, programs_of, unit

MMA = unit("mma", "int32_t Y[4][2], const int16_t X[4][2][2], const int16_t W[2][2][2]",
           "for (int m = 0; m < 4; m++) for (int n = 0; n < 2; n++) for (int k = 0; k < 2; k++) "
           "for (int l = 0; l < 2; l++) Y[m][n] += X[m][k][l] * W[k][l][n];")
ROWS = unit("rows", "int32_t Y[4], const int16_t X[4]", "for (int i = 0; i < 4; i++) Y[i] += X[i];")
TEXTS = {
    "product": ("int C[4][6], short A[4][4], short B[4][6]", "for (int i = 0; i < 4; i++) for (int j = 0; j < 6; j++) "
                "for (int k = 0; k < 4; k++) C[i][j] += A[i][k] * B[k][j];", MMA),
    "columns": ("int C[6][8], short A[4][8], short B[6][4]", "for (int i = 0; i < 8; i++) for (int j = 0; j < 6; j++) "
                "for (int k = 0; k < 4; k++) C[j][i] += A[k][i] * B[j][k];", MMA),
    "windows": ("int C[3][4], short A[2][6], short B[3][2][3]", "for (int o = 0; o < 3; o++) "
                "for (int p = 0; p < 4; p++) for (int c = 0; c < 2; c++) for (int r = 0; r < 3; r++) "
                "C[o][p] += A[c][p + r] * B[o][c][r];", MMA),
    "rows": ("int C[2][8], short A[2][8]",
             "for (int i = 0; i < 2; i++) for (int j = 0; j < 8; j++) C[i][j] += A[i][7 - j];", ROWS),
    "whole rows": ("int C[2][8], short A[2][8]",
                   "for (int i = 0; i < 2; i++) for (int j = 0; j < 8; j++) C[i][j] += A[i][j];", ROWS),
    "quotient": ("int C[8], short A[4]", "for (int i = 0; i < 8; i++) C[i] += A[i / 2];", ROWS)}


@pytest.fixture(scope="module")
def matches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Match, ...]]:
    scops = programs_of({n: (a, b) for n, (a, b, _) in TEXTS.items()}, tmp_path_factory.mktemp("layout"))
    return {n: tuple(matched(s, TEXTS[n][2], partial_sums=False).matches) for n, s in scops.items()}


def fused(match: Match, group: int, point: dict[str, int]) -> int:
    total = 0
    for name in match.loops[group]:
        loop = match.fragment.loop(name)
        total = total * loop.extent + point[name] - loop.lower
    return total


def coordinates(intrinsic: Intrinsic, match: Match, point: dict[str, int]) -> dict[str, int]:
    """The instruction's iterators in one iteration of the program."""
    extents = {d.name: int(d.extent) for d in intrinsic.contraction.dimensions}
    found = {}
    for g, part in enumerate(match.groups):
        rest = fused(match, g, point) % match.extent(g)
        for name in reversed(part.dimensions):
            found[name], rest = rest % extents[name], rest // extents[name]
    return found


def addresses(match: Match, held: Load) -> dict[tuple[int, ...], int]:
    """Per iteration the position of an element in its array."""
    access, depth = match.fragment.statement.access(held.reference), match.fragment.statement.depth
    array = match.fragment.scop.array(access.array)
    extents = [int(e.max_val().to_python()) for e in array.extents if e is not None]
    return {p[:depth]: sum(x * math.prod(extents[at + 1:]) for at, x in enumerate(p[depth:]))
            for p in points_of(match.fragment.relation(held.reference).wrap())}


@pytest.mark.parametrize("name", TEXTS)
def test_strides_are_the_distances_between_neighbours(name: str, matches: dict[str, tuple[Match, ...]]) -> None:
    assert matches[name]
    for match in matches[name]:
        elements = {e.array: e for e in (match.intrinsic.contraction.output, *match.intrinsic.contraction.inputs)}
        for layout in match.layouts:
            held = match.contents[layout.operand]
            if not isinstance(held, Load) or None in layout.strides:
                continue
            firsts: dict[tuple[int, ...], int] = {}
            for values, address in addresses(match, held).items():
                point = dict(zip(match.fragment.statement.iterators, values, strict=True))
                mine = coordinates(match.intrinsic, match, point)
                place = [s.evaluate(mine) for s in elements[layout.operand].subscripts]
                tile = (*(point[n] for n in match.outer),
                        *(fused(match, g, point) // match.extent(g) for g in range(len(match.groups))))
                base = address - sum((s or 0) * x for s, x in zip(layout.strides, place, strict=True))
                assert firsts.setdefault(tile, base) == base, f"{layout} of {match}"


@pytest.mark.parametrize("name", TEXTS)
def test_executions_and_their_use_are_counted(name: str, matches: dict[str, tuple[Match, ...]]) -> None:
    for match in matches[name]:
        iterations = list(product(*(range(loop.lower, loop.lower + loop.extent) for loop in match.fragment.loops)))
        points = [dict(zip(match.fragment.statement.iterators, p, strict=True)) for p in iterations]
        tiles = {(*(p[n] for n in match.outer),
                  *(fused(match, g, p) // match.extent(g) for g in range(len(match.groups)))) for p in points}
        assert match.executions == len(tiles)
        lanes = math.prod(g.extent or 1 for g in match.groups)
        assert match.utilisation == len(points) / (len(tiles) * lanes)
        assert match.cost_cycles > 0


@pytest.mark.parametrize("name", TEXTS)
def test_what_lies_as_the_instruction_reads_it_is_not_copied(name: str, matches: dict[str, tuple[Match, ...]]) -> None:
    for match in matches[name]:
        for layout in match.layouts:
            shape = [int(e) for e in match.intrinsic.parsed.operand(layout.operand).shape]
            natural = tuple(math.prod(shape[at + 1:]) for at in range(len(shape)))
            direct = layout.mode is LoadMode.DIRECT
            assert not direct or layout.strides == natural
            assert direct is (layout.packed_elements == 0)
            assert layout.to_json()["mode"] == layout.mode.value
        total = sum(layout.least_elements for layout in match.layouts if layout.packed_elements)
        assert match.table.least_elements(match.assignment.held, match.loops) == total


def test_rows_are_read_in_place_and_reversed_ones_are_copied(matches: dict[str, tuple[Match, ...]]) -> None:
    modes = {n: {layout.operand: layout.mode for layout in matches[n][0].layouts} for n in ("rows", "whole rows")}
    assert modes["whole rows"] == {"Y": LoadMode.DIRECT, "X": LoadMode.DIRECT}
    assert modes["rows"]["X"] is LoadMode.PACKED


def test_fused_loops_have_one_step_where_each_goes_on_where_the_inner_one_ends(
        matches: dict[str, tuple[Match, ...]]) -> None:
    fragment = matches["whole rows"][0].fragment
    assert uniform_step(fragment, {"i": 8, "j": 1}, ("i", "j")) == 1
    assert uniform_step(fragment, {"i": 9, "j": 1}, ("i", "j")) is None
    assert uniform_step(fragment, {"i": 8, "j": 1}, ("j", "i")) is None
    assert uniform_step(fragment, {"i": 3}, ("i",)) == 3
    assert uniform_step(fragment, {}, ()) == 0
    assert uniform_step(fragment, {}, ("i", "j")) == 0
