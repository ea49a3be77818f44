"""Values put in place of each other fall into cases that together are every instance, once."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.errors import BudgetExceededError
from polysched.scop.body import Binary, Cast, Expr, Literal, Load, walk
from polysched.scop.dtypes import FLOAT32, FLOAT64, INT8, INT32
from polysched.scop.interpreter import execute
from polysched.scop.points import points_of
from polysched.tensorize.functions.equation_values import EquationValues
from polysched.tensorize.functions.expansion import Kind, cases, normal
from polysched.tensorize.functions.recurrences import Recurrences, recurrences
from tests.tensorize.preparing.kept import program

ARRAYS = "int A[6], short B[6], int D[6]"
BODIES = {
    "one behind the other": "for (int i = 0; i < 6; i++) { int t = B[i] * 3; A[i] = t - i; }",
    "from two statements": "for (int i = 0; i < 3; i++) D[i] = B[i]; for (int i = 2; i < 6; i++) D[i] = -B[i]; "
                           "for (int i = 0; i < 6; i++) A[i] = D[i] + D[5 - i];",
    "partly from memory": "for (int i = 0; i < 6; i += 2) D[i] = B[i] + 1; "
                          "for (int i = 0; i < 6; i++) A[i] = D[i] * 2;",
    "a sum": "for (int i = 0; i < 6; i++) { A[i] = 0; for (int k = 0; k <= i; k++) A[i] += B[k] * k; }",
    "a sum of what was computed": "for (int i = 0; i < 6; i++) { D[i] = B[i] >> 1; A[0] += D[i]; }",
    "a chain": "for (int i = 1; i < 6; i++) A[i] = A[i - 1] > B[i] ? A[i - 1] : B[i];",
    "narrow": "for (int i = 0; i < 6; i++) { B[i] = B[i] * 100; A[i] = B[i] + A[5 - i]; }"}


def system(body: str) -> Recurrences:
    dependences = analyse(program(ARRAYS, body))
    return recurrences(dependences, [s.name for s in dependences.scop.statements])


@pytest.mark.parametrize("name", BODIES)
def test_equations_have_the_values_of_the_program(name: str) -> None:
    """Beside the interpreter, which knows memory and order only."""
    found = system(BODIES[name])
    for seed in range(3):
        chooser = np.random.default_rng(seed)
        arrays = {n: chooser.integers(-99, 99, 6).astype(np.int32) for n in "AD"} | {
                  "B": chooser.integers(-(1 << 15), 1 << 15, 6).astype(np.int16)}
        mine = {a.name: arrays[a.name].copy() for a in found.scop.arrays if a.name in arrays}
        made = EquationValues(found, {}).run(mine)
        execute(found.scop, {}, mine | {a.name: np.zeros((), a.dtype.name) for a in found.scop.arrays
                                        if a.name not in arrays}, wrap_signed=True)
        for array, values in made.items():
            np.testing.assert_array_equal(values, mine[array], err_msg=array)


@pytest.mark.parametrize("name", BODIES)
def test_cases_are_every_instance_once_and_their_leaves_are_known_there(name: str) -> None:
    found = system(BODIES[name])
    for equation in found.equations.values():
        seen = [p for case in cases(found, equation.name, equation.domain) for p in points_of(case.domain)]
        assert sorted(seen) == sorted(points_of(equation.domain))
        for case in cases(found, equation.name, equation.domain):
            assert {x.reference for x in walk(case.value) if isinstance(x, Load)} == set(case.leaves)
            for leaf in case.leaves.values():
                assert case.domain.is_subset(leaf.relation.domain())
                assert leaf.relation.is_single_valued()
                assert leaf.kind is not Kind.VALUE or leaf.name in found.recursive


def test_a_value_that_is_too_large_is_refused() -> None:
    parts = " ".join(f"int t{at} = t{at - 1} * t{at - 1} + t{at - 1};" for at in range(1, 14))
    found = system(f"for (int i = 0; i < 6; i++) {{ int t0 = B[i]; {parts} A[i] = t13; }}")
    with pytest.raises(BudgetExceededError, match="a value is too large to be compared"):
        cases(found, list(found.equations)[-1], list(found.equations.values())[-1].domain)


X, Y = Load("x", INT32), Load("y", INT32)


@pytest.mark.parametrize(("value", "plain"), [
    (Cast(X, INT32), X), (Cast(Cast(X, INT8), INT8), Cast(X, INT8)),
    (Cast(Cast(X, INT8), INT32), Cast(Cast(X, INT8), INT32)),
    (Binary(">", X, Y, INT32), Binary("<", Y, X, INT32)), (Binary(">=", X, Y, INT32), Binary("<=", Y, X, INT32)),
    (Cast(Literal("3", 3, INT32), FLOAT64), Literal("3.0", 3.0, FLOAT64)),
    (Literal("0x10", 16, INT32), Literal("16", 16, INT32)),
    (Cast(Literal("0.1", 0.1, FLOAT64), FLOAT32), Cast(Literal("0.1", 0.1, FLOAT64), FLOAT32)),
    (Cast(Literal("16777217", 16777217, INT32), FLOAT32), Cast(Literal("16777217", 16777217, INT32), FLOAT32))])
def test_one_value_has_one_spelling(value: Expr, plain: Expr) -> None:
    assert normal(value) == plain
