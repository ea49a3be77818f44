"""Elements of tables as unknowns."""

import pytest

from polysched.scop.body import Binary, Call, Expr, Literal, Load
from polysched.scop.dtypes import INT32, UINT8
from polysched.tensorize.equality import Verdict, same_function

INDEX = Load("I", UINT8)


def number(value: int) -> Literal:
    return Literal(str(value), value, INT32)


def element(op: str, value: int, table: str = "T") -> Expr:
    return Call(f"{table}[]", (Binary(op, INDEX, number(value), INT32),), UINT8)


@pytest.mark.parametrize(("left", "right", "equal"), [
    (element("&", 15), element("%", 16), True), (element("&", 15), element("&", 7), False),
    (element("&", 15), element("&", 15, "S"), False), (element(">>", 4), element("/", 16), True),
    (element("&", 15), element(">>", 4), False)])
def test_reads_are_equal_where_their_subscripts_are(left: Expr, right: Expr, equal: bool) -> None:
    assert (same_function(left, right).verdict is Verdict.EQUAL) is equal
    total = Binary("+", left, number(1), INT32), Binary("+", number(1), right, INT32)
    assert (same_function(*total).verdict is Verdict.EQUAL) is equal
