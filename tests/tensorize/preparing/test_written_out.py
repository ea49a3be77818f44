"""Sums written out in full become loops of their own, where every copy goes on by the same number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.tensorize.functions.units import match_unit
from polysched.tensorize.preparing.written_out import in_loops_of_their_own
from polysched.tensorize.registry import load_intrinsics

TYPES = {"int": "int32", "float": "float32"}
UNIT = '''from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, Operand, Register

R = Register(c_type="int", load="", store="", zero="")
relu = Intrinsic(name="relu", isa=Isa(name="mine", machine="none", manual="none"), section="none", template="-",
    cost=Cost(issue_cycles=1, latency_cycles=1),
    operands=tuple(Operand(name=n, register=R) for n in ("O", "A", "B", "bias")),
    semantics="""
void relu(int32_t O[4], const int16_t A[4][3], const int16_t B[3][4], const int32_t bias[4]) {
    for (int i = 0; i < 4; i++) {
        int32_t t = bias[i];
        for (int k = 0; k < 3; k++) t += A[i][k] * B[k][i];
        O[i] = t > 0 ? t : 0;
    }
}""")
'''
TERMS = ["t += A[i][0] * B[0][i];", "t += A[i][1] * B[1][i];", "t += A[i][2] * B[2][i];"]
ROLLED = {
    "statements": (" ".join(TERMS), "int"),
    "one statement": ("t += A[i][0] * B[0][i] + A[i][1] * B[1][i] + A[i][2] * B[2][i];", "int"),
    "two and one": ("t += A[i][0] * B[0][i] + A[i][1] * B[1][i]; t += A[i][2] * B[2][i];", "int"),
    "backwards": (" ".join(TERMS[::-1]), "int"),
    "floats in order": (" ".join(TERMS), "float"),
    "floats from the left": ("t = t + A[i][0] * B[0][i] + A[i][1] * B[1][i] + A[i][2] * B[2][i];", "float"),
}
AS_THEY_ARE = {
    "another body": ("t += A[i][0] * B[0][i]; t -= A[i][1] * B[1][i]; t += A[i][2];", "int"),
    "unequal steps": ("t += A[i][0] * B[0][i]; t += A[i][1] * B[1][i]; t += A[i][3] * B[2][i];", "int"),
    "nothing moves": ("t += A[i][0] * B[0][i]; t += A[i][0] * B[0][i];", "int"),
    "floats added first": ("t += A[i][0] * B[0][i] + A[i][1] * B[1][i];", "float"),
    "other elements": ("A[i][0] += B[0][i]; A[i][1] += B[1][i];", "int"),
}


def analysed(sums: str, kind: str) -> Dependences:
    return analyse(from_c_text(
        f"void f({kind} O[8], {kind} A[8][4], {kind} B[4][8], const {kind} bias[8]) {{\n#pragma scop\n"
        f"for (int i = 0; i < 8; i++) {{\n{kind} t = bias[i];\n{sums}\nO[i] = t > 0 ? t : 0;\n}}\n"
        "#pragma endscop\n}\n"))


@pytest.mark.parametrize("name", ROLLED)
def test_copies_become_a_loop_with_the_same_results(name: str) -> None:
    before = analysed(*ROLLED[name])
    after = in_loops_of_their_own(before)
    assert [s.depth for s in after.scop.statements] == [1, 2, 1]
    chooser = np.random.default_rng(3)
    arrays = {n: chooser.integers(-9, 9, shape).astype(TYPES[ROLLED[name][1]]) / (
        3 if ROLLED[name][1] == "float" else 1) for n, shape in (("O", 8), ("A", (8, 4)), ("B", (4, 8)), ("bias", 8))}
    arrays = {n: x.astype(TYPES[ROLLED[name][1]]) for n, x in arrays.items()}
    results = []
    for scop in (before.scop, after.scop):
        own = {n: x.copy() for n, x in arrays.items()} | {"t": np.zeros((), TYPES[ROLLED[name][1]])}
        execute(scop, {}, own)
        results.append(own["O"])
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_others_stay_as_they_are(name: str) -> None:
    before = analysed(*AS_THEY_ARE[name])
    assert in_loops_of_their_own(before) is before


@pytest.mark.parametrize(("third", "found"), [("t += A[i][2] * B[2][i];", 1), ("t += A[i][2] * B[1][i];", 0)])
def test_units_of_several_stages_match_such_sums(tmp_path: Path, third: str, found: int) -> None:
    path = tmp_path / "units.py"
    path.write_text(UNIT)
    program = analyse(from_c_text(
        "#include <stdint.h>\n"
        "void f(int32_t O[8], const int16_t A[8][3], const int16_t B[3][8], const int32_t bias[8]) {\n"
        f"#pragma scop\nfor (int i = 0; i < 8; i++) {{\nint32_t t = bias[i];\n{TERMS[0]}\n{TERMS[1]}\n{third}\n"
        "O[i] = t > 0 ? t : 0;\n}\n#pragma endscop\n}\n"))
    unit = load_intrinsics(str(path))["relu"]
    assert len(match_unit(program, unit, otherwise=lambda: in_loops_of_their_own(program)).matches) == found
