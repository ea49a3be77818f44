"""Functions of tensor IR compute what TVM computes; what is no affine region is refused in words."""

from typing import Any

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError, UsageError
from polysched.scop.body import Assign
from polysched.scop.interpreter import execute
from polysched.scop.tir_frontend import from_tir
from tests.scop.tir_frontend.standins import binary, buffer, call, function, load, loop, node, number, store, var


def row_sums() -> Any:
    """`B[i] = sum of A[i, k]`, as a block with `init`."""
    n, i, k, v_i, v_k = (var(name) for name in ("n", "i", "k", "v_i", "v_k"))
    a, b = buffer("A", [n, number(8)]), buffer("B", [n])
    body = store(b, binary("Add", load(b, v_i), load(a, v_i, v_k)), v_i)
    span = node("Range", min=number(0), extent=n)
    block = node("SBlock", iter_vars=[node("IterVar", var=v_i, dom=span, iter_type=0),
                                      node("IterVar", var=v_k, dom=span, iter_type=2)], name_hint="B",
                 match_buffers=[], alloc_buffers=[], init=store(b, number(0.0, "float64"), v_i), body=body)
    realized = node("SBlockRealize", block=block, iter_values=[i, k], predicate=number(1, "bool"))
    return function([a, b], loop(i, n, loop(k, number(8), realized)))


def test_a_block_with_init() -> None:
    scop = from_tir(row_sums())
    a, b = np.arange(24.0).reshape(3, 8), np.full(3, 9.0)
    execute(scop, {"n": 3}, {"A": a, "B": b})
    assert np.array_equal(b, a.sum(axis=1))
    (item,) = scop.statements[1].body
    assert isinstance(item, Assign)
    assert item.op == "+"


def test_conditions_and_scalars() -> None:
    i, s, x = var("i"), var("s", "float64"), buffer("x", [number(9)])
    odd = binary("EQ", binary("FloorMod", i, number(2)), number(1))
    body = node("IfThenElse", condition=odd, then_case=store(x, s, i), else_case=store(x, call("sqrt", load(x, i)), i))
    values = np.arange(9.0) ** 2
    execute(from_tir(function([s, x], loop(i, number(9), body)), name="own"), {}, {"s": 5.0, "x": values})
    assert values.tolist() == [0, 5, 2, 5, 4, 5, 6, 5, 8]


