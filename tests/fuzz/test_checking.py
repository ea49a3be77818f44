"""The checks find what is planted: wrong results, wrong orders, crashes, stray writes, code that does not compile."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

import islpy as isl
import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.fuzz.batch_child import differences
from polysched.fuzz.checking import ORIGINAL, Finding, Plan, Subject, check, prepare
from polysched.fuzz.configuration import Build, Configuration
from polysched.fuzz.drawing import BY_NAME, random_configurations
from polysched.fuzz.generator import Shape
from polysched.fuzz.hand_steps import random_steps
from polysched.fuzz.program import Layout
from polysched.fuzz.python_check import python_variant
from polysched.fuzz.python_text import python_text
from polysched.fuzz.shrinking import smaller
from polysched.measure.programs.instance_trace import traced_function
from polysched.scheduling import ALGORITHMS
from polysched.scheduling.options import FUSION_POLICIES
from polysched.target import find_compiler

SOURCE = """
void f(int n, double A[n], double B[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        A[i] = A[i - 1] + B[i];
#pragma endscop
}
"""
TILED = Configuration(scheduler="pluto", sizes=2)
PLAN = Plan(run=({"n": 5}, {"n": 8}), small=({"n": 4},), threads=(2,))


@pytest.fixture(scope="module")
def subject() -> Subject:
    prepared = prepare("f", SOURCE, [TILED])
    assert isinstance(prepared, Subject)
    return prepared


def findings(subject: Subject) -> list[tuple[str, str]]:
    return [(f.configuration, f.kind) for f in check([subject], {"f": PLAN}, compiler=find_compiler())]


def with_text(subject: Subject, text: str) -> Subject:
    """The subject with other emitted C."""
    original, emitted, traced = subject.versions
    return replace(subject, versions=(original, replace(emitted, text=text), traced))


def test_a_right_program_has_no_findings(subject: Subject) -> None:
    assert findings(subject) == []


def test_a_wrong_result_is_found(subject: Subject) -> None:
    wrong = with_text(subject, SOURCE.replace("A[i - 1] +", "A[i - 1] -"))
    found = check([wrong], {"f": PLAN}, compiler=find_compiler())
    assert {(f.configuration, f.kind) for f in found} == {(TILED.label, "result")}
    assert found[0].detail.startswith("A[1] is ")
    assert found[0].detail.endswith("at n=5, 2 threads")
    assert found[0].is_wrong


def test_an_illegal_schedule_is_found_by_all_three_witnesses(subject: Subject) -> None:
    tiled = subject.tiled[TILED.label]
    backwards = isl.Schedule(f'{{ domain: "{subject.scop.domain}", child: {{ schedule: '
                             '"[n] -> [{ S0[i] -> [-i] }]" } }')
    illegal = replace(tiled, tree=backwards)
    original, emitted, traced = subject.versions
    versions = (original, replace(emitted, text=SOURCE.replace("int i = 1; i < n; i++", "int i = n - 1; i > 0; i--")),
                replace(traced, text=traced_function(illegal, name="traced")))
    wrong = replace(subject, tiled={TILED.label: illegal}, versions=versions)
    assert {kind for _, kind in findings(wrong)} == {"result", "interpreter", "order"}


@pytest.mark.parametrize(("statement", "kind", "detail"), [
    ("*(volatile int *)0 = 1;", "run", "crashed with SIGSEGV"),
    ("A[n] = 1.0;", "run", "wrote outside A"),
    ("undeclared = 1;", "compile", "undeclared"),
])
def test_other_faults_of_the_emitted_code_are_found(subject: Subject, statement: str, kind: str, detail: str) -> None:
    found = check([with_text(subject, SOURCE.replace("#pragma endscop", statement))], {"f": PLAN},
                  compiler=find_compiler())
    assert found
    assert {(f.configuration, f.kind) for f in found} == {(TILED.label, kind)}
    assert detail in found[0].detail


def test_one_program_that_does_not_compile_leaves_the_others_checked(subject: Subject) -> None:
    bad = with_text(subject, SOURCE.replace("#pragma endscop", "undeclared = 1;"))
    good = prepare("g", SOURCE, [TILED])
    assert isinstance(good, Subject)
    found = check([bad, good], {"f": PLAN, "g": PLAN}, compiler=find_compiler())
    assert [(f.subject, f.kind) for f in found] == [("f", "compile")]


def test_a_refusal_is_no_wrong_program() -> None:
    refused = prepare("f", SOURCE.replace("A[i - 1]", "A[i--]"), [TILED])
    assert isinstance(refused, Finding)
    assert (refused.configuration, refused.kind, refused.is_wrong) == (ORIGINAL, "refused", False)


def test_everything_that_a_user_can_choose_is_drawn_often_enough() -> None:
    drawn = [c for seed in range(3000) for c in random_configurations(seed)]
    count = Counter(kind for c in drawn for kind in c.kinds())
    assert {c.scheduler for c in drawn} == {*ALGORITHMS, "strategy", "best"}
    assert {c.fusion for c in drawn} == set(FUSION_POLICIES)
    assert {c.vector_bits for c in drawn} == {0, 128, 256, 512}
    assert {c.build for c in drawn} == set(Build)
    assert {c.parallel_degrees for c in drawn} == {1, 2, 3}
    assert len({c.intrinsic for c in drawn} & set(BY_NAME)) > len(BY_NAME) * 3 // 4
    assert len({c.sizes for c in drawn}) > 100
    assert min(count.values()) > 50, count
    assert random_configurations(3) == random_configurations(3)


def test_every_option_of_a_configuration_is_drawn_and_counted() -> None:
    drawn = [c for seed in range(300) for c in random_configurations(seed)]
    kinds = {kind for c in drawn for kind in c.kinds()}
    plain = Configuration(scheduler="pluto")
    for option in fields(Configuration):
        if option.name in ("strategy_seed", "steps_seed"):
            continue
        values = {getattr(c, option.name) for c in drawn}
        assert len(values) > 1, option.name
        value = next(v for v in values if v != getattr(plain, option.name))
        counted = set(replace(plain, **{option.name: value}).kinds()) - set(plain.kinds())
        assert counted, option.name
        assert counted <= kinds | {f"{value} parallel degrees"}, option.name


def test_a_tolerance_is_relative_to_the_largest_element() -> None:
    right, near = {"A": np.array([1e6, 1.0])}, {"A": np.array([1e6, 2.0])}
    assert differences(right, near) == "A[1] is 2.0 instead of 1.0"
    assert differences(right, near, 1e-3) == ""
    assert differences(right, near, 1e-7) == "A[1] is 2.0 instead of 1.0"
    assert differences({"A": np.array([3])}, {"A": np.array([4])}, 1.0) == "A[0] is 4 instead of 3"
    infinite = {"A": np.array([np.inf, 1.0])}
    assert differences(infinite, {"A": np.array([np.nan, 1.0])}, 1e-3) == ""
    assert differences(infinite, {"A": np.array([5.0, 1.0])}, 1e-3) == "A[0] is 5.0 instead of inf"


def test_python_that_computes_something_else_is_found() -> None:
    program = python_variant(0, Shape())
    assert program is not None
    prepared = prepare(program.name, program.text(), [])
    assert isinstance(prepared, Subject)
    plan = {program.name: Plan(run=(), small=({"n": 4, "m": 5},))}
    right = replace(prepared, python=program)
    assert check([right], plan, compiler=find_compiler()) == []
    wrong = next(small for small in smaller(program) if set(Layout.of(small).lowest) == set(Layout.of(program).lowest)
                 and python_text(small) != python_text(program))
    found = check([replace(prepared, python=wrong)], plan, compiler=find_compiler())
    assert [(f.configuration, f.kind) for f in found] == [("python", "interpreter")]
    assert found[0].detail.startswith("in plain Python ")


def test_random_steps_are_legal_and_repeatable() -> None:
    prepared = prepare("f", SOURCE.replace("A[i - 1]", "2 *"), [])
    assert isinstance(prepared, Subject)
    schedule = ALGORITHMS["original"](analyse(prepared.scop))
    applied = {step.NAME for seed in range(25) for step in random_steps(schedule, seed=seed, count=3).steps}
    assert len(applied) >= 8
    assert random_steps(schedule, seed=4, count=3).steps == random_steps(schedule, seed=4, count=3).steps
