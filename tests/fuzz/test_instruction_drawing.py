"""Which instructions a contraction is tried with: those of its own types and kind where there are any."""

from __future__ import annotations

import pytest

from polysched.fuzz.contractions import contraction
from polysched.fuzz.drawing import BY_NAME
from polysched.fuzz.instruction_drawing import DTYPES, NAMED, contraction_configurations, suitable
from polysched.fuzz.program import Clamp, Program, Reference, Statement, Term
from polysched.tensorize.registry import INTRINSICS
from tests.fuzz.loops import I_, loop


def program(total: str, left: str, right: str, *, clamp: bool = False, distance: bool = False) -> Program:
    """`P[i] += Q[i] * R[i]` of three C types."""
    term = Term("1", Reference("Q", (I_,)), times=Reference("R", (I_,)), distance=distance)
    update = Statement(Reference("P", (I_,)), "+=", (term,), clamp=Clamp(-128, 127, "long") if clamp else None)
    return Program("f", ("n",), {"P": total, "Q": left, "R": right}, (loop("i", update),))


@pytest.mark.parametrize(("types", "name"), [
    (("int", "unsigned char", "signed char"), "vpdpbusd"), (("int", "signed char", "unsigned char"), "vpdpbusd"),
    (("int", "short", "short"), "vpdpwssd")])
def test_the_instruction_of_these_types_is_suitable(types: tuple[str, str, str], name: str) -> None:
    found = suitable(program(*types))
    assert any(f.startswith(name) for f in found)
    for f in found:
        own = INTRINSICS[f].contraction
        assert own.output_dtype.name == DTYPES[types[0]]
        assert sorted(d.name for d in own.input_dtypes) == sorted(DTYPES[t] for t in types[1:])


def test_saturation_and_distances_have_instructions_of_their_own() -> None:
    plain, clamped, distant = (set(suitable(program("int", "unsigned char", "unsigned char", **kind)))
                               for kind in ({}, {"clamp": True}, {"distance": True}))
    assert not plain & distant
    assert clamped


def test_the_order_of_the_factors_has_no_part_in_it() -> None:
    for left in DTYPES:
        for right in DTYPES:
            assert suitable(program("int", left, right)) == suitable(program("int", right, left))


def test_there_is_always_an_instruction_and_it_is_one_by_name() -> None:
    for total in DTYPES:
        for factor in DTYPES:
            found = suitable(program(total, factor, factor))
            assert found
            assert set(found) <= set(BY_NAME)


def test_unsigned_sums_are_kept_in_signed_bits() -> None:
    kinds = ("unsigned char", "signed char")
    assert suitable(program("unsigned", *kinds)) == suitable(program("int", *kinds))


def test_a_contraction_gets_suitable_instructions_and_one_more() -> None:
    for seed in range(40):
        names = [c.intrinsic for c in contraction_configurations(seed)]
        found = suitable(contraction(seed))
        assert len(set(names)) == len(names)
        assert min(NAMED, len(found)) <= len(names) <= NAMED + 1
        assert all(n in found for n in names[:min(NAMED, len(found))])
        assert names[-1] in ("auto", *BY_NAME)
        assert contraction_configurations(seed) == contraction_configurations(seed)
