"""A statement of several products becomes one statement for each, which together add the same."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.scop.body import Assign, Binary
from polysched.scop.scop import Scop
from polysched.tensorize.preparing.separating import separated
from polysched.tensorize.software.fragment import fragments
from tests.tensorize.preparing.kept import program, same_values

ARRAYS = "int32_t C[4], int8_t A[4][4], uint8_t U[4][4], int16_t B[4]"
LOOPS = "for (int i = 0; i < 4; i++) for (int k = 0; k < 4; k++) "
APART = {   # the operators of the parts, in order
    "two products": ("C[i] += A[i][k] * B[k] + U[i][k] * B[i];", "++"),
    "a difference": ("C[i] += A[i][k] * B[k] - U[i][k] * B[i];", "+-"),
    "subtracted together": ("C[i] -= A[i][k] * B[k] - U[i][k] * B[i];", "-+"),
    "the old value in the middle": ("C[i] = A[i][k] * B[k] + C[i] - U[i][k] * B[i];", "+-"),
    "something more": ("C[i] += A[i][k] * B[k] + U[i][k] * U[k][i] - 7;", "++-"),
    "brackets": ("C[i] = C[i] - (A[i][k] * B[k] - (U[i][k] * B[i] - B[k]));", "-+-"),
    "in a wider type": ("C[i] += (long)A[i][k] * B[k] + U[i][k] * B[i];", "++"),
    "ahead of another statement": ("C[i] += A[i][k] * B[k] + U[i][k] * B[i]; " + LOOPS + "B[i] += U[i][k];", "++")}
TOGETHER = {
    "one product": "C[i] += A[i][k] * B[k];", "one product and a number": "C[i] += A[i][k] * B[k] + 3;",
    "a product with a number": "C[i] += A[i][k] * B[k] + 3 * 5;",
    "no sum of its own": "C[i] = A[i][k] * B[k] + U[i][k] * B[i];",
    "the old value twice": "C[i] += C[i] * B[k] + U[i][k] * B[i];",
    "minus the old value": "C[i] = A[i][k] * B[k] + U[i][k] * B[i] - C[i];",
    "what other iterations write": "C[i] += A[i][k] * C[(i + 1) % 4] + U[i][k] * B[i];",
    "cut to a byte on the way": "C[i] += (int8_t)(A[i][k] * B[k] + U[i][k] * B[i]);"}


def parts(scop: Scop) -> tuple[Scop, tuple[str, ...]] | None:
    return separated(fragments(scop)[0], analyse(scop))


@pytest.mark.parametrize("name", APART)
def test_every_product_gets_a_statement(name: str) -> None:
    body, operators = APART[name]
    scop = program(ARRAYS, LOOPS + body)
    found = parts(scop)
    assert found is not None
    after, names = found
    items = [after.statement(n).body[0] for n in names]
    assert [i.op for i in items if isinstance(i, Assign)] == list(operators)
    assert len(after.statements) == len(scop.statements) + len(operators) - 1
    references = [a.reference for s in after.statements for a in s.accesses]
    assert len(set(references)) == len(references)
    same_values(scop, after)


@pytest.mark.parametrize("name", TOGETHER)
def test_what_is_no_sum_of_products_or_keeps_its_order_stays_one(name: str) -> None:
    assert parts(program(ARRAYS, LOOPS + TOGETHER[name])) is None


def test_a_narrow_sum_wraps_part_by_part() -> None:
    scop = program(ARRAYS.replace("int32_t C", "int8_t C"), LOOPS + APART["a difference"][0])
    found = parts(scop)
    assert found is not None
    same_values(scop, found[0], seeds=4)


def test_parts_carry_only_their_own_accesses() -> None:
    found = parts(program(ARRAYS, LOOPS + "C[i] += A[i][k] * B[k] + U[i][k] * U[k][i];"))
    assert found is not None
    first, second = (found[0].statement(n) for n in found[1])
    assert {a.array for a in first.accesses} == {"A", "B", "C"}
    assert {a.array for a in second.accesses} == {"U", "C"}
    assert isinstance(first.body[0], Assign)
    assert isinstance(first.body[0].value, Binary)
