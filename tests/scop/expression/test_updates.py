"""Updates in place under loops: what they compute, and what they refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError, UsageError
from polysched.scop.expression import (
    argmax,
    axis,
    build,
    compute,
    loop,
    placeholder,
    sum,
    symbols,
    temporary,
    update,
    when,
)
from polysched.scop.scop import Storage
from tests.scop.expression.running import run_scop

RNG = np.random.default_rng(11)
M, N = symbols("M N")


def test_a_tensor_that_is_updated_is_an_argument_that_is_written() -> None:
    a, b, i = placeholder("A", (N,)), placeholder("B", (N,)), axis("i", N)
    scop = build(loop(i, update(a[i], b[i])))
    assert {array.name: array.constant for array in scop.arrays} == {"A": False, "B": True}
    assert scop.name == "A"


def test_updates_happen_in_the_order_given() -> None:
    a, i = placeholder("A", (N,), "float64"), axis("i", 1, N)
    start = RNG.random(6)
    found = run_scop(build(loop(i, update(a[i], a[i - 1], op="+"))), {"A": start.copy()}, {"N": 6})["A"]
    np.testing.assert_allclose(found, np.cumsum(start))


def test_a_loop_counts_down_in_steps() -> None:
    a, i = placeholder("A", (N,), "int32"), axis("i", N - 1, -1, -3)
    found = run_scop(build(loop(i, update(a[i], i))), {"A": np.full(8, -1, "int32")}, {"N": 8})["A"]
    np.testing.assert_array_equal(found, [-1, 1, -1, -1, 4, -1, -1, 7])


@pytest.mark.parametrize("bounds", [(1, N), (0, N, 2), (N - 1, -1, -1)])
def test_reductions_over_ranges(bounds) -> None:
    x = RNG.random((3, 7))
    source, k = placeholder("X", (M, N), "float64"), axis("k", *bounds)
    scop = build(compute((M,), lambda i: sum(source[i, k], over=k), name="Y"))
    picked = x[:, slice(*(b if isinstance(b, int) else None for b in bounds))] if bounds[-1] != -1 else x
    np.testing.assert_allclose(run_scop(scop, {"X": x}, {"M": 3, "N": 7})["Y"], picked.sum(axis=1))


def test_stages_and_updates_together() -> None:
    x = RNG.random((4, 5))
    source, j = placeholder("X", (M, N), "float64"), axis("j")
    rows = compute((M,), lambda i: sum(source[i, j], over=j), name="rows")
    i, k = axis("i", M), axis("k", N)
    scop = build([loop(i, k, update(source[i, k], rows[i], op="/")),
                  compute((M,), lambda i: sum(source[i, j], over=j), name="ones")])
    assert [a.storage for a in scop.arrays if a.name == "rows"] == [Storage.LOCAL]
    found = run_scop(scop, {"X": x.copy()}, {"M": 4, "N": 5})
    np.testing.assert_allclose(found["X"], x / x.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found["ones"], np.ones(4))


def test_a_stage_that_is_updated_and_listed_is_a_result() -> None:
    i = axis("i", 1, N)
    counted = compute((N,), lambda i: i * i, name="C", dtype="int64")
    scop = build([counted, loop(i, update(counted[i], counted[i - 1], op="+"))])
    np.testing.assert_array_equal(run_scop(scop, {}, {"N": 6})["C"], np.cumsum(np.arange(6) ** 2))


def test_conditions_and_local_variables() -> None:
    a, s, i = placeholder("A", (N,), "float64"), temporary("s", (), "float64")[()], axis("i", N)
    scop = build([update(s, 1.0), loop(i, when(i % 2 < 1, update(s, 2.0, op="*"), otherwise=[update(s, 1.0, op="+")]),
                                       update(a[i], s))])
    assert [array.storage for array in scop.arrays if array.name == "s"] == [Storage.LOCAL]
    np.testing.assert_array_equal(run_scop(scop, {"A": np.zeros(5)}, {"N": 5})["A"], [2, 3, 6, 7, 14])


def test_short_integers_wrap_as_in_numpy() -> None:
    a, i = placeholder("A", (N,), "uint8"), axis("i", N)
    x = np.array([0, 100, 200, 255], "uint8")
    found = run_scop(build(loop(i, update(a[i], 100, op="+"))), {"A": x.copy()}, {"N": 4})["A"]
    np.testing.assert_array_equal(found, x + np.uint8(100))


A, ROW, COLUMN = placeholder("A", (N,)), axis("i", N), axis("j", N)


@pytest.mark.parametrize(("describe", "message"), [
    (lambda: update(A, 1), "only an element of a tensor can be updated"),
    (lambda: update(A[ROW], 1, op="**"), "no update by the operator '**'"),
    (lambda: update(A[ROW], 1 + sum(A[COLUMN], over=COLUMN)), "has a reduction inside its value"),
    (lambda: update(A[ROW], sum(A[COLUMN], over=COLUMN), op="+"), "has a reduction inside its value"),
    (lambda: loop(update(A[ROW], 1)), "a loop has no axis"),
    (lambda: loop(ROW), "the loop over i has no step"),
    (lambda: loop(ROW, update(A[ROW], 1), COLUMN), "has a Axis among its steps"),
    (lambda: loop(axis("i"), update(A[0], 1)), "the axis i of a loop has no bounds"),
    (lambda: when(ROW > 1), "a condition has no step"),
    (lambda: axis("i", 0, N, 0), "the step of the axis i is 0"),
    (lambda: axis("i", 0, N, N), "not a constant but 0"),
    (lambda: axis("i", 0, 1, 2, 3), "the axis i has 4 bounds"),
    (lambda: build([]), "there is nothing to build"),
    (lambda: build(loop(ROW, update(A[COLUMN], 1))), "the axis j is used in A outside a loop over it"),
    (lambda: build([loop(ROW, update(A[ROW], 1)), update(A[ROW], 1)]), "the axis i is used in A outside a loop"),
    (lambda: build(loop(ROW, ROW, update(A[ROW], 1))), "stands inside another loop over the same axis"),
])
def test_what_is_no_program_is_refused(describe, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        describe()
    assert message in str(caught.value)


def test_what_is_not_affine_is_refused() -> None:
    b = placeholder("B", (N,), "int32")
    with pytest.raises(UnsupportedScopError, match="a condition on steps depends on data"):
        build(loop(ROW, when(A[ROW] > 0, update(A[ROW], 0))))
    with pytest.raises(UnsupportedScopError, match="subscript 0 of A is not affine"):
        build(loop(ROW, update(A[b[ROW]], 0)))
    k = axis("k", 1, N)
    with pytest.raises(UnsupportedScopError, match="argmax over an axis that does not count from 0"):
        build(compute((), lambda: argmax(A[k], over=k)))
    with pytest.raises(UnsupportedScopError, match="a reduction of float32 updates B of int32"):
        build(loop(ROW, update(b[ROW], sum(A[COLUMN], over=COLUMN))))


def test_an_update_outside_its_tensor_is_refused() -> None:
    with pytest.raises(UnsupportedScopError, match="no size is left for which anything is computed"):
        build(loop(ROW, update(A[ROW - N], 0)))
