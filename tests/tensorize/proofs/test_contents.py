"""What an operand holds in several places is taken apart as it was joined, and seen by every walk."""

from __future__ import annotations

from polysched.scop.body import Call, Literal, Load, walk
from polysched.scop.dtypes import INT16, INT32
from polysched.tensorize.proofs.contents import SEVERAL, by_operand, by_result, is_one, parts_of, places_of, together
from tests.tensorize.described import unit

A, B = Load("a", INT16), Load("b", INT16)
ONE = Literal("1", 1, INT16)
PAIRS = unit("pairs", "int32_t Y[8], int32_t Z[8], const int16_t X[16], const int16_t W[8]",
             "for (int i = 0; i < 8; i++) { Y[i] += X[2*i] * W[i]; Z[i] += X[2*i + 1] * W[i]; }").contraction


def test_one_expression_stays_and_several_are_joined_in_order() -> None:
    assert together([A]) is A
    both = together([A, B, A])
    assert parts_of(both) == (A, B, A)
    assert {x.reference for x in walk(both) if isinstance(x, Load)} == {"a", "b"}
    assert parts_of(A) == (A,)
    assert parts_of(Call("fmax", (A, B), INT16)) == (Call("fmax", (A, B), INT16),), "a call of the program is one"
    assert not SEVERAL.isupper()


def test_places_are_in_the_order_of_the_text() -> None:
    assert [str(e) for e in places_of(PAIRS, "X")] == ["X[2*i]", "X[2*i + 1]"]
    assert [str(e) for e in places_of(PAIRS, "Z")] == ["Z[i]"]
    assert [str(e) for e in places_of(PAIRS, "W")] == ["W[i]"]


def test_operands_and_results_hold_what_was_chosen_for_their_elements() -> None:
    held = by_operand(PAIRS, {"X[2*i + 1]": B, "X[2*i]": A, "W[i]": ONE})
    assert list(held) == ["X", "W"]
    assert parts_of(held["X"]) == (A, B)
    assert held["W"] is ONE
    results = by_result(PAIRS, {"Z[i]": Load("z", INT32), "Y[i]": Load("y", INT32)})
    assert results == {"Y": Load("y", INT32), "Z": Load("z", INT32)}


def test_constants_are_constant_in_every_place() -> None:
    assert is_one(ONE)
    assert is_one(together([ONE, ONE]))
    assert not is_one(together([ONE, A]))
    assert not is_one(A)
