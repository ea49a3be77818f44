"""The child of a campaign: one result per program, sizes that suit it, and smaller programs with the same finding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from polysched.fuzz import worker
from polysched.fuzz.affine import Affine
from polysched.fuzz.checking import ORIGINAL, Finding, Subject, prepare
from polysched.fuzz.configuration import Configuration
from polysched.fuzz.kinds import AFFINE, CONTRACTIONS, PROGRAM_KINDS, ProgramKind
from polysched.fuzz.program import Program, Reference, Statement, Term, walk
from polysched.measure.processes.child_side import Reporter
from tests.fuzz.loops import I_, N, assign, loop
from tests.measure.told import Told

A = Reference("A", (I_,))
WRONG = Finding(subject="f", configuration="isl_off", kind="result", detail="A[0] is 1 instead of 2")
ISL, PLUTO = Configuration(scheduler="isl"), Configuration(scheduler="pluto")


def square(depth: int, *, upper: Affine = N) -> Program:
    nest: Any = assign(Reference("A", tuple(Affine(((f"i{d}", 1),)) for d in range(depth))), Term("1"))
    for d in reversed(range(depth)):
        nest = loop(f"i{d}", nest, upper=upper)
    return Program("f", ("n", "m"), {"A": "unsigned"}, (nest,))


def subject(program: Program) -> Subject:
    prepared = prepare(program.name, program.text(), ())
    assert isinstance(prepared, Subject)
    return prepared


def test_sizes_have_instances_but_not_too_many() -> None:
    kind = PROGRAM_KINDS[AFFINE]
    line, cube = worker.plan_for(subject(square(1)), kind), worker.plan_for(subject(square(4)), kind)
    assert line.run == worker.RUN_SIZES
    assert line.small == worker.SMALL_SIZES[:1]
    assert cube.run == tuple(s for s in worker.RUN_SIZES if s["n"] ** 4 <= worker.MOST_INSTANCES_RUN)
    assert [s["n"] ** 4 <= worker.MOST_INSTANCES_SMALL for s in cube.small] == [True]
    assert len(cube.small) == 1


def test_the_smallest_sizes_are_taken_where_all_have_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "instance_count", lambda scop, sizes: 10**9)
    plan = worker.plan_for(subject(square(1)), PROGRAM_KINDS[AFFINE])
    assert (plan.run, plan.small) == (worker.RUN_SIZES[:1], worker.SMALL_SIZES[-1:])
    assert worker.plan_for(subject(square(1)), PROGRAM_KINDS[CONTRACTIONS]).small == ()


def test_a_finding_on_the_way_needs_no_check() -> None:
    assert worker.check_prepared([WRONG]) == [WRONG]


def findings_of(monkeypatch: pytest.MonkeyPatch, *found: Finding) -> None:
    monkeypatch.setattr(worker, "prepare", lambda name, text, configurations, **other: found[0] if found else WRONG)
    monkeypatch.setattr(worker, "check_prepared", lambda prepared, kind=None, **other: list(found))


@pytest.mark.parametrize(("found", "shown"), [
    ((), False), ((WRONG,), True), ((Finding(**vars(WRONG) | {"detail": "another element"}),), True),
    ((Finding(**vars(WRONG) | {"kind": "order"}),), False),
    ((Finding(**vars(WRONG) | {"configuration": "pluto_off"}),), False),
    ((WRONG, Finding(**vars(WRONG) | {"configuration": ORIGINAL, "kind": "run"})), False)])
def test_a_smaller_program_shows_the_same_in_the_same_configuration(
        found: tuple[Finding, ...], shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    findings_of(monkeypatch, *found)
    assert worker.shows(square(1), [ISL], WRONG, PROGRAM_KINDS[AFFINE]) == shown


def test_a_fault_of_the_original_may_be_the_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Finding(**vars(WRONG) | {"configuration": ORIGINAL})
    findings_of(monkeypatch, own)
    assert worker.shows(square(1), [], own, PROGRAM_KINDS[AFFINE])


def kind(program: Program) -> ProgramKind:
    return ProgramKind(lambda seed, shape: program, lambda seed: (PLUTO, ISL))


def shrunk(program: Program, monkeypatch: pytest.MonkeyPatch, *, seconds: float = 1e9, finding: Finding = WRONG
           ) -> tuple[list[str], list[list[str]]]:
    """Texts that are reported of a program that is wrong while it reads B, and the configurations that were asked."""
    asked: list[list[str]] = []

    def prepared(name: str, text: str, configurations: Iterable[Configuration], **other: Any) -> Finding:
        asked.append([c.label for c in configurations])
        return Finding(**vars(WRONG) | {"detail": text})

    monkeypatch.setattr(worker, "prepare", prepared)
    monkeypatch.setattr(worker, "check_prepared", lambda found, kind=None: [
        f for f in found if "B[" in f.detail.split("#pragma scop")[1]])
    told = Told()
    request = {"finding": vars(finding), "shrink": 1, "seconds": seconds}
    worker.shrink_program(request, kind(program), cast(Any, None), cast(Reporter, told))
    return [r["text"] for r in told.reports], asked


def larger() -> Program:
    b = Reference("B", (I_,))
    body = (loop("i", assign(A, Term("2", b), Term("3"), op="+="), assign(A, Term("1", I_)), step=2), loop("i", assign(
        A, Term("5"))))
    return Program("f", ("n",), {"A": "unsigned", "B": "unsigned"}, body)


def test_what_is_not_needed_for_the_finding_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, asked = shrunk(larger(), monkeypatch)
    assert texts[0] == larger().text()
    assert len(texts[-1]) < len(texts[0])
    assert texts[-1].count("=") < texts[0].count("=")
    assert "B[" in texts[-1]
    assert {tuple(a) for a in asked} == {("isl_off",)}


def test_nothing_is_tried_of_what_does_not_show_it_or_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(shrunk(square(1), monkeypatch)[0]) == 1
    assert len(shrunk(larger(), monkeypatch, seconds=-1)[0]) == 1
    assert shrunk(larger(), monkeypatch, finding=Finding(**vars(WRONG) | {"configuration": ""}))[1] == []


def test_every_program_has_one_result_with_its_own_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(worker, "_warm_up", lambda: None)
    monkeypatch.setattr(worker.gc, "disable", lambda: None)
    monkeypatch.setattr(worker, "_in_python", lambda seed, shape, seconds: iter(()))
    monkeypatch.setattr(worker, "prepare", lambda name, text, configurations, **other: Finding(
        **vars(WRONG) | {"subject": name}))

    def checked(prepared: Sequence[Finding], kind: ProgramKind, **other: Any) -> list[Finding]:
        return [*prepared, Finding(**vars(WRONG) | {"subject": "p3d"}), Finding(**vars(WRONG) | {"subject": "p33"})]

    monkeypatch.setattr(worker, "check_prepared", checked)
    told = Told()
    worker.check_programs({"check": [3, 33, 4], "budget_seconds": 5.0}, kind(square(1)), cast(Any, None),
                          cast(Reporter, told))
    results = [r["result"] for r in told.reports if "result" in r]
    assert [r["seed"] for r in results] == [3, 33, 4]
    assert [[f["subject"] for f in r["findings"]] for r in results] == [["p3", "p3d"], ["p33", "p33"], ["p4"]]
    assert all(r["configurations"] == 2 and r["kinds"] == {} for r in results)
    assert [r["seed"] for r in told.reports if r.get("phase", "").startswith("scheduling")] == [3, 33, 4]
    assert not list(tmp_path.iterdir())   # the watchdog's file is gone


def test_the_python_of_a_program_is_a_subject_of_its_own() -> None:
    seed = next(s for s in range(100) if worker.python_variant(s, worker.Shape()) is not None)
    (found,) = worker._in_python(seed, worker.Shape(), 60.0)
    assert isinstance(found, Subject)
    assert found.name == f"p{seed}d"
    assert found.python is not None
    assert all(not n.declares for n in walk(found.python.body) if isinstance(n, Statement))