def test_what_a_condition_excludes_is_not_read() -> None:
    i, x, y = var("i"), buffer("x", [number(8)]), buffer("y", [number(9)])
    inside = binary("GE", i, number(1))
    value = call("if_then_else", inside, load(x, binary("Sub", i, number(1))), number(-1.0, "float64"))
    values = np.zeros(9)
    execute(from_tir(function([x, y], loop(i, number(9), store(y, value, i)))), {}, {"x": np.arange(8.0), "y": values})
    assert values.tolist() == [-1, 0, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("name", ["FloorMod", "Mod"])
def test_subscripts_that_go_round_a_ring_of_any_size(name: str) -> None:
    n, i = var("n"), var("i")
    x, y = buffer("x", [n]), buffer("y", [n])
    scop = from_tir(function([x, y], loop(i, n, store(y, load(x, binary(name, binary("Add", i, number(1)), n)), i))))
    (read,) = scop.statements[0].reads
    assert read.exact
    values = np.zeros(5)
    execute(scop, {"n": 5}, {"x": np.arange(5.0), "y": values})
    assert values.tolist() == [1, 2, 3, 4, 0]


@pytest.mark.parametrize(("name", "expected"), [("Div", [0, 0, -1, -1, -2, -2]), ("Mod", [0, 1, 0, 1, 0, 1])])
@pytest.mark.parametrize("from_data", [False, True])
def test_indices_are_divided_by_negative_numbers_towards_zero(name: str, expected: list[int], from_data: bool) -> None:
    i, x, y = var("i"), buffer("x", [number(6)], "int32"), buffer("y", [number(6)], "int32")
    divisor = load(x, i) if from_data else number(-2)
    scop = from_tir(function([x, y], loop(i, number(6), store(y, binary(name, i, divisor), i))))
    values = np.zeros(6, np.int32)
    execute(scop, {}, {"x": np.full(6, -2, np.int32), "y": values})
    assert values.tolist() == expected


def test_values_that_are_named_are_computed_there() -> None:
    """The place of the largest element: both names stand for what was before either is stored."""
    i, best, at, x = var("i"), buffer("best", [number(1)]), buffer("at", [number(1)], "int32"), buffer("x", [number(6)])
    zero, larger, place = number(0), var("larger", "float64"), var("place", "int32")
    better = binary("GT", load(x, i), load(best, zero))
    body = node("SeqStmt", seq=[
        node("Bind", var=place, value=node("Select", condition=better, true_value=i, false_value=load(at, zero))),
        node("Bind", var=larger, value=node("Select", condition=better, true_value=load(x, i),
                                            false_value=load(best, zero))),
        store(best, larger, zero), store(at, place, zero)])
    arrays = {"x": np.array([3.0, 1, 7, 2, 7, 5]), "best": np.zeros(1), "at": np.zeros(1, np.int32)}
    execute(from_tir(function([best, at, x], loop(i, number(6), body))), {}, arrays)
    assert (arrays["best"].tolist(), arrays["at"].tolist()) == ([7], [2])


@pytest.mark.parametrize(("made", "message"), [
    (lambda i, x: loop(i, number(9), store(x, number(1.0, "float64"), i), kind=4), "a loop bound to threads"),
    (lambda i, x: loop(i, number(9), node("While")), "a statement While"),
    (lambda i, x: loop(i, number(9), store(x, number(1.0, "float64"), binary("Add", i, number(1)))), "outside its ext"),
    (lambda i, x: loop(i, binary("Mul", i, i), store(x, number(1.0, "float64"), i)), "bound nowhere here"),
    (lambda i, x: loop(i, number(9), store(x, number(1.0, "float32"), i)), "of another type is stored"),
    (lambda i, x: loop(i, number(9), node("IfThenElse", condition=binary("LT", load(x, i), load(x, i)), else_case=None,
                                          then_case=store(x, number(1.0, "float64"), i))), "a condition is no affine"),
    (lambda i, x: loop(i, number(9), node("SeqStmt", seq=[])), "stores nothing"),
])
def test_refusals(made: Any, message: str) -> None:
    i, x = var("i"), buffer("x", [number(9)])
    with pytest.raises(UnsupportedScopError, match=message):
        from_tir(function([x], made(i, x)))


def test_other_objects_are_refused() -> None:
    with pytest.raises(UsageError, match=r"no function of TVM's tensor IR\n  witness: int"):
        from_tir(3)


def test_a_tensor_expression_of_tvm() -> None:
    tvm = pytest.importorskip("tvm", reason="apache-tvm is not installed")
    te, tirx = pytest.importorskip("tvm.te"), pytest.importorskip("tvm.tirx", reason="TVM is older than 0.27")
    n, k = te.var("n"), te.reduce_axis((0, 8), "k")
    a = te.placeholder((n, 8), name="A", dtype="float64")
    b = te.compute((n, 8), lambda i, j: tirx.exp(a[i, j]), name="B")
    c = te.compute((n, 8), lambda i, j: te.sum(tirx.if_then_else(i > j, b[i, k], a[i, (j + k) % 8]), axis=k), name="C")
    made = te.create_prim_func([a, c])
    given = np.random.default_rng(1).integers(-2, 3, (5, 8)).astype(float)
    ours, theirs = np.zeros((5, 8)), tvm.runtime.tensor(np.zeros((5, 8)))
    execute(from_tir(made), {"n": 5}, {"A": given, "C": ours})
    tvm.compile(made.with_attr("global_symbol", "f"), target="llvm")["f"](tvm.runtime.tensor(given), theirs)
    assert np.allclose(ours, theirs.numpy(), rtol=1e-14)
