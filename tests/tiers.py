"""Three tiers: quick tests, the whole suite, and campaigns.

Quick is every test but those of functions that a record names: those took long on average when it was made.  Campaigns
are parameters of functions that take long in all: the suite runs some of these, evenly spread, and a record names the
others.  A new test is quick, and no campaign, until the next record.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from math import sqrt
from pathlib import Path
from statistics import median_low
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
RECORD = Path(__file__).with_name("not_quick.txt")
CAMPAIGN = Path(__file__).with_name("campaign.txt")
MOST_OF_A_FUNCTION = 0.1
"""Seconds that the tests of one function may take in all, over their parameters; of what takes t seconds in all stay
parameters that take the geometric mean of both: two at least, or one where each is `LONG`."""
LONG = 3.5
"""How many times as long as `MOST_OF_A_FUNCTION` parameters take on average of which one stays."""
MOST_OF_SUBJECTS = 2.0
"""The same where every parameter is a subject of its own."""
OF_SUBJECTS = frozenset({
    "tests/emit_c/test_golden.py::test_tiled_kernel",
    "tests/emit_c/test_passes.py::test_before_and_after",
    "tests/graph/operators/test_registry.py::test_what_is_compiled_is_the_reference",
    "tests/graph/test_inventory.py::test_a_name_computes_what_numpy_does",
    "tests/kernels/test_definitions.py::test_a_kernel_computes_its_definition",
    "tests/notebook/test_notebooks.py::test_notebook_runs_and_is_committed_with_its_outputs",
    "tests/scheduling/test_golden_schedules.py::test_golden_schedule",
    "tests/scheduling/test_index_sets.py::test_golden_schedule",
    "tests/scop/python_frontend/test_elementwise.py::test_what_a_kernel_computes_is_numpys",
    "tests/tensorize/conformance/test_conformance.py::test_the_instruction_does_what_its_text_says",
    "tests/tensorize/conformance/test_conformance.py::test_the_matcher_sees_the_function_of_the_text",
    "tests/tensorize/conformance/test_cross_compile.py::test_the_c_of_an_instruction_compiles",
    "tests/tensorize/description/test_agreement.py::test_the_readings_of_shipped_texts_agree"})
"""Functions whose parameters are operators, instructions, goldens: what one does says little of the others."""
WHOLE = "tests/architecture/"
"""Where nothing is left to campaigns: a rule holds for every room."""
MOST_SECONDS = 0.02
"""What a function's tests take at most on average over their parameters for it to be quick."""


def and_campaign(few: Sequence[Any], every: Iterable[Any]) -> list[Any]:
    """Parameters of a test: a few cases, and those of all others left to campaigns."""
    return [*few, *(pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.campaign)
                    for case in every if case not in few)]


def function_of(nodeid: str) -> str:
    """A test's file and function, without its parameters."""
    return nodeid.split("[")[0]


def recorded() -> frozenset[str]:
    return frozenset(RECORD.read_text().split())


def in_campaign() -> frozenset[str]:
    """The node identifiers that only a campaign runs."""
    return frozenset(CAMPAIGN.read_text().splitlines())


@cache
def functions_of(path: str) -> frozenset[str]:
    """The functions of a test file as the record names them; none where there is no such file."""
    if not (ROOT / path).is_file():
        return frozenset()
    tree = ast.parse((ROOT / path).read_text())
    groups = [("", tree.body), *((f"{c.name}::", c.body) for c in tree.body if isinstance(c, ast.ClassDef))]
    return frozenset(f"{path}::{prefix}{f.name}" for prefix, body in groups for f in body
                     if isinstance(f, ast.FunctionDef))


def exists(name: str) -> bool:
    """Whether a function of the record is still there."""
    return name in functions_of(name.split("::")[0])


def renewed(earlier: Collection[str], seconds: Collection[tuple[str, float]]) -> list[str]:
    """The record after a run, which may be one of a few tests: what did not run stays, what is gone does not."""
    ran = {function_of(nodeid) for nodeid, _ in seconds}
    return sorted({*slow_functions(seconds), *(n for n in earlier if n not in ran and exists(n))})


def renewed_campaign(earlier: Collection[str], seconds: Collection[tuple[str, float]]) -> list[str]:
    """The other record after a run: of functions that ran what is new, of others what was."""
    ran = {function_of(nodeid) for nodeid, _ in seconds}
    return sorted({*left_to_campaigns(seconds), *(
        n for n in earlier if function_of(n) not in ran and exists(function_of(n)))})


def left_to_campaigns(seconds: Iterable[tuple[str, float]], *, most: float = MOST_OF_A_FUNCTION,
                      of_subjects: float = MOST_OF_SUBJECTS) -> list[str]:
    """The parameters of functions that take more than `most` seconds in all, without those that stay in the suite.

    Those that stay are the first, the last, and evenly spread between them; where one stays, it is one that takes as
    long as the others do in the median.

    Parameters
    ----------
    seconds : as for `slow_functions`.
    of_subjects : the seconds of functions in `OF_SUBJECTS`.
    """
    functions: dict[str, dict[str, float]] = defaultdict(dict)
    for nodeid, duration in seconds:
        own = functions[function_of(nodeid)]
        own[nodeid] = own.get(nodeid, 0.0) + duration
    left: list[str] = []
    for function, own in functions.items():
        names, total, limit = sorted(own), sum(own.values()), of_subjects if function in OF_SUBJECTS else most
        if total > limit and len(names) > 2 and not function.startswith(WHOLE):
            kept = max(1 if total > LONG * limit * len(names) else 2, int(len(names) * sqrt(limit / total)))
            stay = [names[round(k * (len(names) - 1) / (kept - 1))] for k in range(kept)] if kept > 1 else [
                min(own, key=lambda name: (abs(own[name] - median_low(own.values())), name))]
            left += [name for name in names if name not in stay]
    return sorted(left)


def slow_functions(seconds: Iterable[tuple[str, float]], *, most: float = MOST_SECONDS) -> list[str]:
    """The functions whose tests take more than `most` seconds on average.

    Parameters
    ----------
    seconds : node identifiers of tests, each with what its phases took; a test may occur several times.
    """
    taken: dict[str, float] = defaultdict(float)
    for nodeid, duration in seconds:
        taken[nodeid] += duration
    functions: dict[str, list[float]] = defaultdict(list)
    for nodeid, duration in taken.items():
        functions[function_of(nodeid)].append(duration)
    return sorted(name for name, durations in functions.items() if sum(durations) / len(durations) > most)
