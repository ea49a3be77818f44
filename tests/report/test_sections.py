"""Sections of a report: measurements first, each experiment with its own table, and which variant is ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polysched.report.entry import Entry, Variant
from polysched.report.reading import Results
from polysched.report.sections import RUNS, Section, reached, sections
from tests.experiment.toy import write_toy
from tests.report.made_results import record
from tests.report.test_entry import FULL


def section(*names: str, reference: str = "gcc", missing: tuple[str, ...] = ()) -> Section:
    variants = [Variant(name=n, seconds=2.0) for n in names]
    variants += [Variant(name=n, problem="missing: x") for n in missing]
    return Section(title="a b", question="", entries=(replace(FULL, reference=reference, variants=tuple(variants)),))


@pytest.mark.parametrize(("names", "ours"), [
    (("gcc", "icc", "polysched"), "polysched"), (("gcc", "polysched@4", "polysched"), "polysched@4"),
    (("gcc", "icc"), "icc"), (("gcc",), ""), (("gcc", "polyschedule", "polysched"), "polysched")])
def test_ours_is_the_one_of_our_name_or_the_first_beside_the_reference(names: tuple[str, ...], ours: str) -> None:
    assert section(*names).ours == ours
    assert section(*names).names == tuple(n for n in names if n != "gcc")


def test_what_was_missing_everywhere_is_named_apart() -> None:
    own = section("gcc", "polysched", missing=("icc", "polysched"))
    assert own.missing == ("icc",)
    assert own.names == ("polysched",)


def test_rates_are_by_position_among_the_timed() -> None:
    own = section("gcc", "polysched")
    (full,) = own.entries
    untimed = replace(full, variants=(), problem="it crashed")
    both = replace(own, entries=(untimed, full, replace(full, work=None)))
    assert both.timed == (full, replace(full, work=None))
    assert both.rates == {0: ["200 FLOP/s", "0.0%", "0%"], 1: ["", "", ""]}
    assert replace(own, entries=(replace(full, work=None),)).rates == {}


def test_shares_are_left_out_where_a_limit_is_unknown() -> None:
    fast = Variant(name="a", seconds=400 / 40e9)
    assert [cell.replace("\u00a0", " ") for cell in reached(FULL, fast)][1:] == ["50.0%", "50%"]
    assert reached(replace(FULL, peaks=None, known_peak=80e9), fast)[1:] == ["50.0%", ""]
    assert reached(replace(FULL, peaks=None), fast)[1:] == ["", ""]
    assert reached(FULL, Variant(name="a")) == ["", "", ""]


def entry(group: str) -> Entry:
    return replace(FULL, group=group)


def test_an_experiment_is_shown_with_its_own_table_where_it_is_found(tmp_path: Path,
                                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    write_toy(tmp_path)
    monkeypatch.chdir(tmp_path)
    good = replace(record("one", count=3), experiment="toy")
    bad = replace(record("two", status="crashed"), experiment="toy")
    entries = tuple(map(entry, ("toy", "", "elsewhere", "toy")))
    runs, elsewhere, toy = sections(Results(paths=(), entries=entries, records=(good, bad)))
    assert (runs.title, runs.own_table, len(runs.entries)) == (RUNS, "", 1)
    assert (elsewhere.title, elsewhere.question) == ("elsewhere", "")
    assert (toy.question, len(toy.entries)) == ("Does the driver do what it says?", 2)
    assert "one" in toy.own_table
    assert "two" not in toy.own_table
    assert "<svg" in toy.own_plot
    (failed,) = sections(Results(paths=(), entries=(entry("toy"),), records=(bad,)))
    assert (failed.question != "", failed.own_table, failed.own_plot) == (True, "", "")
