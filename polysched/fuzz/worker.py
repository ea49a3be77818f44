"""The child process of `campaign`: check a few programs, or shrink one."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from polysched.fuzz.checking import Finding, Plan, Subject, check, prepare
from polysched.fuzz.configuration import Configuration, random_configurations
from polysched.fuzz.generator import Shape, generate
from polysched.fuzz.program import Program
from polysched.fuzz.shrinking import shrink
from polysched.measure.child_side import Reporter, start
from polysched.measure.instance_trace import instance_count
from polysched.target import find_compiler

RUN_SIZES = ({"n": 1, "m": 2}, {"n": 4, "m": 3}, {"n": 5, "m": 7}, {"n": 8, "m": 6}, {"n": 13, "m": 11},
             {"n": 37, "m": 41})
SMALL_SIZES = ({"n": 11, "m": 12}, {"n": 8, "m": 9},
               {"n": 5, "m": 6}, {"n": 4, "m": 5}, {"n": 4, "m": 3}, {"n": 3, "m": 2}, {"n": 2, "m": 2})
MOST_INSTANCES_SMALL = 250
MOST_INSTANCES_RUN = 200_000


def main(arguments: list[str]) -> None:
    request, reporter = start(arguments)
    shape = Shape(data_dependent=request["data_dependent"])
    if "shrink" in request:
        shrink_program(request, shape, reporter)
    else:
        check_programs(request["check"], shape, reporter)
    reporter.report(end="finished")


def check_programs(seeds: Iterable[int], shape: Shape, reporter: Reporter) -> None:
    """Report one result per program; while a program is extracted and scheduled, its number is on record."""
    prepared: dict[int, Subject | Finding] = {}
    configurations = {}
    for seed in seeds:
        reporter.report(seed=seed, phase=f"scheduling program {seed}")
        configurations[seed] = random_configurations(seed)
        prepared[seed] = prepare(f"p{seed}", generate(seed, shape=shape).text(), configurations[seed])
    reporter.report(seed=None, phase="checking")
    findings = check_prepared(prepared.values())
    for seed in prepared:
        found = [asdict(f) for f in findings if f.subject == f"p{seed}"]
        reporter.report(result={"seed": seed, "configurations": len(configurations[seed]), "findings": found})


def check_prepared(prepared: Iterable[Subject | Finding]) -> list[Finding]:
    """Findings of programs at sizes that suit them."""
    subjects = [p for p in prepared if isinstance(p, Subject)]
    findings = [p for p in prepared if isinstance(p, Finding)]
    plans = {s.name: plan_for(s) for s in subjects}
    with tempfile.TemporaryDirectory(prefix="polysched-fuzz-") as folder:
        return findings + check(subjects, plans, compiler=find_compiler(), folder=Path(folder))


def plan_for(subject: Subject) -> Plan:
    """Sizes with at least some and not too many instances."""
    def instances(sizes: Mapping[str, int]) -> int:
        return instance_count(subject.scop, subject.parameters(sizes))

    small = next((sizes for sizes in SMALL_SIZES if instances(sizes) <= MOST_INSTANCES_SMALL), SMALL_SIZES[-1])
    run = tuple(sizes for sizes in RUN_SIZES if instances(sizes) <= MOST_INSTANCES_RUN)
    return Plan(run=run or RUN_SIZES[:1], small=(small,))


def shrink_program(request: Mapping[str, Any], shape: Shape, reporter: Reporter) -> None:
    """Report ever smaller programs that show a finding of the same kind in the same configuration."""
    finding = Finding(**request["finding"])
    program = generate(request["shrink"], shape=shape)
    configurations = [c for c in random_configurations(request["shrink"]) if c.label == finding.configuration]
    deadline = time.monotonic() + request["seconds"]
    reporter.report(text=program.text())

    def fails(candidate: Program) -> bool:
        if time.monotonic() > deadline or not shows(candidate, configurations, finding):
            return False
        reporter.report(text=candidate.text())
        return True

    if finding.configuration and shows(program, configurations, finding):
        shrink(program, fails)


def shows(program: Program, configurations: Iterable[Configuration], finding: Finding) -> bool:
    """Whether a program has a finding like this one."""
    found = check_prepared([prepare(program.name, program.text(), configurations)])
    return any(f.kind == finding.kind and f.configuration == finding.configuration for f in found)


if __name__ == "__main__":
    main(sys.argv)
