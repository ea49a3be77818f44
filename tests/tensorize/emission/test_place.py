"""Operands that lie right are read where they are, at the addresses of the program; the others get a whole buffer."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from polysched.scop.body import Load
from polysched.target import host
from polysched.tensorize.emission.nest import content_of, loaded, uses
from polysched.tensorize.emission.place import is_whole, place_of
from polysched.tensorize.emission.plan import make_plan
from tests.tensorize.emission.packed import Packed, digits, planned


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> list[Packed]:
    return planned(tmp_path_factory.mktemp("place"))


def test_addresses_in_place_are_those_of_the_programs_elements(plans: list[Packed]) -> None:
    compared = 0
    for one in plans:
        for place in one.plan.places:
            held = content_of(one.match, place.operand)
            if place.packed:
                continue
            assert isinstance(held, Load)
            array = one.arrays[one.match.fragment.statement.access(held.reference).array]
            layout = next(v for v in one.match.layouts if v.operand == place.operand)
            element = next(e for e in (one.match.intrinsic.contraction.output, *one.match.intrinsic.contraction.inputs)
                           if e.array == place.operand)
            array[...] = np.arange(array.size).reshape(array.shape)
            seen = one.seen(place.operand, held)
            for mine, coordinates, key in one.points(place.operand):
                at = place.base + sum(s * e.evaluate(coordinates) for s, e in zip(
                    (v or 0 for v in layout.strides), element.subscripts, strict=True))
                at += sum(place.block_strides[n] * (t // u) + place.unrolled_strides[n] * (t % u) for n, t, u in mine)
                assert at == seen[key], f"{place} {one.match}"
            compared += 1
    assert compared > 5


def test_buffers_have_a_block_for_every_point_of_the_operands_loops(plans: list[Packed]) -> None:
    compared = 0
    for one in plans:
        for place in one.plan.places:
            if not place.packed:
                assert place.elements == 0
                continue
            mine = [loop for loop in one.plan.loops if uses(one.match, place.operand, loop)]
            block = one.match.intrinsic.parsed.operand(place.operand).elements
            if place.copy is None or place.copy.axes[0].name == (mine[0].name if mine else ""):
                assert place.elements == block * math.prod(loop.blocks * loop.unroll for loop in mine)
            starts = [sum(place.block_strides[loop.name] * (t // loop.unroll)
                          + place.unrolled_strides.get(loop.name, 0) * (t % loop.unroll)
                          for loop, t in zip(mine, point, strict=True))
                      for point in itertools.product(*(range(loop.blocks * loop.unroll) for loop in mine))]
            assert max(starts) + 1 <= place.elements
            compared += 1
    assert compared > 20


def test_cut_domains_and_partial_sums_are_always_copied(plans: list[Packed]) -> None:
    for one in plans:
        if one.name.startswith("triangle"):
            cut = {place.operand: place.packed and place.copy is None for place in one.plan.places}
            assert {o: whole is not one.match.holds_box(o) for o, whole in cut.items()} == dict.fromkeys(cut, True)
            arrays = [one.match.fragment.statement.access(r).array for o in cut if cut[o] for r in loaded(one.match, o)]
            assert arrays == ["A"]


def test_whole_blocks_hold_iterations_of_the_program_only(plans: list[Packed]) -> None:
    for one in plans:
        for operand in (v.name for v in one.match.intrinsic.parsed.operands):
            mine = [loop for loop in one.plan.loops if uses(one.match, operand, loop)]
            groups = [g for g, part in enumerate(one.match.groups) if operand in part.indexes]
            padded = any(loop.blocks * loop.unroll > loop.count for loop in mine) or any(
                one.match.fused_extent(g) % one.match.extent(g) for g in groups)
            assert is_whole(one.match, operand, mine) is not padded


def test_the_emulator_reads_only_what_lies_naturally(plans: list[Packed]) -> None:
    for one in plans:
        made = make_plan(one.match, emulated=True, target=host())
        for place in made.places:
            again = place_of(one.match, place.operand, list(made.loops), emulated=True)
            assert again.packed is place.packed
            assert not place.ragged
            natural = one.match.intrinsic.row_bytes(place.operand)
            several = len(one.match.intrinsic.parsed.operand(place.operand).shape) > 1
            assert place.packed or not several or place.row_stride_bytes == natural


def test_numbers_of_digits_are_taken_apart_from_the_inside() -> None:
    assert digits([("a", 3), ("b", 4)], 7) == {"a": 1, "b": 3}
