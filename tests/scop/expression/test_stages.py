"""`compute` and `build`: reductions of every kind, padding, several stages, and what they refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError, UsageError
from polysched.scop.expression import (
    absolute,
    argmax,
    argmin,
    axis,
    build,
    compute,
    equal,
    exp,
    max,
    maximum,
    min,
    minimum,
    not_equal,
    placeholder,
    prod,
    scalar,
    sqrt,
    sum,
    symbols,
    where,
)
from polysched.scop.scop import AccessKind, Storage
from tests.scop.expression.running import random, run, run_scop

RNG = np.random.default_rng(8)
M, N, K = symbols("M, N K")
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("dtype", [*INTEGERS, "float16", "float32", "float64"])
@pytest.mark.parametrize(("kind", "reference"), [
    (max, np.max), (min, np.min), (argmax, np.argmax), (argmin, np.argmin)])
def test_extrema(dtype: str, kind, reference) -> None:
    x = random(RNG, (4, 7), dtype)
    k = axis("k")
    source = placeholder("X", (M, N), dtype)
    result = run(compute((M,), lambda i: kind(source[i, k], over=k), name="Y"), {"X": x}, {"M": 4, "N": 7})
    expected = reference(x, axis=1)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32"])
def test_sum_and_product(dtype: str) -> None:
    x = random(RNG, (3, 5), dtype)
    k, source = axis("k"), placeholder("X", (3, 5), dtype)
    total = run(compute((3,), lambda i: sum(source[i, k], over=k), name="Y"), {"X": x})
    product = run(compute((3,), lambda i: prod(source[i, k], over=k), name="Y"), {"X": x})
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(total, x.sum(axis=1).astype(dtype), rtol=1e-5)
        np.testing.assert_allclose(product, x.prod(axis=1).astype(dtype), rtol=1e-5)


def test_reductions_over_several_axes() -> None:
    x = RNG.random((4, 5))
    i, j = axis("i"), axis("j")
    source = placeholder("X", (M, N), "float64")
    sizes = {"M": 4, "N": 5}
    total = run(compute((), lambda: sum(source[i, j], over=(i, j)), name="Y"), {"X": x}, sizes)
    np.testing.assert_allclose(total, x.sum())
    place = run(compute((), lambda: argmax(source[i, j], over=(i, j)), name="Y"), {"X": x}, sizes)
    assert place == x.argmax()


def test_a_reduction_inside_an_expression_becomes_a_stage() -> None:
    x = RNG.random((3, 4))
    k, source = axis("k"), placeholder("X", (M, N), "float64")
    y = compute((M, N), lambda i, j: source[i, j] / sqrt(sum(source[i, k] * source[i, k], over=k)), name="Y")
    scop = build(y)
    assert [a.name for a in scop.arrays if a.storage is Storage.LOCAL] == ["Y_sum"]
    assert [len(a.extents) for a in scop.arrays if a.name == "Y_sum"] == [1]
    np.testing.assert_allclose(run(y, {"X": x}, {"M": 3, "N": 4}), x / np.sqrt((x * x).sum(1, keepdims=True)))


def test_a_reduction_inside_a_reduction() -> None:
    x = RNG.random((3, 4))
    k, m, source = axis("k"), axis("m"), placeholder("X", (M, N), "float64")
    y = compute((M,), lambda i: sum(exp(source[i, k] - max(source[i, m], over=m)), over=k), name="Y")
    np.testing.assert_allclose(run(y, {"X": x}, {"M": 3, "N": 4}), np.exp(x - x.max(1, keepdims=True)).sum(1))


def test_triangular_reduction() -> None:
    x = RNG.random((5, 5))
    source = placeholder("X", (N, N), "float64")

    def element(i):
        k = axis("k", i + 1)
        return sum(source[i, k], over=k)
    y = compute((N,), element, name="Y")
    assert str(build(y).statements[1].domain) == "[N] -> { S1[i, k] : i < N and 0 <= k <= i }"
    np.testing.assert_allclose(run(y, {"X": x}, {"N": 5}), np.tril(x).sum(1))


def test_padding_reads_only_inside() -> None:
    x = RNG.random(6)
    source = placeholder("X", (N,), "float64")
    y = compute((N + 2,), lambda i: where((i >= 1) & (i < N + 1), source[i - 1], -1), name="Y")
    (statement,) = build(y).statements
    (read,) = statement.reads
    assert str(read.relation) == "[N] -> { S0[i] -> X[x0 = -1 + i] : 0 < i <= N }"
    np.testing.assert_array_equal(run(y, {"X": x}, {"N": 6}), np.pad(x, 1, constant_values=-1))


def test_conditions_on_data_and_on_indices() -> None:
    x = RNG.random(9) - 0.5
    source = placeholder("X", (N,), "float64")
    y = compute((N,), lambda i: where(
        source[i] > 0, source[i], where(equal(i % 3, 1), absolute(source[i]), 0.0)), name="Y")
    i = np.arange(9)
    np.testing.assert_array_equal(run(y, {"X": x}, {"N": 9}), np.where(x > 0, x, np.where(i % 3 == 1, abs(x), 0)))
    z = compute((N,), lambda i: where(~(not_equal(i, 2) | (source[i] > 9)), 1, 2), name="Y")
    assert run(z, {"X": x}, {"N": 9}).tolist() == [2, 2, 1, 2, 2, 2, 2, 2, 2]


def test_indices_are_values_and_may_be_quasi_affine() -> None:
    x = RNG.random(8)
    source = placeholder("X", (8,), "float64")
    y = compute((8,), lambda i: source[minimum(i // 2 + i % 2, 7)] + i * 0.5 - maximum(i - 3, 0), name="Y")
    i = np.arange(8)
    np.testing.assert_allclose(run(y, {"X": x}), x[i // 2 + i % 2] + i * 0.5 - np.maximum(i - 3, 0))


def test_several_outputs_scalars_and_the_order_of_arguments() -> None:
    x, s = placeholder("X", (N,), "float32"), scalar("s", "float32")
    y = compute((N,), lambda i: x[i] * s, name="Y")
    z = compute((N,), lambda i: y[i] + 1, name="Z")
    scop = build([y, z], name="both", arguments=[z, y, x, s.tensor])
    assert scop.name == "both"
    assert [a.name for a in scop.arrays] == ["Z", "Y", "X", "s"]
    values = RNG.random(4).astype("float32")
    arrays = run_scop(scop, {"X": values, "s": 2.0}, {"N": 4})
    np.testing.assert_allclose(arrays["Z"], values * 2 + 1)


def test_dtype_of_a_stage() -> None:
    x, k = placeholder("X", (4, 3), "int8"), axis("k")
    assert compute((4,), lambda i: sum(x[i, k], over=k), dtype="int32").dtype.name == "int32"
    assert compute((4,), lambda i: sum(x[i, k], over=k)).dtype.name == "int8"
    assert compute((4, 3), lambda i, j: x[i, j] * 0.5).dtype.name == "float64"
    assert compute((4, 3), lambda i, j: x[i, j] > 0).dtype.name == "bool"
    assert compute((4, 3), lambda i, j: x[i, j].astype("bfloat16") * 2).dtype.name == "bfloat16"
    data = RNG.integers(-100, 100, (4, 3)).astype("int8")
    wide = compute((4,), lambda i: sum(x[i, k], over=k), dtype="int32", name="Y")
    assert run(wide, {"X": data}).tolist() == data.sum(1).tolist()


def test_bfloat16_arithmetic_rounds_after_every_operation() -> None:
    x = placeholder("X", (3,), "bfloat16")
    y = compute((3,), lambda i: x[i] + x[i] / 128, name="Y")
    values = np.array([1.0, 2.0, 3.0], "float32")
    result = run(y, {"X": (values.view("uint32") >> 16).astype("uint16")})
    np.testing.assert_array_equal((result.astype("uint32") << 16).view("float32"), [1.0078125, 2.015625, 3.03125])


def test_update_of_a_sum_is_a_compound_assignment_and_argmax_one_statement() -> None:
    x, k = placeholder("X", (M, N)), axis("k")
    update = build(compute((M,), lambda i: sum(x[i, k], over=k), name="Y")).statements[1]
    assert update.body[0].op == "+"
    both = build(compute((M,), lambda i: argmax(x[i, k], over=k), name="Y")).statements[1]
    assert [a.array for a in both.accesses if a.kind is AccessKind.MUST_WRITE] == ["Y", "Y_best"]


def loose(i):
    return placeholder("X", (4,))[axis("k", 4)]


X, Y1 = placeholder("X", (M, N)), placeholder("Y", (K,))
U, V = axis("u"), axis("v")


@pytest.mark.parametrize(("call", "message"), [
    (lambda: compute((M,), lambda i: X[i]), "X has 2 dimensions and is subscripted with 1"),
    (lambda: compute((M,), lambda i, j: X[i, j]), "the stage has 1 dimensions and its function takes 2 indices"),
    (lambda: compute((M * N,), lambda i: X[i, 0]), "a shape is an affine expression of symbols and constants"),
    (lambda: compute((M,), loose), "the axis k is used in stage without being reduced over"),
    (lambda: compute((M,), lambda i: sum(X[i, U + 1], over=U)), "the extent of the axis u is unknown"),
    (lambda: compute((M,), lambda i: sum(X[i, U] * Y1[U], over=U)),
     "the axis u subscripts dimensions of different extents"),
    (lambda: compute((M,), lambda i: X[i, 0] if i > 0 else 0), "an expression has no truth value"),
    (lambda: compute((M,), lambda i: X), "Tensor is no scalar expression"),
    (lambda: placeholder("X", (M,), "float31"), "no element type is called float31"),
    (lambda: build(X), "X is an input, not the result of a stage"),
    (lambda: build(compute((M,), lambda i: X[i, 0]), arguments=[]), "the arguments leave out X, stage"),
    (lambda: compute((M,), lambda i: (X[i, 0] > 0) - (X[i, 0] > 1)), "NumPy has no subtraction of booleans"),
    (lambda: compute((M,), lambda i: X[i, 0] & 1), "`&` of floating-point values"),
])
def test_what_does_not_fit_is_refused(call, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


@pytest.mark.parametrize(("stage", "message"), [
    (compute((M,), lambda i: X[i * i, 0]), "stage stage: subscript 0 of X is not affine"),
    (compute((M,), lambda i: X[X[i, 0].astype("int64"), 0]), "stage stage: subscript 0 of X is not affine"),
    (compute((5,), lambda i: placeholder("P", (4,))[i], name="T"),
     "stage T: P is accessed outside its extents for all sizes"),
])
def test_what_is_no_static_control_part_is_refused(stage, message: str) -> None:
    with pytest.raises(UnsupportedScopError, match=message):
        build(stage)


def test_a_subscript_outside_shows_the_element() -> None:
    p = placeholder("P", (4,))
    with pytest.raises(UnsupportedScopError, match=r"witness: P\[4\]"):
        build(compute((5,), lambda i: p[i], name="T"))


def test_a_subscript_that_leaves_its_tensor_for_every_size_is_refused() -> None:
    (n,) = symbols("N")
    x = placeholder("x", (n,))
    with pytest.raises(UnsupportedScopError, match="no size is left for which anything is computed") as caught:
        build(compute((n,), lambda i: x[i + 1], name="z"))
    assert "every subscript of x" in (caught.value.witness or "")
