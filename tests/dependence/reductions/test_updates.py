"""How an assignment accumulates: its operator and operands, conversions, and elements that are the same."""

import pytest

from polysched.dependence.reductions.updates import (
    accumulation,
    canonical_references,
    loads,
    plain_value,
    renamed,
    survives_conversion,
    updates_in_place,
)
from polysched.scop import from_c_text
from polysched.scop.body import Assign, Cast
from polysched.scop.dtypes import BOOL, FLOAT64, INT8, INT32
from polysched.scop.scop import Statement


def statement(text: str) -> Statement:
    return from_c_text(f"""void f(int n, double s[1], double A[n], int k[1], char c[1], int K[n], int P[n]) {{
        #pragma scop
        for (int i = 0; i < n; i++)
            {text}
        #pragma endscop
        }}""").statements[0]


def update(of: Statement) -> Assign:
    assert isinstance(of.body[0], Assign)
    return of.body[0]


@pytest.mark.parametrize(("text", "operator", "others"), [
    ("s[0] = s[0] + A[i];", "sum", 1), ("s[0] = A[i] * s[0];", "product", 1), ("s[0] = s[0] - A[i];", "sum", 1),
    ("s[0] = s[0] + A[i] + 2 * A[i];", "sum", 2), ("s[0] = s[0] < A[i] ? A[i] : s[0];", "max", 1)])
def test_operator_and_operands(text: str, operator: str, others: int) -> None:
    found = statement(text)
    canonical = canonical_references(found)
    made = accumulation(renamed(update(found).value, canonical), canonical[update(found).target])
    assert made is not None
    assert (made[0], len(made[1])) == (operator, others)


def test_a_difference_from_the_other_side_does_not_accumulate() -> None:
    found = statement("s[0] = A[i] - s[0];")
    read = [r for r in loads(update(found).value) if found.access(r).array == "s"]
    assert accumulation(update(found).value, read[0]) is None


def test_references_of_one_element_have_one_name() -> None:
    found = statement("s[0] = s[0] + A[i];")
    names = canonical_references(found)
    of_s = {names[a.reference] for a in found.accesses if a.array == "s"}
    of_a = {names[a.reference] for a in found.accesses if a.array == "A"}
    assert len(of_s) == 1
    assert not of_s & of_a


def test_conversions_that_keep_every_value_are_looked_through() -> None:
    value = update(statement("k[0] = (int) c[0];")).value
    assert isinstance(value, Cast)
    assert plain_value(value) is value.operand
    assert isinstance(plain_value(update(statement("c[0] = (char) K[i];")).value), Cast), "an int does not fit a char"


def test_a_narrow_extremum_loses_what_a_narrow_sum_does_not() -> None:
    assert survives_conversion("sum", INT8, [INT32])
    assert not survives_conversion("max", INT8, [INT32])
    assert survives_conversion("max", INT32, [INT8])
    assert not survives_conversion("sum", BOOL, [BOOL])
    assert survives_conversion("or", BOOL, [INT32])
    assert survives_conversion("max", FLOAT64, [FLOAT64])


def test_an_element_by_data_is_updated_in_place_where_it_alone_is_read() -> None:
    alone, beside = statement("k[P[i] & 0] += K[i];"), statement("k[P[i] & 0] += k[0];")
    assert updates_in_place(alone, update(alone))
    assert not updates_in_place(beside, update(beside))
