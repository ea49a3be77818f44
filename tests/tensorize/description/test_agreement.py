"""The three readings of a text agree bit for bit, for all that is shipped; what is undefined or differs is refused."""

from dataclasses import replace

import pytest

from polysched.errors import BudgetExceededError, PolyschedError, SourceSyntaxError, UndefinedBehaviourError
from polysched.scop.body import Cast, rebuild
from polysched.tensorize.description import agreement
from polysched.tensorize.description.agreement import agree, require_agreement
from polysched.tensorize.description.derivation import derive
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS, ExactFunction
from polysched.tensorize.description.host_execution import run_on_host
from polysched.tensorize.description.inputs import Filling, operands_of
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.intrinsics.shipped import shipped

LOOP = "for (int i = 0; i < 8; i++) "
PARAMETERS = ("int32_t O[8], int64_t L[8], int16_t H[8], uint8_t Y[8], const int32_t A[8], const int32_t B[8], "
              "const int16_t S[8], const uint8_t U[8], const uint32_t W[8], const int64_t Q[8], const float F[8]")


def text(body: str) -> str:
    return f"void u({PARAMETERS}) {{ {LOOP}{body} }}"


@pytest.mark.parametrize("intrinsic", shipped(), ids=[i.name for i in shipped()])
def test_the_readings_of_shipped_texts_agree(intrinsic: Intrinsic) -> None:
    found = agree(intrinsic.semantics, trials=24)
    assert not found.difference, str(found)
    assert min(found.host, found.emulator, found.contraction) > 0


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_every_function_means_the_same_in_c_and_in_python(function: ExactFunction) -> None:
    parameters = ", ".join(f"const {C_NAMES[p.name]} A{at}[16]" for at, p in enumerate(function.parameters))
    given = ", ".join(f"A{at}[i]" for at in range(len(function.parameters)))
    found = agree(f"void u({C_NAMES[function.dtype.name]} O[16], {parameters}) {{ for (int i = 0; i < 16; i++) "
                  f"O[i] = {function.name}({given}); }}", trials=24, steps=2000)
    assert not found.difference, str(found)


SPELLINGS = [
    "L[i] += A[i] / 2u;", "L[i] += A[i] & 0xFFFFFFFF;", "L[i] = 1LL << 31;", "L[i] = A[i] * 3000000000;",
    "O[i] = 010 + 0x7fffffff + A[i];", "H[i] += A[i];", "Y[i] -= S[i] * 3;", "O[i] = -U[i] >> 1;", "L[i] = -W[i];",
    "L[i] = ~U[i];", "O[i] = S[i] < W[i];", "O[i] = !A[i] + (A[i] && B[i]) - (A[i] || S[i]);", "O[i] = A[i] / 7 % 3;",
    "O[i] = A[i] / ((B[i] & 7) + 1);", "L[i] = A[i] > 0 ? W[i] : S[i];", "O[i] = (int8_t)A[i] + (uint16_t)S[i];",
    "O[i] = A[i] >> (B[i] & 31);", "L[i] = (uint64_t)A[i] >> 3;", "L[i] = (long)A[i] << (U[i] & 31);",
    "{ int16_t t = 0; t += A[i] * B[i]; O[i] += t; }", "{ uint8_t t = A[i]; t = t * t + 1; O[i] = t - U[i]; }",
    "O[i] = S[i] * S[i] * S[i];", "L[i] = (int64_t)A[i] * B[i] - Q[i] * Q[i];", "O[i] = clamp_i32(A[i], -5, S[i]);",
    "O[i] = max_i32(min_i32(A[i], 255), 0);", "Y[i] = sat_u8(A[i] >> 20);", "O[i] = popcount_u32(A[i] ^ B[i]);",
    "{ int32_t t = O[i]; O[i] = t + H[i]; H[i] = t - H[i]; }", "for (int k = 0; k <= i; k++) O[i] += A[k] * B[i - k];",
    "for (int k = 7; k >= 0; k--) O[i] += A[k] * 31;", "Y[i] = U[(A[i] >> 3) & 7];",
    "for (int k = i; k < 8; k++) { int16_t t = 0; t += A[k]; t += B[k]; O[i] += t; }", "O[i] += F[i] < F[7 - i];",
    "{ int32_t t = 0; for (int k = 0; k < 8; k++) t += S[k] * S[i]; int32_t s = t + A[i]; O[i] = s > 0 ? s : 0; }",
    "{ int16_t t = 0; for (int k = 0; k < 8; k++) t += S[k] * S[i]; O[i] += t; }",
    "{ int64_t t = 0; for (int k = 0; k < 8; k++) t += S[k] * S[i]; O[i] = sat_i32(O[i] + t); }",
    "{ int32_t t = 0; for (int k = 0; k < 8; k++) t += S[k] * S[i]; O[i] = t; }"]


