"""Block programs as loops compute what their words say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polysched.scop.block_frontend.language as bl
from polysched.errors import UnsupportedScopError
from tests.scop.block_frontend.reading import run


def halo(x, out, B=4):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    left = bl.load(bl.block(x, (n,), (at - 1,), (B,)))
    right = bl.load(bl.block(x, (n,), (at + 1,), (B,)), other=5)
    bl.store(bl.block(out, (n,), (at,), (B,)), left + right)


def test_offsets_in_front_of_an_array_are_masked() -> None:
    x, out = np.arange(1.0, 8.0), np.zeros(7)
    run(halo, x, out)
    assert np.array_equal(out, np.array([0, *x[:-1]]) + np.array([*x[1:], 5]))


def shifted(out, B=4):
    n = out.shape[0]
    row = bl.program_id(0, 1)
    for k in range(0, n - 1, B):
        old = bl.load(bl.block(out, (n - 1,), (k + row,), (B,)))
        bl.store(bl.block(out, (n,), (k + 1,), (B,)), old)


def test_a_load_of_what_the_program_writes_is_done_in_its_place() -> None:
    out = np.arange(9.0)
    run(shifted, out)
    expected = np.arange(9.0)
    for k in range(0, 8, 4):
        expected[k + 1:k + 5] = expected[k:k + 4].copy()
    assert np.array_equal(out, expected)


def carried(x, out, B=4):
    n = x.shape[0]
    row = bl.program_id(0, 1)
    last = bl.zeros((B,))
    before = bl.zeros((B,))
    for k in range(0, n, B):
        kept = last * 1.0
        last = bl.load(bl.block(x, (n,), (k + row,), (B,)))
        before = kept + before
    bl.store(bl.block(out, (B,), (0,), (B,)), before)


def test_a_value_of_what_a_loop_changes_is_taken_before_the_change() -> None:
    x, out = np.arange(12.0), np.zeros(4)
    run(carried, x, out)
    assert np.array_equal(out, x[:4] + x[4:8])


def mirrored(A, out, B=3):
    p = bl.program_id(0, 1)
    tile = bl.load(bl.block(A, (B, B), (p, 0), (B, B)))
    tile = bl.trans(tile) - tile
    bl.store(bl.block(out, (B, B), (0, 0), (B, B)), tile)


def test_a_tile_may_become_a_function_of_its_transpose() -> None:
    A, out = np.arange(9.0).reshape(3, 3), np.zeros((3, 3))
    run(mirrored, A, out)
    assert np.array_equal(out, A.T - A)


def extremes(A, out, B=4):
    M, N = A.shape
    row = bl.program_id(0, M)
    x = bl.load(bl.block(A, (M, N), (row, 0), (None, B)))
    least = bl.min(bl.load(bl.block(A, (M, N), (row, 0), (None, B)), other=bl.inf), 0)
    bl.store(bl.block(out, (M, 2), (row, 0), (None, 1)), bl.max(x, 0))
    bl.store(bl.block(out, (M, 2), (row, 1), (None, 1)), least)


def test_masked_lanes_count_where_their_value_is_not_neutral() -> None:
    A, out = -np.arange(1.0, 7.0).reshape(2, 3), np.zeros((2, 2))
    run(extremes, A, out)
    assert np.array_equal(out, [[0, -3], [0, -6]])   # the fourth lane is 0


def conditions(x, out, limit, B=4):
    n = x.shape[0]
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    lane = at + bl.arange(0, B)
    v = bl.load(bl.block(x, (n,), (at,), (B,)), mask=lane >= 2)
    big = (v > limit) & ~(lane % 2 == 0) | (lane < 1)
    bl.store(bl.block(out, (n,), (at,), (B,)), bl.where(big, v, -1.0), mask=(lane < n - 1) & (v < 100))


def test_masks_and_conditions_on_data() -> None:
    x, out = np.arange(10.0) * 20, np.full(10, 7.0)
    run(conditions, x, out, 50)
    v = np.where(np.arange(10) >= 2, x, 0)
    big = (v > 50) & (np.arange(10) % 2 == 1) | (np.arange(10) < 1)
    expected = np.where((np.arange(10) < 9) & (v < 100), np.where(big, v, -1), 7)
    assert np.array_equal(out, expected)


def test_names_of_the_program_that_loops_have_too() -> None:
    def own(lane, program0, B=4):
        n = lane.shape[0]
        value = bl.program_id(0, bl.cdiv(n, B)) * B
        tile = bl.load(bl.block(lane, (n,), (value,), (B,)))
        bl.store(bl.block(program0, (n,), (value,), (B,)), tile * tile)
    x, out = np.arange(6.0), np.zeros(6)
    run(own, x, out)
    assert np.array_equal(out, x * x)


def late(x, out, B=4):
    n = x.shape[0]
    i = bl.program_id(0, bl.cdiv(n, B)) * B
    tile = bl.zeros((B,))
    tile += bl.load(bl.block(x, (n,), (i,), (B,)))
    j = bl.program_id(1, 2)
    bl.store(bl.block(out, (2, n), (j, i), (None, B)), tile)


def test_a_program_id_may_come_behind_a_tile() -> None:
    x, out = np.arange(6.0), np.zeros((2, 6))
    run(late, x, out)
    assert np.array_equal(out, [x, x])


def growing(x, y, out, B=4):
    n = x.shape[0]
    p = bl.program_id(0, 1)
    before = bl.zeros((B,))
    total = bl.zeros((B,))
    for k in range(0, n, B):
        kept = before * 1
        before = bl.load(bl.block(y, (n,), (k + p,), (B,)))
        total += kept + bl.load(bl.block(x, (n,), (k,), (B,)))
    bl.store(bl.block(out, (B,), (0,), (B,)), total)


def products(x, y, out, B=4):
    n = x.shape[0]
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    power = bl.exp(bl.load(bl.block(x, (n,), (at,), (B,))) * bl.load(bl.block(y, (n,), (at,), (B,))))
    bl.store(bl.block(out, (n,), (at,), (B,)), power * power)


def roots(x, y, out, B=4):
    n = x.shape[0]
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    root = bl.sqrt(bl.load(bl.block(x, (n,), (at,), (B,))))
    bl.store(bl.block(out, (n,), (at,), (B,)), root * root)


@pytest.mark.parametrize(("function", "expected"), [
    (growing, lambda x, y: x[:4] + y[:4] + x[4:]), (products, lambda x, y: np.exp(x * y) ** 2),
    (roots, lambda x, y: x)])
def test_what_is_kept_has_the_type_of_what_it_is_made_from(function: Any, expected: Any) -> None:
    x, y = np.arange(1, 9, dtype=np.int32), np.linspace(0.1, 0.9, 8)
    wanted = expected(x, y)
    out = np.zeros_like(wanted, dtype=float)
    run(function, x, y, out)
    assert np.allclose(out, wanted, rtol=1e-12)


def largest(A, out, B=4):
    M, N = A.shape
    row = bl.program_id(0, M)
    bl.store(bl.block(out, (M,), (row,), (None,)), bl.max(bl.load(bl.block(A, (M, N), (row, 0), (None, B))), 0))


def test_the_largest_of_integers_is_one() -> None:
    A = np.array([[-2**62, -2**62 - 1, -2**62 + 1, -2**62 - 2]])
    out = np.zeros(1, np.int64)
    run(largest, A, out)
    assert np.array_equal(out, A.max(1))


def asked(x, out, B=4):
    n = x.shape[0]
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    v = bl.load(bl.block(x, (n,), (at,), (B,)))
    total = v * 2
    total = total + 1
    big = total > 5
    total = total - 1
    bl.store(bl.block(out, (n,), (at,), (B,)), bl.where(big, total, 0))


def test_a_condition_on_what_changes_is_taken_before_the_change() -> None:
    x, out = np.arange(7.0), np.zeros(7)
    run(asked, x, out)
    assert np.array_equal(out, np.where(x * 2 + 1 > 5, x * 2, 0))


def negative_condition(x, B=4):
    n = x.shape[0]
    at = bl.block(x, (n,), (bl.program_id(0, n),), (1,))
    bl.store(at, bl.where(-(bl.load(at) > 0), 1, 0))


def two_conditions(x, B=4):
    n = x.shape[0]
    at = bl.block(x, (n,), (bl.program_id(0, n),), (1,))
    big = bl.load(at) > 0
    big = bl.load(at) > 1
    bl.store(at, bl.where(big, 1, 0))


def powers(A, out, B=3):
    p = bl.program_id(0, 1)
    a = bl.load(bl.block(A, (B, B), (p, 0), (B, B)))
    total = a * 1
    total += bl.dot(total, a)
    total += bl.dot(a, bl.trans(total))
    bl.store(bl.block(out, (B, B), (0, 0), (B, B)), total)


def test_a_product_of_a_tile_may_be_added_to_it() -> None:
    A, out = np.arange(9.0).reshape(3, 3), np.zeros((3, 3))
    run(powers, A, out)
    total = A + A @ A
    assert np.array_equal(out, total + A @ total.T)


def ends(x, out, B=4):
    n = x.shape[0]
    p = bl.program_id(0, 1)
    for k in range(0, n, B):
        v = bl.load(bl.block(x, (n,), (k,), (B,)))
    bl.store(bl.block(out, (n,), (p,), (B,)), v)


def moving(x, out, B=4):
    n = x.shape[0]
    p = bl.program_id(0, 1)
    at = 0
    for _k in range(0, n, B):
        v = bl.load(bl.block(x, (n,), (at,), (B,)))
        bl.store(bl.block(out, (n,), (at + p,), (B,)), v)
        at = at + B


def no_program(x, B=4):
    bl.store(bl.block(x, (B,), (0,), (B,)), bl.zeros((B,)))


def branch(x, B=4):
    n = x.shape[0]
    p = bl.program_id(0, n)
    if p > 2:
        bl.store(bl.block(x, (n,), (p,), (1,)), bl.zeros((1,)))


def wrong_shape(x, B=4):
    n = x.shape[0]
    p = bl.program_id(0, n)
    bl.store(bl.block(x, (n,), (p,), (B,)), bl.zeros((B + 1,)))


def two_blocks(x, B=4):
    n = x.shape[0]
    p = bl.program_id(0, n)
    at = bl.block(x, (n,), (p,), (B,))
    at = bl.block(x, (n,), (p + 1,), (B,))
    bl.store(at, bl.zeros((B,)))


@pytest.mark.parametrize(("function", "words"), [
    (ends, "nothing is known of v here"), (moving, "this is no function of sizes, program ids and loops"),
    (no_program, "asks for its program ids"), (branch, "no such statement"), (wrong_shape, "do not fit"),
    (two_blocks, "at names several blocks"), (negative_condition, "a condition is no number"),
    (two_conditions, "big is a condition, and is assigned several times")])
def test_what_is_refused(function: Any, words: str) -> None:
    with pytest.raises(UnsupportedScopError, match=words):
        run(function)
