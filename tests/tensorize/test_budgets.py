"""Every search ends: by an answer, or by a refusal that names the budget and says what to try."""

import math
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import BudgetExceededError
from polysched.scop.body import Binary, Expr, Load, walk
from polysched.scop.dtypes import INT32
from polysched.scop.scop import Scop
from polysched.tensorize.equality import Verdict, ladder, same_function
from polysched.tensorize.equality.normal_form import Normaliser
from polysched.tensorize.equality.questions import one_budget
from tests.tensorize.described import executes, matched, program, programs_of, unit
from tests.tiers import and_campaign


def greater(a: str, b: str) -> str:
    return f"({a} > {b} ? {a} : {b})"


LOOP = "for (int i = 0; i < 4; i++)"
OF_FOUR = greater(greater("A[4*i]", "A[4*i + 1]"), greater("A[4*i + 2]", "A[4*i + 3]"))
POOL = unit("pool", "int32_t C[4], const int32_t A[16]", f"{LOOP} C[i] = {greater('C[i]', OF_FOUR)};")
WIDE = unit("wide", "int32_t C[4], " + ", ".join(f"const int32_t A{k}[4]" for k in range(7)),
            f"{LOOP} C[i] += {' * '.join(f'A{k}[i]' for k in range(7))};")
PLANE = "int32_t C[5], int32_t X[5][2][2], int32_t A[5][9]"
EACH = "for (int i = 0; i < 5; i++) "
ELEMENTS = [f"X[i][{p}][{q}]" for p in range(2) for q in range(2)]
PROGRAMS = {
    "maximum of maxima": (PLANE, EACH + "C[i] = " + greater("C[i]", greater(
        greater(ELEMENTS[0], ELEMENTS[2]), greater(ELEMENTS[1], ELEMENTS[3]))) + ";"),
    "running maximum": (PLANE, EACH + "C[i] = " + greater(greater(greater(greater(
        "C[i]", ELEMENTS[0]), ELEMENTS[1]), ELEMENTS[2]), ELEMENTS[3]) + ";"),
    "maximum of a minimum": (PLANE, EACH + "C[i] = " + greater("C[i]", greater(
        greater(ELEMENTS[0], ELEMENTS[2]).replace(">", "<"), greater(ELEMENTS[1], ELEMENTS[3]))) + ";"),
    "nine factors": (PLANE, EACH + "C[i] += " + " * ".join(f"A[i][{k}]" for k in range(9)) + ";"),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    return programs_of(PROGRAMS, tmp_path_factory.mktemp("budgets"))


@pytest.mark.parametrize("name", and_campaign(["running maximum"], ["maximum of maxima"]))
def test_a_maximum_of_maxima_is_matched(name: str, programs: dict[str, Scop], tmp_path: Path) -> None:
    executes(programs[name], matched(programs[name], POOL), tmp_path)


def test_a_maximum_of_a_minimum_is_one_of_three(programs: dict[str, Scop], tmp_path: Path) -> None:
    """The minimum becomes one operand, computed ahead."""
    found = matched(programs["maximum of a minimum"], POOL)
    assert 0 < found.count <= 8
    executes(programs["maximum of a minimum"], found, tmp_path)


def test_too_many_combinations_are_refused_by_name(programs: dict[str, Scop]) -> None:
    found = matched(programs["nine factors"], WIDE)
    assert found.count == 0
    text = "\n".join(map(str, found.explanations))
    assert "wide has 7 inputs, and there are" in text
    assert "compute parts of the update in statements of their own" in text


BYTES = "uint32_t C[8], const int8_t A[8][4], const uint8_t B[8][4], const int8_t W[8][4]"
NEST = "for (int i = 0; i < 8; i++) for (int k = 0; k < 4; k++) "


def clipped(amount: str) -> str:
    """A shifted byte or a clipped one, whichever is larger: 16 bits of inputs, and no circuit."""
    shifted, other = f"(A[i][k] >> ({amount}))", "(B[i][k] > 100 ? 100 : B[i][k])"
    return f"C[i] += ({shifted} >= {other} ? (A[i][k] >> (B[i][k] & 3)) : {other}) + W[i][k];"


def test_all_questions_of_a_match_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which once were tried from scratch for every choice of operands (pairs 5960 to 5965 of the fuzzer)."""
    most, spent = 1 << 22, list[int]()
    plain = ladder._judge_all

    def counted(left: Expr, right: Expr, rows: dict[str, np.ndarray], rung: str) -> ladder.Outcome:
        if rung == "exhaustive":
            spent.append(sum(1 for e in (left, right) for _ in walk(e)) * math.prod(
                np.broadcast_shapes(*(v.shape for v in rows.values()))))
        return plain(left, right, rows, rung)

    monkeypatch.setattr(ladder, "_judge_all", counted)
    wanted = unit("wanted", BYTES, NEST + clipped("B[i][k] & 3"))
    with one_budget(most):
        found = matched(program(BYTES.replace("const ", ""), NEST + clipped("B[i][k] & 7")), wanted)
    assert 0 < sum(spent) <= most
    assert any(f"ran out of {most} operations of exhaustive comparison" in str(e) for e in found.explanations)


def product_of_sums(count: int) -> Expr:
    """(a0 + b0) * (a1 + b1) * ...: 2^count terms."""
    product: Expr = Load("c", INT32)
    for at in range(count):
        product = Binary("*", product, Binary("+", Load(f"a{at}", INT32), Load(f"b{at}", INT32), INT32), INT32)
    return product


def test_normal_forms_have_a_budget() -> None:
    assert len(Normaliser().form(product_of_sums(8)).terms) == 256
    with pytest.raises(BudgetExceededError, match="normal form of the update takes more than 20000 steps"):
        Normaliser().form(product_of_sums(20))


def test_an_undecided_comparison_names_its_budgets() -> None:
    a, b, c, rest = Load("x", INT32), Load("y", INT32), Load("z", INT32), product_of_sums(20)
    whole = Binary("*", Binary("+", a, b, INT32), c, INT32)
    parts = Binary("+", Binary("*", a, c, INT32), Binary("*", c, b, INT32), INT32)
    outcome = same_function(Binary("^", whole, rest, INT32), Binary("^", parts, rest, INT32), conflicts=10)
    assert outcome.verdict is Verdict.UNKNOWN
    assert "the normal form of the update takes more than" in outcome.witness
    assert "10 conflicts of the solver did not decide" in outcome.witness
