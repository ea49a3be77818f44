"""Sums in a wider variable than their values need: kept in 32 bits where nobody can see it, and only there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from polysched.emit_c import splice
from polysched.fuzz.checking import Plan, Subject, check, prepare
from polysched.fuzz.configuration import Configuration
from polysched.measure.programs.inputs import WHOLE
from polysched.pipeline import analysed, optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.target import find_compiler
from polysched.tensorize import Matches, find_intrinsic, match
from polysched.tensorize.options import TensorizeOptions

CUT = "if (t > INT32_MAX) t = INT32_MAX; if (t < INT32_MIN) t = INT32_MIN;"
NARROW = {   # start of the sum, one step, what becomes of it, the type of C, the instruction
    "saturates": ("2147480000", f"t += A[i][k] * B[k][j]; {CUT}", "C[i][j] = t;", "int32_t", "vpdpbusds"),
    "in one expression": ("-2147480000L", "t = t + A[i][k] * B[k][j] > INT32_MAX ? INT32_MAX : t + A[i][k] * B[k][j] < "
                          "INT32_MIN ? INT32_MIN : t + A[i][k] * B[k][j];", "C[i][j] = (int32_t)t;", "int32_t",
                          "vpdpbusds"),
    "halved": ("2147483600", f"t += A[i][k] * B[k][j]; {CUT}", "C[i][j] = t >> 1;", "int32_t", "vpdpbusds"),
    "wraps": ("0", "t += A[i][k] * B[k][j];", "C[i][j] = (int32_t)t;", "int32_t", "vpdpbusd"),
    "low bits": ("C[i][j]", "t = (int64_t)A[i][k] * B[k][j] + t;", "C[i][j] = 3 * t - 7;", "int8_t", "vpdpbusd"),
    "negated": ("5", "t -= -((int64_t)A[i][k] * B[k][j]);", "C[i][j] -= (uint16_t)(-t);", "uint32_t", "arm_usdot"),
}
WIDE = {   # the same, and why there is none
    "cut at the end": ("0", "t += A[i][k] * B[k][j];", "C[i][j] = t > 127 ? 127 : t;", "int32_t", "vpdpbusd",
                       "accumulate in int32 if no sum leaves its range"),
    "shifted": ("0", "t += A[i][k] * B[k][j];", "C[i][j] = t >> 3;", "int32_t", "vpdpbusd", "accumulates in int64"),
    "a float": ("0", "t += A[i][k] * B[k][j];", "C[i][j] = t;", "float", "vpdpbusd", "accumulates in int64"),
    "a truth value": ("0", "t += A[i][k] * B[k][j];", "C[i][j] = (_Bool)t;", "int32_t", "vpdpbusd",
                      "accumulates in int64"),
    "cut above": ("0", "t += A[i][k] * B[k][j]; if (t > INT32_MAX) t = INT32_MAX;", "C[i][j] = t > 9 ? 9 : t;",
                  "int32_t", "vpdpbusds", "to at most 2147483647"),
    "starts outside": ("4000000000L", f"t += A[i][k] * B[k][j]; {CUT}", "C[i][j] = t > 9;", "int32_t", "vpdpbusds",
                       "accumulates in int64"),
    "cut wider": ("0", "t += A[i][k] * B[k][j]; if (t > 4000000000) t = 4000000000; if (t < INT32_MIN) t = INT32_MIN;",
                  "C[i][j] = t > 9;", "int32_t", "vpdpbusds", "accumulates in int64"),
    "cut once": ("0", "t += A[i][k] * B[k][j];", f"{CUT} C[i][j] = t;", "int32_t", "vpdpbusds", "accumulates in int64"),
    "cut, read as unsigned": ("0", "t += A[i][k] * B[k][j]; t = (uint32_t)(t > INT32_MAX ? INT32_MAX : t < INT32_MIN ? "
                              "INT32_MIN : t);", "C[i][j] = t >> 3;", "int32_t", "vpdpbusds", "accumulates in int64"),
    "cut by another value": ("0", "t += A[i][k] * B[k][j]; t = (int8_t)t > 99 ? 99 : (int8_t)t < -99 ? -99 : t;",
                             "C[i][j] = t >> 3;", "int32_t", "vpdpbusd", "accumulates in int64"),
    "divided": ("0", "t = t / 2 + A[i][k] * B[k][j];", "C[i][j] = t;", "int32_t", "vpdpbusd", "no match"),
}


def text(name: str, start: str, step: str, end: str, kind: str) -> str:
    return f"""#include <stdint.h>
