"""What hinders an assignment is named with its kind, and what does not is proved."""

from __future__ import annotations

import pytest

from polysched.scop.body import Binary, Cast, Expr, Literal, Load, Unary
from polysched.scop.dtypes import INT8, INT16, INT32, UINT8
from polysched.scop.scop import Scop
from polysched.tensorize import Intrinsic
from polysched.tensorize.matching.assignment import Assignment, Candidate, _commuted, is_of
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.proofs.contents import together
from polysched.tensorize.software.clamps import without_clamp
from polysched.tensorize.software.fragment import fragments
from polysched.tensorize.software.fused_calls import without_fusion
from tests.tensorize.described import programs_of, unit

LOOP = "for (int i = 0; i < 4; i++) "
SHORT = unit("words", "int32_t Y[4], const int16_t X[4], const int16_t W[4]", LOOP + "Y[i] += X[i] * W[i];")
CUT = unit("cut", "int32_t Y[4], const int16_t X[4], const int16_t W[4]", LOOP +
           "Y[i] = sat_i32((int64_t)Y[i] + X[i] * W[i]);")
FLOAT = unit("plain", "float Y[4], const float X[4], const float W[4]", LOOP + "Y[i] += X[i] * W[i];")
FUSED = unit("fused", "float Y[4], const float X[4], const float W[4]", LOOP + "Y[i] = fma_f32(X[i], W[i], Y[i]);")
SUMS = ("for (int i = 0; i < 4; i++) for (int k = 0; k < 3; k++) ", "[k][i]")
TEXTS: dict[str, tuple[str, str, Intrinsic, tuple[str, ...]]] = {   # and the kinds of the facts
    "as described": ("int C[4], short A[4], short B[4]", "C[i] += A[i] * B[i];", SHORT, ()),
    "narrower operands": ("int C[4], char A[4], unsigned char B[4]", "C[i] += A[i] * B[i];", SHORT, ()),
    "wider operands": ("int C[4], int A[4], short B[4]", "C[i] += A[i] * B[i];", SHORT, ("type",)),
    "both wider": ("int C[4], int A[4], int B[4]", "C[i] += A[i] * B[i];", SHORT, ("type", "type")),
    "unsigned operands": ("int C[4], unsigned short A[4], short B[4]", "C[i] += A[i] * B[i];", SHORT, ("type",)),
    "an unsigned sum": ("unsigned C[4], short A[4], short B[4]", "C[i] += A[i] * B[i];", SHORT, ()),
    "a short sum": ("short C[4], short A[4], short B[4]", "C[i] += A[i] * B[i];", SHORT, ("accumulator",)),
    "a long sum": ("long C[4], short A[4], short B[4]", "C[i] += A[i] * B[i];", SHORT, ("accumulator",)),
    "a product cut to its type": ("int C[4], short A[4], short B[4]", "C[i] += (short)(A[i] * B[i]);", SHORT,
                                  ("arithmetic",)),
    "wrapping for saturation": ("int C[4], short A[4], short B[4]", "C[i] += A[i] * B[i];", CUT, ("saturation",)),
    "floats": ("float C[4], float A[4], float B[4]", "C[i] += A[i] * B[i];", FLOAT, ()),
    "floats in integers": ("float C[4], short A[4], float B[4]", "C[i] += A[i] * B[i];", FLOAT, ("type",))}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    return programs_of({n: (a, LOOP + b) for n, (a, b, _, _) in TEXTS.items()}, tmp_path_factory.mktemp("assignment"))


def made(scop: Scop, intrinsic: Intrinsic, numerics: Numerics) -> Assignment:
    """A as the first operand, B as the second."""
    (fragment,) = fragments(scop)
    loads = {a.array: Load(a.reference, scop.array(a.array).dtype) for a in fragment.statement.reads}
    unfused = without_fusion(fragment.update, fragment.target)
    update, clamp = without_clamp(unfused.update)
    names = [str(e) for e in intrinsic.contraction.inputs]
    chosen: dict[str, Expr] = {n: loads[a] for n, a in zip(names, "AB", strict=True)}
    return Candidate(fragment=fragment, intrinsic=intrinsic, numerics=numerics, clamp=clamp, update=update,
                     chosen=chosen, fusion=unfused.fusion).assignment()


