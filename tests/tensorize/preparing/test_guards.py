"""Guards go only where nothing is seen of it: every rewrite computes the same on zeros, small numbers and ends."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.scop.body import Assign, Select, walk
from polysched.scop.scop import AccessKind, Scop
from polysched.tensorize.preparing.guards import with_decided_choices, with_domains_for_choices, without_idle_guards
from tests.tensorize.preparing.kept import program, rewritten

ARRAYS = "int32_t C[4], int8_t A[4][4], uint8_t U[4], int32_t B[4]"
CLEARED = "for (int i = 0; i < 4; i++) C[i] = 0; "
LOOPS = "for (int i = 0; i < 4; i++) for (int k = 0; k < 4; k++) "
IDLE = [
    "if (A[i][k] != 0) C[i] += A[i][k] * B[k];", "if (A[i][k]) C[i] += B[k] * A[i][k];",
    "if (!(A[i][k] == 0)) C[i] -= A[i][k];", "if (U[k] > 0) C[i] += U[k] * B[k];", "if (0 < U[k]) C[i] += U[k];",
    "if (A[i][k] != 0 && B[k] != 0) C[i] += A[i][k] * B[k];",
    "if (A[i][k] != 0 || B[k] != 0) C[i] += A[i][k] + B[k];", "C[i] += A[i][k] != 0 ? A[i][k] * B[k] : 0;",
    "C[i] += B[k] == 0 ? 0 : B[k];", "C[i] = U[k] != 0 ? C[i] + U[k] : C[i];",
    "C[i] += U[k] > 0u ? U[k] * B[k] : 0;"]
COUNTING = [
    "if (A[i][k] > 0) C[i] += A[i][k] * B[k];", "if (A[i][k] != 1) C[i] += A[i][k] * B[k];",
    "if (A[i][k] == 0) C[i] += A[i][k] + 1;", "if (A[i][k] != 0) C[i] += B[k];",
    "if (A[i][k] != 0 || B[k] != 0) C[i] += A[i][k] * B[k] + 1;", "if (A[i][k] != 0) C[i] = A[i][k];",
    "if (A[i][k] != 0 && B[k] != 0) C[i] += A[i][k];", "C[i] += A[i][k] != 0 ? A[i][k] * B[k] : 1;",
    "if (A[i][k] >= 0) C[i] += A[i][k];", "if (U[k] > 1) C[i] += U[k];", "if (B[k] > 0u) C[i] += B[k] < 0;",
    # what the guard keeps from being computed is undefined
    "C[i] = B[k] != 0 ? __builtin_clz(B[k]) : 32;", "C[i] += B[k] ? __builtin_ctz(B[k]) - 32 : 0;",
    "C[i] += U[k] != 0 ? (A[i][k] * U[k]) / U[k] : 0;"]


@pytest.mark.parametrize("body", IDLE)
def test_a_guard_whose_other_way_changes_nothing_goes(body: str) -> None:
    after = rewritten(program(ARRAYS, CLEARED + LOOPS + body), without_idle_guards)
    assert after is not None
    _, statement = after.statements
    assert isinstance(statement.body[0], Assign)
    assert not any(isinstance(e, Select) for e in walk(statement.body[0].value))
    assert all(a.kind is AccessKind.MUST_WRITE for a in statement.writes)


@pytest.mark.parametrize("body", COUNTING)
def test_a_guard_that_counts_stays(body: str) -> None:
    assert rewritten(program(ARRAYS, CLEARED + LOOPS + body), without_idle_guards) is None


def test_a_guard_of_sums_that_nothing_else_writes_stays() -> None:
    """Where no guard holds, the sum may be read-only, or another thread's."""
    for others in ("", "for (int i = 0; i < 4; i++) B[i] = C[i]; ", "for (int i = 0; i < 3; i++) C[i] = 0; "):
        assert rewritten(program(ARRAYS, others + LOOPS + IDLE[0]), without_idle_guards) is None


def test_a_guard_on_floats_stays() -> None:
    """Zero times infinity is no number, and the sum of zeros loses a sign."""
    scop = program("float C[4], float A[4][4], float B[4]", LOOPS + "if (A[i][k] != 0) C[i] += A[i][k] * B[k];")
    assert rewritten(scop, without_idle_guards) is None


def test_a_guard_that_keeps_reads_within_the_array_stays() -> None:
    body = "if (A[i][k] != 0) C[i] += A[i][k] * B[{}];"
    assert rewritten(program(ARRAYS, CLEARED + LOOPS + body.format("3 - k")), without_idle_guards) is not None
    outside = program("int32_t C[4], int8_t A[4][4], int32_t *B", CLEARED + LOOPS + body.format("k"))
    assert rewritten(outside, without_idle_guards) is None, "nobody says how long B is"


CUT = {
    "one side": ("C[i] += k <= i ? B[k] : 0;", "k <= i"),
    "the other side": ("C[i] += k <= i ? 0 : B[k];", "k > i"),
    "a value, not only a sum": ("C[i] = C[i] ^ (k == 2 ? 0 : B[k]);", "k != 2"),
    "both of a conjunction": ("C[i] += (k > 0 && i < 3 ? A[i][k] : 0) * B[k];", "k > 0 and i < 3"),
    "in a factor": ("C[i] -= B[k] * (k < 2 ? A[i][k] : 0) * U[k];", "k < 2")}
UNCUT = ["C[i] += k <= i ? B[k] : 1;", "C[i] += k <= i ? B[k] : A[i][k];", "C[i] = k <= i ? B[k] : 0;",
         "C[i] += B[k] != 0 ? A[i][k] : 0;", "C[i] += (k < 2 ? A[i][k] : 0) + B[k];"]


def only(scop: Scop | None) -> Scop:
    assert scop is not None
    return scop


@pytest.mark.parametrize("name", CUT)
def test_a_choice_by_position_becomes_the_domain(name: str) -> None:
    body, where = CUT[name]
    before = program(ARRAYS, LOOPS + body)
    after = only(rewritten(before, with_domains_for_choices))
    wanted = before.statements[0].domain.intersect(isl.Set(f"{{ S0[i, k] : {where} }}"))
    assert after.statements[0].domain.is_equal(wanted)


@pytest.mark.parametrize("body", UNCUT)
def test_a_choice_between_two_values_that_count_stays(body: str) -> None:
    assert rewritten(program(ARRAYS, LOOPS + body), with_domains_for_choices) is None


@pytest.mark.parametrize(("choice", "decided"), [
    ("1 ? B[k] : 0", True), ("0 ? B[k] : B[i]", True), ("(B[k] > 3 ? 0 : 1)", True), ("(B[k] > 3 ? 1 : 0)", False),
    ("(B[k] ? 0 : 1) * 5", True), ("B[k] > 3 ? B[k] : 0", False)])
def test_choices_that_are_decided_go(choice: str, decided: bool) -> None:
    assert (rewritten(program(ARRAYS, LOOPS + f"C[i] += {choice};"), with_decided_choices) is not None) is decided
