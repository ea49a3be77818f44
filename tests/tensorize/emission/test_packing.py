"""Buffers hold what the program's operands hold, with zeros as padding; results go back the same way."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

from polysched.scop.body import Binary, Cast, Literal, Load
from polysched.scop.dtypes import BFLOAT16, FLOAT16, FLOAT32, INT16, INT32
from polysched.scop.points import points_of
from polysched.tensorize.emission.nest import content_of
from polysched.tensorize.emission.packing import condition_c, element_c, result_arrays, value_c
from tests.tensorize.emission.packed import Packed, packed_matches


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> list[Packed]:
    return packed_matches(tmp_path_factory.mktemp("packing"))


def test_every_place_of_a_buffer_holds_the_programs_value_or_zero(packed: list[Packed]) -> None:
    compared = 0
    for one in packed:
        for operand in one.operands:
            np.testing.assert_array_equal(one.buffer(operand), one.expected(operand), err_msg=f"{operand} {one.match}")
            compared += 1
    assert compared > 25


def test_results_are_written_to_the_elements_that_they_belong_to(packed: list[Packed]) -> None:
    compared = 0
    for one in packed:
        output = one.match.intrinsic.output
        if not one.plan.place(output.name).packed or one.match.adds_at_the_end:
            continue
        held = one.plan.match.fragment.target
        buffer = np.arange(one.plan.place(output.name).elements, dtype=output.dtype.name) + 1000
        numbered = {x: at for at, x in zip(*_positions(one), strict=True)}
        before = one.arrays[one.match.fragment.statement.access(held).array]
        wanted = before.copy().ravel()
        for element, at in numbered.items():
            wanted[element] = buffer[at]
        np.testing.assert_array_equal(one.stored(buffer).ravel(), wanted, err_msg=str(one.match))
        compared += 1
    assert compared > 5


def _positions(one: Packed) -> tuple[list[int], list[int]]:
    """Of every element of the result its place in the buffer, found by numbering the array's elements."""
    fragment = one.match.fragment
    name = fragment.statement.access(fragment.target).array
    array = one.arrays[name]
    kept = array.copy()
    array[...] = np.arange(array.size).reshape(array.shape)
    pairs = list(one.places(one.match.intrinsic.output.name))
    array[...] = kept
    return [at for at, _ in pairs], [element for _, element in pairs]


@pytest.mark.parametrize("text", ["{ [i, j] : 0 <= i < 6 and i <= j < 7 }", "{ [i, j] : (i + j) mod 3 = 0 }",
                                  "{ [i, j] : i = 2 or j > 4 }", "{ [i, j] : 2j >= 3i - 1 and i != 3 }",
                                  "{ [i, j] : exists k : i = 2k and j < k + 3 }"])
def test_a_condition_holds_for_the_points_of_its_set(text: str) -> None:
    points = isl.Set(text)
    condition = condition_c(points, ("i", "j")).replace("&&", " and ").replace("||", " or ")
    for i in range(-3, 9):
        for j in range(-3, 9):
            mine = points.intersect(isl.Set(f"{{ [{i}, {j}] }}"))
            assert bool(eval(condition.replace("!", "not ").replace("not =", "!="), {}, {"i": i, "j": j})) \
                is not mine.is_empty(), (i, j, condition)


def test_short_floats_are_computed_in_single_ones(packed: list[Packed]) -> None:
    found, x = packed[0].match, Load("x", FLOAT16)

    def element(e: Load) -> str:
        return e.reference

    assert value_c(found, x, FLOAT16, element=element) == "x", "a copy of bits"
    assert value_c(found, Literal("1", 1, FLOAT16), FLOAT16) == "0x3c00"
    assert value_c(found, Literal("1", 1, BFLOAT16), BFLOAT16) == "0x3f80"
    assert np.array([1], np.float16).view(np.uint16)[0] == 0x3C00
    double = Binary("+", Cast(x, FLOAT32), Cast(x, FLOAT32), FLOAT32)
    assert value_c(found, double, FLOAT32, element=element).count("f16_to_f32(x)") == 2
    assert value_c(found, double, FLOAT16, element=element).startswith("f32_to_f16(")
    assert value_c(found, Load("s", INT16), INT32, element=element) == "(int32_t)(s)"


def test_an_element_is_addressed_by_all_iterators(packed: list[Packed]) -> None:
    for one in packed:
        held = content_of(one.match, one.match.intrinsic.output.name)
        assert isinstance(held, Load)
        text = element_c(one.match, held)
        (array,) = result_arrays(one.match, one.match.intrinsic.output.name)
        assert text.startswith(f"{array}[")
        access = one.match.fragment.statement.access(held.reference)
        depth = one.match.fragment.statement.depth
        flat = one.arrays[array].shape
        for p in points_of(one.match.fragment.relation(held.reference).wrap()):
            values = dict(zip(one.match.fragment.statement.iterators, p[:depth], strict=True))
            at = eval(text[len(array) + 1:-1].replace("/", "//"), {}, values)
            assert at == np.ravel_multi_index(p[depth:], flat), access
