"""The child process of `campaign`: check a few programs, or shrink one."""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any

from polysched.fuzz.checking import ORIGINAL, Finding, Plan, Subject, check, prepare
from polysched.fuzz.configuration import Configuration
from polysched.fuzz.generator import Shape
from polysched.fuzz.kinds import AFFINE, PROGRAM_KINDS, ProgramKind
from polysched.fuzz.program import Program
from polysched.fuzz.python_check import python_variant
from polysched.fuzz.shrinking import shrink
from polysched.fuzz.time_limit import watchdog
from polysched.measure.processes.child_side import Reporter, start
from polysched.measure.programs.instance_trace import instance_count
from polysched.target import find_compiler

RUN_SIZES = ({"n": 1, "m": 2}, {"n": 4, "m": 3}, {"n": 5, "m": 7}, {"n": 8, "m": 6}, {"n": 13, "m": 11},
             {"n": 37, "m": 41})
SMALL_SIZES = ({"n": 11, "m": 12}, {"n": 8, "m": 9},
               {"n": 5, "m": 6}, {"n": 4, "m": 5}, {"n": 4, "m": 3}, {"n": 3, "m": 2}, {"n": 2, "m": 2})
FEW_SIZES = (RUN_SIZES[0], RUN_SIZES[2], RUN_SIZES[5])
MOST_INSTANCES_SMALL = 250
MOST_INSTANCES_RUN = 200_000
WATCHDOG_FACTOR = 10
WARM_UP = """\
void f(int n, double A[n], double B[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        A[i] = A[i - 1] + B[i];
#pragma endscop
}
"""


def main(arguments: list[str]) -> None:
    request, reporter = start(arguments)
    shape, kind = Shape(**request["shape"]), PROGRAM_KINDS[request["programs"]]
    if "shrink" in request:
        shrink_program(request, kind, shape, reporter)
    else:
        check_programs(request, kind, shape, reporter)
    reporter.report(end="finished")


def check_programs(request: Mapping[str, Any], kind: ProgramKind, shape: Shape, reporter: Reporter) -> None:
    """Report one result per program; while a program is extracted and scheduled, its number is on record.

    A configuration that needs more than `budget_seconds` for that is given up; one that does not even stop then ends
    this process, which leaves its stack behind (`watchdog`).
    """
    _warm_up()
    gc.disable()  # isl objects make no cycles to speak of, and the process is short
    prepared: dict[int, list[Subject | Finding]] = {}
    configurations: dict[int, tuple[Configuration, ...]] = {}
    seconds: dict[int, float] = {}
    for seed in request["check"]:
        reporter.report(seed=seed, phase=f"scheduling program {seed}")
        configurations[seed] = kind.configurations(seed)
        started = time.monotonic()
        budget: float = request["budget_seconds"]
        with watchdog(WATCHDOG_FACTOR * budget):
            prepared[seed] = [prepare(f"p{seed}", kind.program(seed, shape).text(), configurations[seed],
                                      on_progress=lambda label: reporter.report(configuration=label), seconds=budget,
                                      recipe=kind.recipe, schedules=kind.schedules, operations=kind.operations),
                              *(_in_python(seed, shape, budget) if kind.in_python else ())]
        seconds[seed] = time.monotonic() - started
    reporter.report(seed=None, phase="checking")
    started = time.monotonic()
    findings = check_prepared([*chain.from_iterable(prepared.values())], kind, on_progress=reporter.phase)
    share = (time.monotonic() - started) / len(prepared)
    for seed in prepared:
        found = [asdict(f) for f in findings if f.subject in (f"p{seed}", f"p{seed}d")]
        kinds = [s.kinds for s in prepared[seed] if isinstance(s, Subject)]
        reporter.report(result={"seed": seed, "configurations": len(configurations[seed]), "findings": found,
                                "kinds": kinds[0] if kinds else {}, "seconds": seconds[seed] + share})


def _warm_up() -> None:
    """Load what is loaded when it is first used: a limit must not strike in the middle of an import."""
    prepare("warm_up", WARM_UP, [Configuration(scheduler="pluto", sizes=2), Configuration(scheduler="isl")])


def _in_python(seed: int, shape: Shape, seconds: float) -> Iterator[Subject | Finding]:
    """The program with doubles for all floats, to be compared with its text in Python."""
    variant = python_variant(seed, shape)
    if variant is not None:
        subject = prepare(variant.name, variant.text(), (), seconds=seconds)
        yield replace(subject, python=variant) if isinstance(subject, Subject) else subject


def check_prepared(prepared: Sequence[Subject | Finding], kind: ProgramKind = PROGRAM_KINDS[AFFINE], *,
                   on_progress: Callable[[str], None] = lambda _: None) -> list[Finding]:
    """Findings of programs at sizes that suit them."""
    subjects = [p for p in prepared if isinstance(p, Subject)]
    findings = [p for p in prepared if isinstance(p, Finding)]
    plans = {s.name: plan_for(s, kind) for s in subjects}
    with tempfile.TemporaryDirectory(prefix="polysched-fuzz-") as folder:
        return findings + check(subjects, plans, compiler=find_compiler(), folder=Path(folder),
                                on_progress=on_progress)


def plan_for(subject: Subject, kind: ProgramKind) -> Plan:
    """Sizes with at least some and not too many instances."""
    if not kind.schedules:
        return Plan(run=FEW_SIZES, small=())

    def instances(sizes: Mapping[str, int]) -> int:
        return instance_count(subject.scop, subject.parameters(sizes))

    small = next((sizes for sizes in SMALL_SIZES if instances(sizes) <= MOST_INSTANCES_SMALL), SMALL_SIZES[-1])
    run = tuple(sizes for sizes in RUN_SIZES if instances(sizes) <= MOST_INSTANCES_RUN)
    return Plan(run=run or RUN_SIZES[:1], small=(small,))


def shrink_program(request: Mapping[str, Any], kind: ProgramKind, shape: Shape, reporter: Reporter) -> None:
    """Report ever smaller programs that show a finding of the same kind in the same configuration."""
    finding = Finding(**request["finding"])
    program = kind.program(request["shrink"], shape)
    configurations = [c for c in kind.configurations(request["shrink"]) if c.label == finding.configuration]
    deadline = time.monotonic() + request["seconds"]
    reporter.report(text=program.text())

    def fails(candidate: Program) -> bool:
        if time.monotonic() > deadline or not shows(candidate, configurations, finding, kind):
            return False
        reporter.report(text=candidate.text())
        return True

    if finding.configuration and shows(program, configurations, finding, kind):
        shrink(program, fails)


def shows(program: Program, configurations: Iterable[Configuration], finding: Finding, kind: ProgramKind) -> bool:
    """Whether a program has a finding like this one, and is itself free of undefined behaviour."""
    found = check_prepared([prepare(program.name, program.text(), configurations, recipe=kind.recipe,
                                    schedules=kind.schedules, operations=kind.operations)], kind)
    if finding.configuration != ORIGINAL and any(f.configuration == ORIGINAL for f in found):
        return False
    return any(f.kind == finding.kind and f.configuration == finding.configuration for f in found)


if __name__ == "__main__":
    main(sys.argv)
