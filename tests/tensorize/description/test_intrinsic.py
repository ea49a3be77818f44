"""An instruction is refused where its operands contradict its text; what follows from the text is derived."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode, Operand, Scratchpad
from tests.tensorize.described import LANES, unit

HEAD = "int32_t Y[4], int32_t Z[4], const int16_t X[4][2]"
BOTH = unit("both", HEAD, "for (int i = 0; i < 4; i++) { Y[i] += X[i][0]; Z[i] += Y[i] * X[i][1]; }")


def operand(name: str, **given: object) -> Operand:
    return replace(Operand(name=name, register=LANES), **given)


@pytest.mark.parametrize(("operands", "why"), [
    (("Y", "X", "Z"), r"operands \['Y', 'X', 'Z'\] do not name the parameters \['Y', 'Z', 'X'\]"),
    (("Y", "Z"), "do not name the parameters"), (("Y", "Z", "X", "W"), "do not name the parameters")])
def test_operands_are_the_parameters_of_the_text_in_their_order(operands: tuple[str, ...], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        replace(BOTH, operands=tuple(map(operand, operands)))


def test_only_functions_take_numbers_by_value() -> None:
    by_value = (operand("Y"), operand("Z"), operand("X", mode=LoadMode.VALUE))
    with pytest.raises(ValueError, match="operand X is handed over by value, which only functions do"):
        replace(BOTH, operands=by_value)
    assert replace(BOTH, operands=by_value, library=True).operand("X").mode is LoadMode.VALUE


def in_pads(capacity: int, *, names: tuple[str, ...] = ("pad",), pad: str = "") -> Intrinsic:
    operands = tuple(operand(n, mode=LoadMode.SCRATCHPAD, scratchpad=pad) for n in "YZX")
    return replace(BOTH, operands=operands,
                   scratchpads=tuple(Scratchpad(name=n, capacity_bytes=capacity) for n in names))


def test_scratchpads_hold_so_many_tiles() -> None:
    """Y and Z are 16 bytes each, X is 16."""
    made = in_pads(100)
    assert made.holds({"Y": 1, "Z": 1, "X": 4})
    assert not made.holds({"Y": 1, "Z": 1, "X": 5})
    assert in_pads(48).holds({"Y": 1, "Z": 1, "X": 1})
    with pytest.raises(ValueError, match="the operands of one execution exceed the capacity of a scratchpad"):
        in_pads(47)
    assert BOTH.holds({"Y": 10**9, "Z": 1, "X": 1}), "without scratchpads nothing is bounded"


def test_an_operand_names_one_of_several_scratchpads() -> None:
    with pytest.raises(ValueError, match=r"operand Y lies in a scratchpad, but does not name one of \['a', 'b'\]"):
        in_pads(100, names=("a", "b"))
    made = in_pads(100, names=("a", "b"), pad="b")
    assert made.pad(made.operand("X")) == "b"
    assert in_pads(100).pad(operand("X")) == "pad"


def test_results_one_by_one_read_what_the_others_write() -> None:
    first, second = BOTH.one_by_one
    assert [v.name for v in BOTH.outputs] == ["Y", "Z"]
    assert BOTH.output.name == first.output.name == "Y"
    assert second.output.name == "Z"
    assert {e.array for e in first.contraction.inputs} == {"X"}
    assert {e.array for e in second.contraction.inputs} == {"X", "Y"}, "the sum of Y is computed of the values before"
    assert first.one_by_one == (first,)
    assert [v.name for v in BOTH.inputs] == ["X"]


def test_rows_of_an_operand() -> None:
    assert BOTH.row_bytes("X") == 2 * 2
    assert BOTH.row_bytes("Y") == 4
    with pytest.raises(KeyError):
        BOTH.operand("W")