@pytest.mark.parametrize("body", SPELLINGS)
def test_spellings_of_c_are_read_alike(body: str) -> None:
    found = require_agreement(text(body))
    assert not found.difference, str(found)


UNDEFINED = {"O[i] = A[i] / B[i];": ("a division by zero", "A[i] / B[i]"),
             "O[i] = A[i] % S[i];": ("a division by zero", "A[i] % S[i]"),
             "O[i] = A[i] << U[i];": ("a shift by", "A[i] << U[i]"),
             "O[i] = A[i + 1];": ("subscript 8 of A is outside", "A[i + 1]"),
             "O[i] = A[i - 1];": ("subscript -1 of A is outside", "A[i - 1]"),
             "O[i] = A[i] / (B[i] | 1);": ("a quotient that does not fit", "A[i] / (B[i] | 1)"),
             "{ int32_t t[2]; t[0] = A[i]; O[i] = t[1]; }": ("a local is read before it has a value", "t[1]")}


@pytest.mark.parametrize("body", UNDEFINED)
def test_what_c_leaves_undefined_is_refused(body: str) -> None:
    with pytest.raises((UndefinedBehaviourError, SourceSyntaxError)) as refusal:
        require_agreement(text(body))
    problem, witness = UNDEFINED[body]
    assert problem in refusal.value.problem
    assert witness in str(refusal.value.witness)
    assert refusal.value.exit_code == 2


def test_a_reading_that_drops_a_wrap_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = text("{ int16_t t = 0; t += S[i] * S[i]; L[i] += t; }")
    right = derive(parse(narrow))
    wrong = replace(right, update=rebuild(right.update, lambda e: e.operand if isinstance(e, Cast) else e))
    monkeypatch.setattr(agreement, "derive", lambda semantics, **_: wrong)
    assert "the contraction against the host" in agree(narrow).difference


def test_an_emulator_that_errs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polysched.tensorize.description.python_emulator.promoted", lambda t: t)
    assert "the Python emulator against the host" in agree(text("O[i] = U[i] + U[7 - i];")).difference


def test_a_printed_text_that_errs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polysched.tensorize.description.emulator.expression_c", lambda e: "0")
    assert "the printed C against the host" in agree(text("O[i] = A[i] + 1;")).difference


@pytest.mark.parametrize(("body", "problem"), [("while (1);", "does not end within"),
                                               ("*(volatile int *)0 = 1;", "crashes")])
def test_a_text_that_hangs_or_crashes_is_refused(body: str, problem: str) -> None:
    semantics = parse(text("O[i] = 1;"))
    operands = operands_of(semantics, Filling.SMALL, 1, 1)
    with pytest.raises(SourceSyntaxError, match=problem):
        run_on_host(replace(semantics, text=text(body)), operands, limit_seconds=0.5)


def test_a_text_of_too_many_iterations_is_refused() -> None:
    with pytest.raises(BudgetExceededError, match="one execution makes more than"):
        require_agreement("void u(int32_t O[1]) { for (int i = 0; i < 100000000; i++) O[0] += 1; }")


@pytest.mark.parametrize("body", ["{ O[i] = L[i] + 1; for (int k = 0; k < 8; k++) L[k] += O[i]; }",
                                  "for (int k = 7; k >= 0; k--) O[i] = O[i] * 31 + A[k];"])
def test_an_order_that_counts_is_refused(body: str) -> None:
    """Loops that cannot be taken apart, and one whose iterations only make sense from the top down."""
    with pytest.raises(PolyschedError, match="nor stages one behind the other"):
        require_agreement(text(body))
