"""Comparing two files of an experiment: only our variants, beyond noise, and never across machines by accident."""

import dataclasses
from pathlib import Path

import pytest

from polysched.errors import UsageError
from polysched.experiment import record as records
from polysched.experiment.record import Record
from polysched.measure.compare_results import Verdict
from polysched.report import Results, read_results
from polysched.report.comparison import VariantChange, compare_variants
from tests.cli.command import polysched
from tests.report.made_results import MACHINE, contest


def results_of(path: Path, *made: Record) -> Results:
    for record in made:
        records.append(path, record)
    return read_results([path])


def only(changes: tuple[VariantChange, ...]) -> VariantChange:
    (change,) = changes
    return change


@pytest.mark.parametrize(("after", "verdict"), [
    (1.0, Verdict.SAME), (0.5, Verdict.FASTER), (2.0, Verdict.SLOWER), (0.97, Verdict.SAME), (0.0, Verdict.BROKEN)])
def test_verdicts(tmp_path: Path, after: float, verdict: Verdict) -> None:
    old = results_of(tmp_path / "a", contest("x", {"numpy": 3.0, "polysched": 1.0, "torch": 1.0}))
    new = results_of(tmp_path / "b", contest("x", {"numpy": 3.0, "polysched": after, "torch": 9.0}))
    change = only(compare_variants(old, new))
    assert change.verdict is verdict
    assert change.is_worse is (verdict in (Verdict.SLOWER, Verdict.BROKEN))
    assert change.name == "peers & us x, 2 threads"


def test_new_gone_and_repaired(tmp_path: Path) -> None:
    wrong, right = ({"numpy": 3.0, "polysched": seconds} for seconds in (0.0, 1.0))
    old = results_of(tmp_path / "a", contest("x", wrong), contest("y", right))
    new = results_of(tmp_path / "b", contest("x", right), contest("z", right))
    assert [c.verdict for c in compare_variants(old, new)] == [Verdict.REPAIRED, Verdict.GONE, Verdict.NEW]


def test_a_single_repeat_says_nothing(tmp_path: Path) -> None:
    def once(seconds: float) -> Record:
        made = contest("x", {"numpy": 3.0, "polysched": seconds})
        for variant in made.values["contest"]["variants"]:
            variant["rounds"] = {"0": variant["rounds"]["0"]}
        return made
    old, new = results_of(tmp_path / "a", once(1.0)), results_of(tmp_path / "b", once(2.0))
    assert only(compare_variants(old, new)).verdict is Verdict.SAME


def test_refusals(tmp_path: Path) -> None:
    old = results_of(tmp_path / "a", contest("x", {"numpy": 3.0, "polysched": 1.0}))
    elsewhere = dataclasses.replace(contest("x", {"numpy": 3.0, "polysched": 1.0}), key="other",
                                    machine=dataclasses.asdict(MACHINE) | {"isa": [], "cpu": "another"})
    with pytest.raises(UsageError, match="several machines"):
        compare_variants(old, results_of(tmp_path / "b", elsewhere))
    with pytest.raises(UsageError, match="no case with a variant polysched in common"):
        compare_variants(old, results_of(tmp_path / "c", contest("other", {"numpy": 3.0, "polysched": 1.0})))


def test_the_command_takes_both_kinds_but_not_mixed(tmp_path: Path) -> None:
    from polysched.measure import results
    from tests.report.made_results import measured
    results_of(tmp_path / "a", contest("x", {"numpy": 3.0, "polysched": 1.0}))
    results_of(tmp_path / "b", contest("x", {"numpy": 3.0, "polysched": 2.0}))
    results.append(tmp_path / "m", measured("f"))
    done = polysched("compare", "a", "b", folder=tmp_path)
    assert done.returncode == 5, done.stderr
    assert "slower" in done.stdout
    assert polysched("compare", "a", "a", folder=tmp_path).returncode == 0
    assert "files of the same kind" in polysched("compare", "a", "m", folder=tmp_path).stderr
