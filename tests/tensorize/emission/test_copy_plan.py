"""Tables of copies name, for every place of a buffer, the element that the match has there."""

from __future__ import annotations

import math

import numpy as np
import pytest

from polysched.scop.body import Load
from polysched.tensorize.emission.copy_plan import block_copy, digit_weights, homes, operand_subscripts, window_copy
from polysched.tensorize.emission.nest import copied_element, uses
from tests.tensorize.emission.packed import Packed, planned
from tests.tensorize.emission.test_copy_c import pairs


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> list[Packed]:
    return planned(tmp_path_factory.mktemp("copy_plan"))


def numbered(one: Packed, operand: str) -> dict[int, int]:
    """Per place of the buffer the position of its element in the array."""
    source = copied_element(one.match, operand)
    assert source is not None
    array = one.arrays[one.match.fragment.statement.access(source.reference).array]
    kept = array.copy()
    array[...] = np.arange(array.size).reshape(array.shape)
    found = dict(one.places(operand))
    array[...] = kept
    return found


def test_the_table_of_a_plan_has_the_elements_of_the_match(plans: list[Packed]) -> None:
    compared = 0
    for one in plans:
        for operand in (*one.operands, one.match.intrinsic.output.name):
            place = one.plan.place(operand)
            if place.packed and place.copy is not None and isinstance(one.match.contents[operand], Load):
                assert dict(pairs(place.copy)) == numbered(one, operand), f"{operand} {one.match}"
                compared += 1
    assert compared > 8


def test_blocks_follow_the_nest_and_fill_the_buffer(plans: list[Packed]) -> None:
    compared = 0
    for one in plans:
        for operand in one.operands:
            source = copied_element(one.match, operand)
            mine = [loop for loop in one.plan.loops if uses(one.match, operand, loop)]
            made = None if source is None else block_copy(one.match, operand, source, mine)
            if made is None:
                continue
            whole = math.prod(loop.blocks * loop.unroll for loop in mine)
            assert made.elements == whole * one.match.intrinsic.parsed.operand(operand).elements
            assert [a.name for a in made.axes[:len(mine)]] == [loop.name for loop in mine]
            compared += 1
    assert compared > 8


def test_windows_copy_every_element_of_the_array_once(plans: list[Packed]) -> None:
    compared = 0
    for one in (p for p in plans if p.name.startswith("windows")):
        for operand in one.operands:
            source = copied_element(one.match, operand)
            mine = [loop for loop in one.plan.loops if uses(one.match, operand, loop)]
            made = None if source is None else window_copy(one.match, operand, source, mine)
            if made is None:
                continue
            elements = [element for _, element in pairs(made)]
            assert len(set(elements)) == len(elements)
            assert set(elements) >= set(numbered(one, operand).values())
            compared += 1
    assert compared > 0


def test_shared_elements_and_several_places_have_no_table(plans: list[Packed]) -> None:
    by_name = {p.name: p for p in plans}
    assert operand_subscripts(by_name["shared_0"].match, "X") is None
    assert operand_subscripts(by_name["shared_0"].match, "W") == [("r", 3)]
    assert operand_subscripts(by_name["places_0"].match, "X") is None
    assert operand_subscripts(by_name["product_0"].match, "X") == [("m", 4), ("k", 2), ("l", 2)]


def test_digits_of_a_group_weigh_what_is_inside_of_them(plans: list[Packed]) -> None:
    found = next(p for p in plans if p.name == "product_0").match
    weights = [digit_weights(found, g) for g in range(len(found.groups))]
    assert weights == [{"m": 1}, {"k": 2, "l": 1}, {"n": 1}] or sorted(map(str, weights)) == sorted(
        map(str, [{"m": 1}, {"n": 1}, {"k": 2, "l": 1}]))


def test_a_subscript_is_at_home_in_the_group_that_moves_it_alone(plans: list[Packed]) -> None:
    for one in (p for p in plans if p.name.startswith("windows")):
        for operand in ("X", "W"):
            source = copied_element(one.match, operand)
            home = None if source is None else homes(one.match, operand, source)
            for at, (group, factor) in (home or {}).items():
                (loop,) = [n for n in one.match.loops[group] if one.match.fragment.loop(n).extent > 1]
                assert source is not None
                assert dict(one.match.fragment.indices[source.reference][at].coefficients)[loop] == factor