@pytest.mark.parametrize("name", TEXTS)
def test_every_hindrance_is_named(name: str, programs: dict[str, Scop]) -> None:
    _, _, intrinsic, kinds = TEXTS[name]
    found = made(programs[name], intrinsic, Numerics())
    assert tuple(f.kind for f in found.facts) == kinds, found.facts
    assert all(f.rewrite for f in found.facts)


def test_a_fused_product_needs_leave_on_either_side(tmp_path_factory: pytest.TempPathFactory) -> None:
    arrays = "float C[4], float A[4], float B[4]"
    texts = {"two": (arrays, LOOP + "C[i] += A[i] * B[i];"), "one": (arrays, LOOP + "C[i] = fmaf(A[i], B[i], C[i]);")}
    scops = programs_of(texts, tmp_path_factory.mktemp("fused"))
    exact = Numerics(contract=False)
    assert {f.kind for f in made(scops["one"], FLOAT, exact).facts} == {"numerics"}
    assert {f.kind for f in made(scops["two"], FUSED, exact).facts} == {"numerics"}
    assert made(scops["two"], FLOAT, exact).facts == made(scops["one"], FUSED, exact).facts == ()
    allowed = made(scops["one"], FLOAT, Numerics())
    assert allowed.facts == ()
    assert "fused products are rounded on their own" in allowed.assumptions


def test_values_of_a_type_are_proved_with_the_ranges_of_loops(programs: dict[str, Scop],
                                                             tmp_path_factory: pytest.TempPathFactory) -> None:
    (fragment,) = fragments(programs["as described"])
    assert is_of(fragment, Cast(Load("x", INT8), INT32), INT16)
    assert not is_of(fragment, Load("x", UINT8), INT8)
    texts = {"count": ("int C[4]", "for (int i = 0; i < 4; i++) for (int k = 0; k < 300; k++) C[i] += i * k;")}
    (counted,) = fragments(programs_of(texts, tmp_path_factory.mktemp("count"))["count"])
    assert isinstance(counted.update, Binary)
    i, k = counted.update.right.left, counted.update.right.right   # type: ignore[attr-defined]
    assert is_of(counted, i, INT8)
    assert not is_of(counted, k, INT8)
    assert is_of(counted, k, INT16)
    assert is_of(counted, counted.update.right, INT16), "i * k is at most 3 * 299"
    assert not is_of(counted, counted.update.right, UINT8)


A, B, C = (Load(n, INT16) for n in "abc")


def times(x: Expr, y: Expr) -> Expr:
    return Binary("*", x, y, INT32)


def plus(x: Expr, y: Expr) -> Expr:
    return Binary("+", x, y, INT32)


@pytest.mark.parametrize(("left", "right", "same"), [
    (plus(A, times(B, C)), plus(times(C, B), A), True),
    (Binary("-", A, times(B, C), INT32), plus(A, times(Unary("-", B, INT32), C)), True),
    (times(Literal("1", 1, INT32), A), A, True),
    (Unary("-", Unary("-", A, INT32), INT32), A, True),
    (times(times(A, B), C), times(A, times(B, C)), False),
    (plus(plus(A, B), C), plus(A, plus(B, C)), False),
    (plus(A, times(B, C)), Binary("-", A, times(B, C), INT32), False),
    (times(Unary("-", A, INT32), Unary("-", B, INT32)), times(A, B), True)])
def test_what_changes_no_rounding_has_one_order(left: Expr, right: Expr, same: bool) -> None:
    assert (_commuted(left) == _commuted(right)) is same


def test_an_assignment_tells_what_every_operand_holds() -> None:
    found = Assignment((("X", A), ("W", together([A, B]))), (), ())
    assert found.expression("X") is A
    assert set(found.held) == {"X", "W"}
    assert found.without({"W"}) == {"X": A}
    assert found.texts["X"] == Assignment((("X", Cast(A, INT32)),), (), ()).texts["X"], "whatever its conversions"
