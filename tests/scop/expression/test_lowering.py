"""Stages come in the order in which they are needed, and reductions over several axes count as NumPy counts."""

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError, UsageError
from polysched.scop.expression import (
    argmax,
    argmin,
    axis,
    build,
    compute,
    loop,
    max,
    placeholder,
    sum,
    symbols,
    temporary,
    update,
    when,
    where,
)
from polysched.scop.scop import Storage
from tests.scop.expression.running import run, run_scop

M, N = symbols("M N")
X = placeholder("X", (M, N), "float64")
DATA = np.random.default_rng(3).integers(-4, 5, (4, 5)).astype("float64")
SIZES = {"M": 4, "N": 5}


def test_a_stage_that_is_needed_comes_ahead_of_its_first_use() -> None:
    k = axis("k")
    rows = compute((M,), lambda i: sum(X[i, k], over=k), name="rows")
    scaled = compute((M, N), lambda i, j: X[i, j] * rows[i], name="scaled")
    both = compute((M,), lambda i: rows[i] + scaled[i, 0], name="both")
    scop = build([both, scaled])
    order = [a.array for s in scop.statements for a in s.writes]
    assert list(dict.fromkeys(order)) == ["rows", "scaled", "both"]
    storage = {a.name: a.storage for a in scop.arrays}
    assert (storage["rows"], storage["scaled"]) == (Storage.LOCAL, Storage.ARGUMENT)
    found = run_scop(scop, {"X": DATA}, SIZES)
    np.testing.assert_array_equal(found["both"], DATA.sum(1) * (1 + DATA[:, 0]))


def test_arguments_stand_in_the_order_asked_for() -> None:
    y = compute((M,), lambda i: X[i, 0] * 2, name="Y")
    assert [a.name for a in build(y, arguments=[y, X]).arrays] == ["Y", "X"]
    with pytest.raises(UsageError, match="leave out X"):
        build(y, arguments=[y])
    with pytest.raises(UsageError, match="X is an input"):
        build(X)
    with pytest.raises(UsageError, match="nothing to build"):
        build([])


@pytest.mark.parametrize(("kind", "reference"), [(argmax, np.argmax), (argmin, np.argmin)])
def test_positions_over_several_axes_are_those_of_the_flat_array(kind, reference) -> None:
    data = np.random.default_rng(4).integers(0, 3, (3, 4, 2)).astype("float32")
    source, j, k = placeholder("T", (3, 4, 2), "float32"), axis("j"), axis("k")
    found = run(compute((3,), lambda i: kind(source[i, j, k], over=(j, k)), name="Y"), {"T": data})
    np.testing.assert_array_equal(found, reference(data.reshape(3, 8), axis=1))


def test_an_inner_axis_may_end_where_an_outer_one_stands() -> None:
    j = axis("j", N)
    k = axis("k", 0, j + 1)
    found = run(compute((M,), lambda i: sum(X[i, k], over=(j, k)), name="Y"), {"X": DATA}, SIZES)
    np.testing.assert_array_equal(found, np.cumsum(DATA, axis=1).sum(1))


def test_conditions_and_their_opposites() -> None:
    a, i = placeholder("A", (N,), "int32"), axis("i", N)
    scop = build(loop(i, when(i < 2, update(a[i], i), otherwise=[update(a[i], a[i - 2] + 10)])))
    expected = [0, 1]
    for at in range(2, 7):
        expected.append(expected[at - 2] + 10)
    np.testing.assert_array_equal(run_scop(scop, {"A": np.zeros(7, "int32")}, {"N": 7})["A"], expected)


def test_a_read_behind_a_condition_may_lie_outside() -> None:
    shifted = compute((M, N), lambda i, j: where(j > 0, X[i, j - 1], 9.0), name="Y")
    expected = np.concatenate([np.full((4, 1), 9.0), DATA[:, :-1]], axis=1)
    np.testing.assert_array_equal(run(shifted, {"X": DATA}, SIZES), expected)
    with pytest.raises(UnsupportedScopError):
        build(compute((3,), lambda i: placeholder("Z", (3,))[i + 3], name="Y"))


def test_a_temporary_keeps_what_updates_put_there() -> None:
    t, i, j = temporary("t", (N,), "float64"), axis("i", M), axis("j", N)
    y = placeholder("Y", (M,), "float64")
    k = axis("k", N)
    scop = build(loop(i, loop(j, update(t[j], X[i, j] * X[i, j])), update(y[i], max(t[k], over=k))))
    assert {a.name: a.storage for a in scop.arrays}["t"] is Storage.LOCAL
    found = run_scop(scop, {"X": DATA, "Y": np.zeros(4)}, SIZES)["Y"]
    np.testing.assert_array_equal(found, (DATA ** 2).max(1))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
@pytest.mark.parametrize("op", ["+", "-", "*", None])
def test_updates_have_the_type_of_their_target(dtype: str, op: str | None) -> None:
    a, b, i = placeholder("A", (6,), dtype), placeholder("B", (6,), dtype), axis("i", 6)
    left, right = np.arange(250, 256).astype(dtype), np.arange(3, 9).astype(dtype)
    scop = build(loop(i, update(a[i], b[i], op=op) if op else update(a[i], b[i])))
    expected = {"+": np.add, "-": np.subtract, "*": np.multiply, None: lambda _, y: y}[op](left, right)
    np.testing.assert_array_equal(run_scop(scop, {"A": left.copy(), "B": right})["A"], expected)


def test_what_has_no_loop_or_is_not_affine_is_refused() -> None:
    a, i = placeholder("A", (N,), "int32"), axis("i", N)
    with pytest.raises(UsageError, match="outside a loop over it"):
        build(update(a[i], 1))
    with pytest.raises(UsageError, match="inside another loop over the same axis"):
        build(loop(i, loop(i, update(a[i], 1))))
    with pytest.raises(UnsupportedScopError, match="subscript 0 of A is not affine"):
        build(loop(i, update(a[i * i], 1)))
    with pytest.raises(UnsupportedScopError, match="is not affine"):
        build(loop(axis("j", N * N), update(a[0], 1)))
