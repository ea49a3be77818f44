"""Sums that are spelled in several ways become one, whose values stay."""

from __future__ import annotations

import pytest

from polysched.scop import from_c_text
from polysched.scop.body import Assign, Binary, Expr, Select, walk
from polysched.tensorize.equality import Verdict, same_function
from polysched.tensorize.software.fragment import one_name_per_element
from polysched.tensorize.software.spellings import one_spelling


def value(text: str, parameters: str = "int16_t C[4], int16_t A[4], uint16_t B[4]") -> Expr:
    """What a statement assigns, with one name per element."""
    (statement,) = from_c_text(
        f"#include <stdint.h>\nvoid f({parameters}) {{\n#pragma scop\nfor (int i = 0; i < 4; i++) C[i] = {text};\n"
        "#pragma endscop\n}\n").statements
    item = statement.body[0]
    assert isinstance(item, Assign)
    return one_name_per_element(item.value, statement, statement.access(item.target))


@pytest.mark.parametrize("text", [
    "(C[i] + A[i] * B[i] > 127) ? 127 : (C[i] + A[i] * (int)B[i])",
    "(C[i] + A[i] * B[i] > 127) ? 127 : (A[i] * B[i] + C[i] < -9) ? -9 : (C[i] + B[i] * A[i])",
    "(C[i] - 3 - A[i] > 5) ? 5 : (C[i] - A[i] - 3)"])
def test_a_sum_has_one_spelling(text: str) -> None:
    before = value(text)
    after = one_spelling(before)
    whole = [e for e in walk(after) if isinstance(e, Binary) and e.op in "+-" and len([*walk(e)]) > 4]
    assert len(set(whole)) < len({e for e in walk(before) if isinstance(e, Binary) and e.op in "+-"
                                  and len([*walk(e)]) > 4})
    assert same_function(before, after).verdict is Verdict.EQUAL
    chosen = next(e for e in walk(after) if isinstance(e, Select))
    assert isinstance(chosen.condition, Binary)


@pytest.mark.parametrize("text", [
    "C[i] + A[i] * B[i]",
    "(C[i] + A[i] > 127) ? 127 : (C[i] - A[i])",
    "(A[i] + B[i] > 127u) ? 127 : (A[i] + (int16_t)B[i])"])
def test_other_values_keep_their_words(text: str) -> None:
    assert one_spelling(value(text)) == value(text)


def test_floats_keep_their_order() -> None:
    parameters = "float C[4], float A[4], float B[4]"
    text = "(C[i] + A[i] + B[i] > 1.0f) ? 1.0f : (C[i] + B[i] + A[i])"
    assert one_spelling(value(text, parameters)) == value(text, parameters)
