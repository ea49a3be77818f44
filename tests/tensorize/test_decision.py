"""Which instruction computes a statement of a program, and the reasons where none does."""

from dataclasses import replace

import pytest

from polysched.scop import from_c_text
from polysched.target import host
from polysched.tensorize.choice import executes_here
from polysched.tensorize.decision import decide
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.emission.blocking import pressure
from polysched.tensorize.emission.plan import block_cases
from polysched.tensorize.options import TensorizeOptions
from polysched.tensorize.registry import find_intrinsic

PRODUCT = """
#include <stdint.h>
void product(int n, int32_t C[n][n], uint8_t A[n][n], int8_t B[n][n]) {
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
"""


def test_the_clearing_statement_is_folded_in() -> None:
    decision = decide(from_c_text(PRODUCT), TensorizeOptions(intrinsic="vpdpbusd", sizes={"n": 64}), host())
    assert decision.program is not None
    assert decision.program.zero
    assert decision.program.before is None
    assert decision.program.after is None
    assert decision.reasons[0].startswith("S1: vpdpbusd about ")


def test_clearing_with_another_value_stays() -> None:
    text = PRODUCT.replace("C[i][j] = 0;", "C[i][j] = 1;")
    decision = decide(from_c_text(text), TensorizeOptions(intrinsic="vpdpbusd", sizes={"n": 64}), host())
    assert decision.program is not None
    assert not decision.program.zero
    assert decision.program.before is not None


def test_clearing_fewer_elements_stays() -> None:
    text = PRODUCT.replace("C[i][j] = 0;", "if (j > 0) C[i][j] = 0;")
    decision = decide(from_c_text(text), TensorizeOptions(intrinsic="vpdpbusd", sizes={"n": 64}), host())
    assert decision.program is not None
    assert not decision.program.zero


def test_sizes_are_asked_for() -> None:
    halves = PRODUCT.replace("C[i][j]", "C[i + i / 2][j]")
    decision = decide(from_c_text(halves), TensorizeOptions(intrinsic="vpdpbusd"), host())
    assert decision.program is None
    assert "--size n=N" in decision.reasons[0]


def test_elements_of_another_c_type_are_read_by_no_function_of_ours() -> None:
    text = PRODUCT.replace("#include <stdint.h>", "#include <stdint.h>\nenum value { LOW = -1, HIGH = 1 };")
    scop = from_c_text(text.replace("int32_t C", "enum value C"))
    decision = decide(scop, TensorizeOptions(intrinsic="vpdpbusd", sizes={"n": 64}), host())
    assert decision.program is None
    assert "cannot be computed by a function that reads C as int" in decision.reasons[0]


def test_a_loop_that_ties_a_statement_to_others_stays_around_it() -> None:
    text = """
void f(float c[64], float a[64][64], float b[64]) {
#pragma scop
    for (int i = 0; i < 64; i++) {
        for (int j = 0; j < 64; j++)
            c[i] += a[i][j] * b[j];
        b[i] = c[i];
    }
#pragma endscop
}
"""
    decision = decide(from_c_text(text), TensorizeOptions(intrinsic="gemv_unit"), host())
    assert decision.program is not None
    assert [a.loop.name for a in decision.program.around] == ["i"]
    assert decision.reasons[0].startswith("S0: gemv_unit about ")
    assert "inside loop i" in decision.reasons[0]


def test_auto_takes_no_instruction_that_vector_code_can_beat() -> None:
    text = PRODUCT.replace("int32_t", "float").replace("uint8_t", "float").replace("int8_t", "float")
    decision = decide(from_c_text(text), TensorizeOptions(sizes={"n": 64}), host())
    assert decision.program is None
    assert any("vector code at best" in r or "matches" in r for r in decision.reasons)


