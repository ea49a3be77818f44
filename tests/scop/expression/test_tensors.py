"""The language of tensor expressions: what Python's operators build, and what it refuses."""

import operator

import pytest

from polysched.errors import UsageError
from polysched.scop.expression.tensors import (
    Axis,
    Constant,
    Operation,
    Read,
    as_expression,
    axis,
    axis_names,
    placeholder,
    rebuilt,
    symbols,
    temporary,
    walk,
)

N, M = symbols("N, M")
A = placeholder("A", (N, M))


@pytest.mark.parametrize(("function", "op"), [
    (operator.add, "+"), (operator.sub, "-"), (operator.mul, "*"), (operator.truediv, "/"), (operator.floordiv, "//"),
    (operator.mod, "%")])
def test_numbers_may_stand_on_both_sides(function: object, op: str) -> None:
    right, left = function(N, 2), function(2, N)
    assert isinstance(right, Operation)
    assert isinstance(left, Operation)
    assert right.op == left.op == op
    assert (right.arguments[0], left.arguments[1]) == (N, N)
    assert isinstance(right.arguments[1], Constant)
    assert isinstance(left.arguments[0], Constant)


def test_a_condition_is_no_truth_value() -> None:
    with pytest.raises(UsageError, match="no truth value") as refusal:
        assert not (N < M and M < N)
    assert "where(condition, a, b)" in str(refusal.value)


def test_subscripts_are_as_many_as_dimensions() -> None:
    assert isinstance(A[0, M - 1], Read)
    with pytest.raises(UsageError, match="A has 2 dimensions and is subscripted with 1"):
        A[0]
    assert temporary("s")[()].indices == ()


def test_what_is_no_scalar() -> None:
    with pytest.raises(UsageError, match="Tensor is no scalar expression"):
        as_expression(A)
    with pytest.raises(UsageError, match="no element type is called float31"):
        placeholder("B", (N,), "float31")


def test_an_axis_has_the_bounds_of_range() -> None:
    assert axis("k").bounds() == ()
    assert axis("k", N).is_plain()
    down = axis("k", N, 0, -2)
    assert (down.start, down.step, down.is_plain()) == (N, -2, False)
    for bounds in ((0, N, 0), (0, N, M), (0, 1, 2, 3)):
        with pytest.raises(UsageError):
            axis("k", *bounds)


def test_names_of_indices() -> None:
    assert axis_names(lambda row, column: row, 2) == ("row", "column")
    assert axis_names(lambda first, *others: first, 3) == ("first", "i1", "i2")
    with pytest.raises(UsageError, match="3 dimensions and its function takes 1 indices"):
        axis_names(lambda i: i, 3)


def test_rebuilding_sees_operands_first_and_leaves_the_rest() -> None:
    k = axis("k")
    expression = (A[k, k + 1] + N).astype("float64")
    seen: list[str] = []

    def change(e: object) -> object:
        seen.append(type(e).__name__)
        return Axis("i") if e is k else e

    found = rebuilt(expression, change)
    assert seen[-1] == "Convert"
    assert [e.name for e in walk(found) if isinstance(e, Axis)] == ["i", "i"]
    assert [e.name for e in walk(expression) if isinstance(e, Axis)] == ["k", "k"], "the expression itself stays"