void {name}(int n, {kind} C[5][19], uint8_t A[5][n], int8_t B[n][19])
{{
#pragma scop
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 19; j++) {{
            int64_t t = {start};
            for (int k = 0; k < n; k++) {{
                {step}
            }}
            {end}
        }}
#pragma endscop
}}
"""


def matched(program: str, name: str) -> Matches:
    dependences = analysed(from_c_text(program), for_instructions=True).dependences
    return match(dependences.scop, find_intrinsic(name), dependences=dependences, sizes={"n": 37})


def test_a_sum_that_fits_is_kept_by_the_instruction() -> None:
    subjects = []
    for at, (start, step, end, kind, name) in enumerate(NARROW.values()):
        if at not in (2, 4):   # the others make the same code
            continue
        program = text(f"f{at}", start, step, end, kind)
        used = Configuration(scheduler="original", expand=True, parallel=False, intrinsic=name)
        prepared = prepare(f"f{at}", program, [used], recipe=WHOLE, schedules=False)
        assert isinstance(prepared, Subject)
        assert prepared.kinds["computed by an instruction"], program
        subjects.append(prepared)
    plans = {s.name: Plan(run=({"n": 37, "m": 41},), small=()) for s in subjects}
    assert check(subjects, plans, compiler=find_compiler()) == []


@pytest.mark.parametrize("name", NARROW)
def test_a_sum_that_fits_matches(name: str) -> None:
    *parts, unit = NARROW[name]
    found = matched(text("f", *parts), unit)
    assert found.count, [str(e) for e in found.explanations]


def test_the_sum_goes_into_the_result_where_nothing_else_is_done_with_it() -> None:
    start, step, end, kind, name = NARROW["in one expression"]
    found = matched(text("f", start, step, end, kind), name)
    assert [s.name for s in found.scop.statements] == ["S0", "S1"]
    assert found.matches[0].result.dtype.name == "int32"


@pytest.mark.parametrize("name", WIDE)
def test_what_is_seen_of_the_wider_sum_is_kept(name: str) -> None:
    *parts, unit, why = WIDE[name]
    found = matched(text("f", *parts), unit)
    assert found.count == 0, str(found.matches[0])
    assert why in "\n".join(map(str, found.explanations))


# Start and further steps of a sum of which the low bits count, behind the product; what becomes of it.
BEHIND = {
    "added to": ("0", "t += D[k];", "C[i][j] = (int32_t)t;"),
    "subtracted from": ("D[j]", "t -= 7 * E[k];", "C[i][j] = t;"),
    "multiplied": ("D[j]", "t *= k < 2 ? E[k] : -1;", "C[i][j] = (int16_t)-t;"),
    "close to the ends of its type": ("-(1L << 40)", "t = t + (INT64_MAX - 5) - (INT64_MAX - D[k] % 2);",
                                      "C[i][j] = t;"),
}
MAIN = """#include <stdio.h>
int main(void)
{
    static int32_t C[2][5][19], D[37]; static uint8_t A[5][37]; static int8_t B[37][19]; static int16_t E[37];
    for (int i = 0; i < 37; i++) D[i] = i % 3 ? INT32_MAX - i : 5 * i, E[i] = i % 5 ? 32767 - i : -3;
    for (int i = 0; i < 5 * 37; i++) A[0][i] = i * 7;
    for (int i = 0; i < 37 * 19; i++) B[0][i] = i * 11;
    written(37, C[0], A, B, D, E);
    changed(37, C[1], A, B, D, E);
    for (int i = 0; i < 5 * 19; i++)
        if (C[0][0][i] != C[1][0][i]) return printf("%d: %d, %d", i, C[0][0][i], C[1][0][i]), 1;
    return 0;
}
"""


@pytest.mark.parametrize("case", BEHIND)
def test_what_else_is_done_with_low_bits_does_not_overflow(case: str, tmp_path: Path) -> None:
    """The narrower sum leaves the range of its type where the program's does not leave that of a wider one."""
    start, step, end = BEHIND[case]
    program = text("written", start, "t += A[i][k] * B[k][j];", f"for (int k = 0; k < n; k++) {step} {end}", "int32_t")
    program = program.replace("int8_t B[n][19])", "int8_t B[n][19], int32_t D[n], int16_t E[n])")
    used = TensorizeOptions(intrinsic="arm_usdot", sizes={"n": 37})
    made = optimize(from_c_text(program), PipelineOptions(
        scheduler="original", tensorize=used, parallel=False, verify_instructions="never"))
    assert "by arm_usdot" in made.text, made.instructions
    changed = splice(program, [made.source]).replace("void written(", "void changed(")
    path, binary = tmp_path / "both.c", tmp_path / "both"
    path.write_text(program + changed + MAIN)
    done = find_compiler().run(["-O1", "-w", "-std=gnu11", "-fsanitize=signed-integer-overflow",
                                "-fno-sanitize-recover=all", str(path), "-o", str(binary), "-lm"])
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}\n{made.text}"
