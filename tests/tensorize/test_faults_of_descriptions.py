"""Descriptions that once replaced programs which compute something else: the wrong program, and the right one."""

from pathlib import Path

import numpy as np
import pytest

from polysched.cli.entry import main
from polysched.tensorize import Intrinsic, match
from polysched.tensorize.emission import EmissionOptions, emit_match
from tests.tensorize.compiled import call, compiled
from tests.tensorize.described import program, unit

LOOP = "for (int i = 0; i < 8; i++) "
NARROW = unit("narrow", "int32_t C[8], const int16_t A[8], const int16_t B[8]",
              LOOP + "{ int16_t t = 0; t += A[i] * B[i]; C[i] += t; }")
IN_A_LOOP = unit("narrow_in_a_loop", "int32_t C[8], const int16_t A[8], const int16_t B[8]",   # a block of its own
                 LOOP + "{ int16_t t = 0; for (int k = 0; k < 1; k++) t += A[i] * B[i]; C[i] += t; }")
IN_AN_ARRAY = unit("narrow_array", "int32_t C[8], const int16_t A[8], const int16_t B[8]",
                   f"int16_t t[8] = {{0}}; {LOOP} t[i] += A[i] * B[i]; {LOOP} C[i] += t[i];")
HALF = unit("half", "int32_t C[8], const int32_t A[8]", LOOP + "C[i] += A[i] / 2u;")
MASK = unit("mask", "int64_t C[8], const int32_t A[8]", LOOP + "C[i] += A[i] & 0xFFFFFFFF;")
HIGH = unit("high", "int64_t C[8], const int32_t A[8]", LOOP + "C[i] += A[i] * (1LL << 31);")
WORDS = "int32_t C[32], int16_t A[32], int16_t B[32]"
INTS, LONGS = "int32_t C[32], int32_t A[32]", "int64_t C[32], int32_t A[32]"
ALL = "for (int i = 0; i < 32; i++) "
LOCALS = NARROW, IN_A_LOOP, IN_AN_ARRAY
WRONG = [*((described, WORDS, "C[i] += A[i] * B[i];") for described in LOCALS),
         (HALF, INTS, "C[i] += A[i] / 2;"), (MASK, LONGS, "C[i] += A[i];"),
         (HIGH, LONGS, "C[i] += A[i] * (1 << 30);"), (HIGH, LONGS, "C[i] += A[i] * (-1LL << 31);")]
RIGHT = [*((described, WORDS, "C[i] += (int16_t)(A[i] * B[i]);") for described in LOCALS),
         (HALF, INTS, "C[i] += A[i] / 2u;"),
         (MASK, LONGS, "C[i] += A[i] & 0xFFFFFFFF;"), (HIGH, LONGS, "C[i] += A[i] * 2147483648LL;")]


@pytest.mark.parametrize(("described", "parameters", "text"), WRONG, ids=[f"{u.name}: {t}" for u, _, t in WRONG])
def test_another_function_has_no_match(described: Intrinsic, parameters: str, text: str) -> None:
    found = match(program(parameters, ALL + text), described)
    assert found.count == 0, str(found.matches[0])


@pytest.mark.parametrize(("described", "parameters", "text"), RIGHT, ids=[f"{u.name}: {t}" for u, _, t in RIGHT])
def test_the_same_function_matches_and_computes_it(described: Intrinsic, parameters: str, text: str,
                                                   tmp_path: Path) -> None:
    scop = program(parameters, ALL + text)
    found = match(scop, described)
    assert found.count, [str(e) for e in found.explanations]
    function = emit_match(found.matches[0], "f", EmissionOptions(emulated=True, parallel=False))
    library = compiled([function], tmp_path)
    chooser = np.random.default_rng(4)
    arrays = {a.name: chooser.integers(-300, 301, 32).astype(a.dtype.name) for a in scop.arrays}
    arrays["A"][:2] = 300
    if "B" in arrays:
        arrays["B"][:2] = 300
    wanted = {"narrow": lambda a: a["C"] + (a["A"].astype(np.int32) * a["B"]).astype(np.int16),
              "half": lambda a: a["C"] + (a["A"].astype(np.uint32) // np.uint32(2)).astype(np.int32),
              "mask": lambda a: a["C"] + (a["A"].astype(np.int64) & 0xFFFFFFFF),
              "high": lambda a: a["C"] + a["A"].astype(np.int64) * (1 << 31)}[described.name.split("_")[0]](arrays)
    call(library, function, arrays)
    np.testing.assert_array_equal(arrays["C"], wanted)


KINDS = [unit("average", "uint8_t O[8], const uint8_t A[8], const uint8_t B[8]",
              LOOP + "O[i] = (A[i] + B[i] + 1) >> 1;"),
         unit("dot_relu", "int32_t O[8], const int16_t A[8][4], const int16_t B[8][4]", LOOP + "{ int32_t t = 0; "
              "for (int k = 0; k < 4; k++) t += A[i][k] * B[i][k]; O[i] += t > 0 ? t : 0; }")]


@pytest.mark.parametrize("described", KINDS, ids=[i.name for i in KINDS])
def test_a_sum_is_none_of_the_other_kinds(described: Intrinsic) -> None:
    scop = program("int32_t O[32], int16_t X[32], int16_t Y[32]", ALL + "O[i] += X[i] * Y[i];")
    found = match(scop, described)
    assert found.count == 0
    assert found.explanations


UNIT_FILE = '''
from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, Operand, Register

LANES = Register(c_type="int", load="", store="", zero="")
NARROW = Intrinsic(
    name="narrow", section="none", template="-", cost=Cost(issue_cycles=1, latency_cycles=1),
    isa=Isa(name="mine", machine="none", manual="none"),
    operands=tuple(Operand(name=n, register=LANES) for n in "CAB"),
    semantics="""
void narrow(int32_t C[8], const int16_t A[8], const int16_t B[8]) {
    for (int i = 0; i < 8; i++) {
        int16_t t = 0;
        t += A[i] * B[i];
        C[i] += t;
    }
}""")
'''


@pytest.mark.parametrize(("text", "matches"), [("C[i] += A[i] * B[i];", False),
                                               ("C[i] += (int16_t)(A[i] * B[i]);", True)])
def test_the_command_line_says_the_same(text: str, matches: bool, tmp_path: Path,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    unit_file, source = tmp_path / "unit.py", tmp_path / "p.c"
    unit_file.write_text(UNIT_FILE)
    source.write_text(f"#include <stdint.h>\nvoid f({WORDS}) {{\n#pragma scop\n{ALL}{text}\n#pragma endscop\n}}\n")
    main(["match", str(source), "--intrinsics", str(unit_file), "--intrinsic", "narrow"])
    said = capsys.readouterr().out
    assert ("no match" in said) != matches
