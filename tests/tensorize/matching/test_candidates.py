"""What may be an operand: parts without the old value, and products that a longer product is grouped into."""

from __future__ import annotations

import itertools

import pytest

from polysched.scop.body import Binary, Cast, Expr, Literal, Load, Unary
from polysched.scop.dtypes import FLOAT32, FLOAT64, INT8, INT16, INT32, UINT32
from polysched.tensorize import find_intrinsic
from polysched.tensorize.matching.candidates import MAX_CANDIDATES, candidate_operands, pools
from polysched.tensorize.proofs.ideal import ideal_text
from tests.tensorize.described import unit

OLD, A, B, D = Load("c", INT32), Load("a", INT8), Load("b", INT8), Load("d", INT16)
PRODUCT = unit("product", "int32_t Y[4], const int8_t X[4], const int8_t W[4]",
               "for (int i = 0; i < 4; i++) Y[i] += X[i] * W[i];")


def wide(e: Expr) -> Expr:
    return Cast(e, INT32)


def times(left: Expr, right: Expr) -> Expr:
    return Binary("*", left, right, INT32)


def test_parts_without_the_old_value_small_ones_first() -> None:
    update = Binary("+", OLD, times(wide(A), Binary("+", wide(B), Literal("1", 1, INT32), INT32)), INT32)
    found = candidate_operands(update, "c")
    assert found[:2] in ([A, B], [B, A])
    assert Binary("+", wide(B), Literal("1", 1, INT32), INT32) in found
    assert OLD not in found
    assert update not in found
    assert Literal("1", 1, INT32) not in found
    sizes = [str(e).count("(") for e in found]
    assert len(sizes) == len({*found}), "each once"


def test_factors_of_a_longer_product_are_paired_in_every_way() -> None:
    factors = [wide(A), wide(B), wide(D)]
    update = Binary("+", OLD, times(times(factors[0], factors[1]), factors[2]), INT32)
    found = candidate_operands(update, "c")
    texts = {ideal_text(e, {}) for e in found}
    for pair in itertools.combinations(factors, 2):
        assert ideal_text(times(*pair), {}) in texts
    scaled = times(times(OLD, factors[0]), factors[1])
    assert times(factors[0], factors[1]) not in candidate_operands(scaled, "c"), "the old value is a factor"


def test_a_product_in_a_narrower_type_is_one_factor() -> None:
    narrow = Binary("*", Load("u", UINT32), Load("v", UINT32), UINT32)
    update = times(times(Cast(narrow, INT32), wide(A)), wide(B))
    texts = [e for e in candidate_operands(update, "c") if isinstance(e, Binary) and e.op == "*"]
    assert not any(Load("u", UINT32) in (e.left, e.right) and e.left != Load("u", UINT32) for e in texts)


def test_there_are_not_more_than_are_tried() -> None:
    total: Expr = OLD
    for at in range(2 * MAX_CANDIDATES):
        total = Binary("+", total, Load(f"x{at}", INT32), INT32)
    assert len(candidate_operands(total, "c")) == MAX_CANDIDATES


@pytest.mark.parametrize(("update", "scaled"), [
    (Binary("-", OLD, times(wide(A), wide(B)), INT32), [Unary("-", A, INT32), Unary("-", B, INT32)]),
    (Binary("+", OLD, times(Literal("3", 3, INT32), times(wide(A), wide(B))), INT32),
     [times(Literal("3", 3, INT32), A), times(Literal("3", 3, INT32), B)]),
    (Binary("+", OLD, times(wide(A), wide(B)), INT32), []),
    (Binary("-", Binary("+", OLD, wide(A), INT32), wide(B), INT32), [])])
def test_the_constant_factor_goes_into_an_operand(update: Expr, scaled: list[Expr]) -> None:
    first, second = pools(PRODUCT, update, "c", [A, B])
    assert first == [[A, B, *scaled]] * 2
    assert second == [[A, B, *scaled, Literal("1", 1, INT8)]] * 2, "a factor that is missing is one"


def test_floats_are_negated_and_not_scaled() -> None:
    x, y, old = Load("x", FLOAT32), Load("y", FLOAT32), Load("c", FLOAT32)
    product = Binary("*", x, y, FLOAT32)
    first, _ = pools(PRODUCT, Binary("-", old, product, FLOAT32), "c", [x])
    assert first[0] == [x, Unary("-", x, FLOAT32)]
    third = Binary("*", Literal("3.0f", 3.0, FLOAT32), product, FLOAT32)
    first, _ = pools(PRODUCT, Binary("+", old, third, FLOAT32), "c", [x])
    assert first[0] == [x], "three times a float is rounded"


def test_memory_of_a_function_holds_elements_and_numbers_hold_what_is_computed() -> None:
    dgemm = find_intrinsic("cblas_dgemm")
    x, y, old = Load("x", FLOAT64), Load("y", FLOAT64), Load("c", FLOAT64)
    half = Literal("0.5", 0.5, FLOAT64)
    update = Binary("+", old, Binary("*", half, Binary("*", x, y, FLOAT64), FLOAT64), FLOAT64)
    inputs = [str(e) for e in dgemm.contraction.inputs]
    number = next(at for at, n in enumerate(inputs) if n == "alpha")
    first = next(iter(pools(dgemm, update, "c", [x, y, Binary("*", x, y, FLOAT64)])))
    assert [e.value for e in first[number] if isinstance(e, Literal)] == [0.5, 1]
    assert all(isinstance(e, Load) for at, pool in enumerate(first) if at != number for e in pool)
