"""Loops around an instruction count what is left of the program, and elements start where its first iteration is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from polysched.scop import from_c_text
from polysched.scop.body import Load, walk
from polysched.scop.points import points_of
from polysched.target import host
from polysched.tensorize import match
from polysched.tensorize.emission.nest import (
    NestLoop,
    argument_name,
    content_of,
    copied_element,
    first_element,
    group_step,
    kept_arguments,
    kept_parameters,
    loaded,
    moving_terms,
    nest_loops,
    tile_loop,
    uses,
)
from polysched.tensorize.emission.plan import make_plan
from tests.tensorize.described import matched, programs_of, unit
from tests.tensorize.emission.packed import MMA, Packed, planned


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> list[Packed]:
    return planned(tmp_path_factory.mktemp("nest"))


def test_loops_run_as_often_as_the_instruction(plans: list[Packed]) -> None:
    for one in plans:
        loops = nest_loops(one.match)
        assert math.prod(loop.count for loop in loops) == one.match.executions
        assert all(loop.count > 1 for loop in loops)
        output = one.match.intrinsic.output.name
        assert all(loop.reduction is not uses(one.match, output, loop) for loop in loops)
        for g in range(len(one.match.groups)):
            tile = tile_loop(loops, g)
            assert (tile is None) is (one.match.fused_extent(g) <= one.match.extent(g))


@pytest.mark.parametrize(("count", "unroll", "tile"), [(7, 1, 0), (7, 2, 0), (8, 2, 3), (1, 4, 1), (9, 3, 2)])
def test_blocks_and_tiles_cover_every_iteration(count: int, unroll: int, tile: int) -> None:
    loop = NestLoop(name="t", count=count, unroll=unroll, tile=tile)
    blocks = len({at // unroll for at in range(count)})
    assert loop.blocks == blocks
    assert loop.tiles == (len({at // tile for at in range(blocks)}) if tile else 1)


def test_the_first_element_is_that_of_the_first_iteration(plans: list[Packed]) -> None:
    compared = 0
    for one in plans:
        fragment = one.match.fragment
        first = tuple(loop.lower for loop in fragment.loops)
        for access in fragment.statement.accesses:
            if fragment.memory_steps[access.reference] is None or not fragment.is_box:
                continue
            places = {p[:len(first)]: p[len(first):] for p in points_of(fragment.relation(access.reference).wrap())}
            shape = one.arrays[access.array].shape
            held = Load(access.reference, fragment.scop.array(access.array).dtype)
            assert first_element(one.match, held) == np.ravel_multi_index(places[first], shape)
            assert moving_terms(one.match, held) == ()
            compared += 1
    assert compared > 20


def test_steps_of_a_group_are_those_between_neighbours(plans: list[Packed]) -> None:
    for one in plans:
        for operand, held in one.match.contents.items():
            if not isinstance(held, Load) or not one.match.fragment.is_box:
                continue
            for g, members in enumerate(one.match.loops):
                step = group_step(one.match, held, g)
                if step is None or operand not in one.match.groups[g].indexes:
                    continue
                steps = one.match.fragment.memory_steps[held.reference]
                assert steps is not None
                longer = [n for n in members if one.match.fragment.loop(n).extent > 1]
                assert step == (steps.get(longer[-1], 0) if longer else 0)


def test_an_operand_computed_of_one_element_is_copied_from_it(plans: list[Packed]) -> None:
    for one in plans:
        for v in one.match.intrinsic.parsed.operands:
            held = content_of(one.match, v.name)
            loads = {x.reference for x in walk(held) if isinstance(x, Load)}
            assert loaded(one.match, v.name) == loads
            source = copied_element(one.match, v.name)
            assert source is None or {source.reference} == loads
    numbers = next(p for p in plans if p.name == "numbers_0")
    assert None in [copied_element(numbers.match, v.name) for v in numbers.match.intrinsic.inputs], "k is computed with"


def test_kept_loops_are_handed_over_as_arguments(tmp_path_factory: pytest.TempPathFactory) -> None:
    body = ("for (int t = 1; t < 4; t++) { for (int i = 0; i < 4; i++) for (int j = 0; j < 2; j++) "
            "for (int k = 0; k < 4; k++) C[t][i][j] += A[t][i][k] * B[k][j]; B[t][0] = C[t][0][0]; }")
    scops = programs_of({"kept": ("int C[4][4][2], short A[4][4][4], short B[4][2]", body)},
                        tmp_path_factory.mktemp("kept"))
    found = next(m for m in matched(scops["kept"], MMA).matches if m.fragment.kept)
    assert found.fragment.kept == ("t",)
    assert kept_arguments(found) == [argument_name("t")] == ["ps_in_t"]
    assert kept_parameters(found) == ["long ps_in_t"]
    assert moving_terms(found, found.result) == ("(ps_in_t - 1) * 8",)
    assert first_element(found, found.result) == 8


@pytest.mark.parametrize(("body", "operand", "elements"), [
    ("for (int i = 0; i < 37; i++) for (int k = 0; k < 7; k++) C[i] += A[k] * B[i][k];", "X", 4 * 7),
    ("for (int i = 0; i < 37; i++) for (int k = 0; k < 7; k++) C[i] += B[i][k] * A[k];", "W", 4 * 7),
    ("for (int i = 0; i < 37; i++) for (int k = 0; k < 7; k++) C[i] += A[i] * B[i][k];", "X", 4 * 10),
    ("for (int i = 0; i < 37; i++) for (int k = 0; k <= i && k < 7; k++) C[i] += A[k] * B[i][k];", "X", 4 * 10 * 7)])
def test_what_all_tiles_hold_is_copied_once(body: str, operand: str, elements: int) -> None:
    """Lanes along a loop that an operand does not know hold one element in every tile; not where iterations end it."""
    row = unit("row", "int32_t Y[4], const int16_t X[4], const int16_t W[4]",
               "for (int i = 0; i < 4; i++) Y[i] += X[i] * W[i];")
    scop = from_c_text(f"void f(int C[37], short A[37], short B[37][7]) {{\n#pragma scop\n{body}\n"
                       "#pragma endscop\n}\n")
    found = next(m for m in match(scop, row).matches if len(m.loops[0]) == 1 and
                 {x.reference for x in walk(m.contents[operand]) if isinstance(x, Load)} & {
                     a.reference for a in m.fragment.statement.reads if a.array == "A"})
    place = make_plan(found, emulated=True, target=host()).place(operand)
    assert place.packed
    assert place.elements == elements