def test_an_instruction_that_is_not_here_is_named_and_what_can_be_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is a slower one that is not here called not worth it, nor are all of a set tried one after the other."""
    asked: list[str] = []

    def executes(intrinsic: Intrinsic) -> bool:
        asked.append(intrinsic.name)
        return intrinsic.isa.name == "avx2_fma"

    monkeypatch.setattr("polysched.tensorize.options.executes_here", executes)
    text = PRODUCT.replace("int32_t", "float").replace("uint8_t", "float").replace("int8_t", "float")
    lanes = replace(host(), vector_bits=128)   # ordinary code is slower than avx512f, faster than avx2_fma
    decision = decide(from_c_text(text), TensorizeOptions(sizes={"n": 256}), lanes)
    chosen = [r for r in decision.reasons if "fma_f32_avx2 about" in r]
    assert chosen, decision.reasons
    wide = replace(host(), vector_bits=256)
    decision = decide(from_c_text(text), TensorizeOptions(sizes={"n": 256}), wide)
    assert decision.program is None
    absent, slow = decision.reasons
    assert "but this machine does not execute avx512f (--intrinsic fma_f32_avx512 runs its emulator)" in absent
    assert slow.startswith("S1: no instruction is worth it (fma_f32_avx2 about ")
    assert sum(find_intrinsic(name).isa.name == "avx512f" for name in asked[-3:]) < 3


def test_auto_takes_exact_pairs_of_bytes_where_there_are_no_dot_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """With AVX2 alone bytes are widened once, where they are packed, and multiplied in pairs without saturation."""
    monkeypatch.setattr("polysched.tensorize.options.executes_here", lambda i: i.isa.name in ("avx2", "avx2_fma"))
    target = replace(host(), vector_bits=256)
    for left in ("uint8_t", "int8_t"):
        text = PRODUCT.replace("uint8_t A", f"{left} A")
        decision = decide(from_c_text(text), TensorizeOptions(sizes={"n": 256}), target)
        assert decision.program is not None, decision.reasons
        assert decision.program.match.intrinsic.name == "vpmaddwd"
        plan = decision.plan(target)
        assert plan is not None
        assert all(plan.place(o).copy is not None for o in "AB")   # by vector code, no element by itself
        assert pressure(plan.match, plan.unrolled)[0] <= 16        # the products need a register, too


def test_what_nothing_here_executes_is_emulated() -> None:
    decision = decide(from_c_text(PRODUCT.replace("uint8_t A", "int8_t A")),
                      TensorizeOptions(intrinsic="gemmini_matmul", sizes={"n": 33}), host())
    assert decision.emulated
    assert "by its emulator" in decision.reasons[0]


def test_auto_takes_the_instruction_that_saves_most() -> None:
    if not executes_here(find_intrinsic("vpdpbusd")):
        pytest.skip("vpdpbusd_vector needs AVX-512 VNNI, which this machine does not execute")
    decision = decide(from_c_text(PRODUCT), TensorizeOptions(sizes={"n": 256}), host())
    assert decision.program is not None
    assert decision.program.match.intrinsic.name.startswith(("vpdpbusd", "tdpbusd"))


def test_lanes_hold_partial_sums_where_most_would_be_idle() -> None:
    scop = from_c_text("""
#include <stdint.h>
void dot(int n, int32_t s[1], int8_t a[n], int8_t b[n]) {
#pragma scop
    for (int k = 0; k < n; k++)
        s[0] += a[k] * b[k];
#pragma endscop
}
""")
    decision = decide(scop, TensorizeOptions(intrinsic="sve256_sdot", sizes={"n": 333}), host())
    assert decision.program is not None
    assert "partial sums in lanes are added at the end" in decision.program.match.assumptions


def test_auto_holds_partial_sums_in_lanes_where_operands_lie_right_for_them() -> None:
    """Rows in lanes would be transposed for a single use; the sum in groups and lanes reads memory as it lies."""
    if not executes_here(find_intrinsic("vpdpbusd_vector")):
        pytest.skip("vpdpbusd_vector needs AVX-512 VNNI, which this machine does not execute")
    scop = from_c_text("""#include <stdint.h>
void rows(int n, int32_t s[64], uint8_t a[64][n], int8_t b[n])
{
#pragma scop
    for (int i = 0; i < 64; i++)
        for (int k = 0; k < n; k++)
            s[i] += a[i][k] * b[k];
#pragma endscop
}
""")
    decision = decide(scop, TensorizeOptions(sizes={"n": 4096}), host())
    assert decision.program is not None, decision.reasons
    assert "partial sums in lanes are added at the end" in decision.program.match.assumptions
    plan = decision.plan(host())
    assert plan is not None
    assert [p.operand for p in plan.places if p.packed] == ["C"]


def test_odd_lengths_leave_what_fills_no_execution_behind() -> None:
    """4097 = 64 * 64 + 1: memory is read as it lies, and the last product is a statement behind."""
    if not executes_here(find_intrinsic("vpdpbusd_vector")):
        pytest.skip("vpdpbusd_vector needs AVX-512 VNNI, which this machine does not execute")
    scop = from_c_text("""#include <stdint.h>
void rows(int n, int32_t s[67], uint8_t a[67][n], int8_t b[n])
{
#pragma scop
    for (int i = 0; i < 67; i++) {
        s[i] = 0;
        for (int k = 0; k < n; k++)
            s[i] += a[i][k] * b[k];
    }
#pragma endscop
}
""")
    decision = decide(scop, TensorizeOptions(intrinsic="vpdpbusd_vector", sizes={"n": 4097}), host())
    assert decision.program is not None, decision.reasons
    assert decision.program.zero
    assert decision.program.before is None
    assert decision.program.after is not None
    assert [s.name for s in decision.program.after.statements] == ["S1_rest"]
    plan = decision.plan(host())
    assert plan is not None
    assert [p.operand for p in plan.places if p.packed] == ["C"]
    assert [bool(condition) for condition, _ in block_cases(plan)] == [True, False]


def test_nothing_stays_behind_where_the_instruction_saves_nothing() -> None:
    """Named, it is used all the same: once, on zero-padded operands."""
    text = PRODUCT.replace("uint8_t", "int16_t").replace(" int8_t", " int16_t")
    decision = decide(from_c_text(text), TensorizeOptions(intrinsic="vpdpwssd", sizes={"n": 7}), host())
    assert decision.program is not None
    assert decision.program.match.rest == ""
    assert decision.program.after is None
