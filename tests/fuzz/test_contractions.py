"""Random contractions: what is drawn, what is exact about them, and how they are checked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polysched.fuzz.campaign import CampaignOptions, ProgramResult, save_findings
from polysched.fuzz.checking import Finding, Plan, Subject, check, prepare
from polysched.fuzz.configuration import Configuration
from polysched.fuzz.contractions import SIZES, contraction
from polysched.fuzz.generator import Shape
from polysched.fuzz.instruction_drawing import contraction_configurations, suitable
from polysched.fuzz.kinds import CONTRACTIONS, PROGRAM_KINDS
from polysched.fuzz.program import Loop, Program, Statement, references, walk
from polysched.fuzz.shrinking import smaller
from polysched.measure.programs.inputs import WHOLE, fill
from polysched.scop import from_c_text
from polysched.target import find_compiler

KIND = PROGRAM_KINDS[CONTRACTIONS]


def features(program: Program) -> set[str]:
    statements = [n for n in walk(program.body) if isinstance(n, Statement)]
    loops = [n for n in walk(program.body) if isinstance(n, Loop)]
    terms = [t for s in statements for t in s.terms]
    subscripts = [a for s in statements for r in references(s) for a in r.subscripts]
    bounds = [b for loop in loops for b in (*loop.lower, *loop.upper)]
    return {name for name, found in {
        "saturates": any(s.clamp and s.clamp.high > 127 for s in statements),
        "in branches": any(s.clamp and s.clamp.named for s in statements),
        "accumulator": any(s.declares and s.target.array == "acc" for s in statements),
        "wide accumulator": any(s.declares == "long" and s.clamp is None for s in statements),
        "distance": any(t.distance for t in terms), "zero points": any(t.zeros != (0, 0) for t in terms),
        "alpha": any(t.by for t in terms), "beta": any(s.op == "*=" for s in statements),
        "in one array": "R" not in program.types, "in place": "Q" not in program.types,
        "two products": sum(t.times is not None for t in terms) > 1,
        "bias": "b" in program.types, "epilogue": "O" in program.types,
        "triangle": any({"i", "j", "k", "l", "p"} & b.names() for b in bounds),
        "window": any(len(a.names()) > 1 for a in subscripts),
        "strided": any(abs(c) > 1 for a in subscripts for _, c in a.terms),
        "reversed": any(c < 0 for a in subscripts for _, c in a.terms),
        "guard": len({type(n) for n in walk(program.body)}) == 3,
        "time": any(loop.iterator == "t" for loop in loops)}.items() if found}


def test_everything_that_programs_write_is_drawn() -> None:
    programs = [contraction(seed) for seed in range(600)]
    count = Counter(feature for program in programs for feature in features(program))
    assert len(count) == 19
    assert min(count.values()) > 2, count
    assert contraction(3) == contraction(3)
    assert len({program.types["P"] for program in programs}) == 5


def test_instructions_read_the_types_of_the_program() -> None:
    assert set(suitable(contraction(7))) >= {"vpdpbusd", "vpdpbusd_vector", "arm_usdot"}
    saturating = next(p for p in map(contraction, range(100)) if "saturates" in features(p))
    assert set(suitable(saturating)) <= {"vpdpbusds", "vpdpbusds_avx", "vpdpwssds", "vpdpwssds_avx"} or \
        saturating.types["Q"] == saturating.types["R"] == "signed char"
    drawn = [c for seed in range(200) for c in contraction_configurations(seed)]
    assert len({c.intrinsic for c in drawn}) > 40
    assert "auto" in {c.intrinsic for c in drawn}


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "float32", "float16"])
def test_inputs_are_whole_and_reach_the_ends_of_bytes(dtype: str) -> None:
    array = np.zeros(500, dtype)
    fill(array, dtype, name="A", recipe=WHOLE, seed=1)
    assert (array == np.round(array)).all()
    assert array.max() > 5
    if array.itemsize == 1:
        assert {array.min(), array.max()} == {np.iinfo(dtype).min, np.iinfo(dtype).max}


def test_a_sum_in_a_variable_is_computed_by_an_instruction() -> None:
    """The memory of the variable was handed over by the address of its pointer."""
    text = """void f(int n, int m, int P[5], unsigned char Q[5][n], signed char R[n])
{
#pragma scop
    for (int i = 0; i < 5; i++) {
        int acc = 0;
        for (int j = 0; j < n; j++)
            acc += Q[i][j] * R[j];
        P[i] = acc;
    }
#pragma endscop
}
"""
    used = Configuration(scheduler="original", intrinsic="arm_usdot", parallel=False)
    prepared = prepare("f", text, [used], recipe=KIND.recipe, schedules=False)
    assert isinstance(prepared, Subject)
    assert prepared.kinds["computed by an instruction"] == 1
    plans = {"f": Plan(run=(SIZES,), small=())}
    assert check([prepared], plans, compiler=find_compiler()) == []
    original, emitted = prepared.versions
    call = next(line for line in emitted.text.splitlines() if "(int32_t *)&(*acc)" in line)
    broken = replace(prepared, versions=(original, replace(emitted, text=emitted.text.replace(call, "*acc = 1;"))))
    assert [f.kind for f in check([broken], plans, compiler=find_compiler())] == ["result"]


def test_every_smaller_contraction_is_a_program() -> None:
    texts = [p.text() for seed in (5, 6, 12) for p in smaller(contraction(seed))]
    assert len(set(texts)) > 30
    for text in texts[::12]:
        if "acc = 0" in text or "acc" not in text:   # else the declaration is what was taken away
            assert from_c_text(text).statements


def test_a_saved_program_says_which_kind_it_is_of(tmp_path: Path) -> None:
    slow = Finding(subject="p5", configuration="", kind="slow", detail="not done")
    options = CampaignOptions(count=1, seed=5, programs=CONTRACTIONS)
    text = save_findings([ProgramResult(seed=5, findings=(slow,))], options, tmp_path)[0].read_text()
    assert "polysched fuzz --programs contractions --count 1 --seed 5" in text
    assert text.endswith(KIND.program(5, Shape()).text())
