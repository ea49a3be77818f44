"""Campaigns of pairs: what is found, what is recorded, what hangs, and what is made smaller."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path

import pytest

from polysched.cli.entry import main
from polysched.fuzz.matches import campaign
from polysched.fuzz.matches.attempt import Emission
from polysched.fuzz.matches.campaign import MatchCampaign, run_pairs, save_faults
from polysched.fuzz.matches.harness import Version, compared
from polysched.fuzz.matches.pairs import PROGRAMS_PER_UNIT, SAME, Pair, described, pair
from polysched.fuzz.matches.records import (
    CRASH,
    MATCHED,
    TIMEOUT,
    VERDICTS,
    WRONG,
    PairRecord,
    as_lines,
    last_line,
    summary_table,
)
from polysched.fuzz.matches.shrinking import shrink, weight
from polysched.fuzz.matches.units import BRANCHES, FIRST_OF_BRANCHES
from polysched.fuzz.matches.worker import checked
from polysched.target import find_compiler
from tests.tiers import and_campaign

FIRST_WITH_BRANCHES = PROGRAMS_PER_UNIT * FIRST_OF_BRANCHES
RECORDS = [PairRecord(seed=1, kind="sum", relation=SAME, verdict=MATCHED, milliseconds=3.5),
           PairRecord(seed=2, kind="sum", relation=SAME, verdict="refused", reason="no"),
           PairRecord(seed=3, kind="sum", relation="near miss", miss="constant", verdict=WRONG, reason="element 0"),
           PairRecord(seed=4, kind="table", relation=SAME, loaded=False, verdict="refused", reason="no tables")]


def test_units_of_several_stages_match() -> None:
    """Their statements are matched together, tile by tile; what the emitted calls compute is compared."""
    pairs = [p for p in map(pair, range(24, 88)) if p.unit.kind == "stages" and p.relation == SAME and not p.words]
    assert pairs
    assert {o.verdict for o in checked(pairs)} == {MATCHED}


def same_pair() -> Pair:
    """A pair of plain sums, whose program is the description's loops."""
    return next(p for p in map(pair, range(2000)) if p.unit.kind == "sum of products" and p.relation == SAME
                and not p.programs[0].sizes)


def test_every_pair_has_one_record() -> None:
    told: list[int] = []
    records = run_pairs(MatchCampaign(pairs=5, seed=8, chunk=3, block=2, limit_seconds=30),
                        on_record=lambda r: told.append(r.seed))
    assert [r.seed for r in records] == [8, 9, 10, 11, 12]
    assert sorted(told) == [8, 9, 10, 11, 12]
    assert {r.verdict for r in records} <= set(VERDICTS)
    assert all(r.kind == pair(r.seed).unit.kind and r.reason and r.milliseconds > 0 for r in records)
    assert not any(r.is_fault for r in records), records


def test_a_pair_that_needs_too_long_is_a_record_and_the_others_go_on() -> None:
    records = run_pairs(MatchCampaign(pairs=2, seed=8, limit_seconds=0.002))
    assert [r.verdict for r in records] == [TIMEOUT, TIMEOUT]
    assert records[0].reason.startswith("not done after 0.002 seconds; it was in ")


def version(own: Pair, change: str, by: str) -> Version:
    """The program itself in the emitted program's place, with a part of its text replaced."""
    program = own.programs[0]
    region = "\n".join(program.lines(program.body, 1))
    assert change in region
    return Version(own, 0, 0, Emission(mapping="by hand", preamble="", region=region.replace(change, by, 1)))


@pytest.mark.parametrize(("change", "by", "found"), [
    ("] += ", "] += ", ""), ("] += ", "] -= ", "element 0 of array 0 is "),
    ("] += ", "] += nothing + ", "does not compile: error: "),
    ("] += ", "] += *(volatile int *)8 + ", "the emitted program ends with status -11")])
def test_what_an_emitted_program_does_is_found(change: str, by: str, found: str, tmp_path: Path) -> None:
    own = same_pair()
    what = compared([version(own, change, by)], tmp_path, find_compiler())[f"{own.seed}_0_0"]
    assert what.startswith(found) if found else what == ""


def test_a_bad_version_does_not_hide_the_others(tmp_path: Path) -> None:
    others = [*islice((p for p in map(pair, range(4000)) if p.unit.kind == "sum of products" and p.relation == SAME
                       and "] += " in p.programs[0].text()), 4)]
    bad = {1: "nothing + ", 2: "*(volatile int *)8 + "}
    versions = [version(p, "] += ", f"] += {bad.get(at, '')}") for at, p in enumerate(others)]
    found = compared(versions, tmp_path, find_compiler())
    assert [found[v.label][:20] for v in versions] == ["", "does not compile: er", "the emitted program ", ""]


def test_a_faulty_pair_is_made_smaller_while_it_stays_faulty() -> None:
    own = next(p for p in map(pair, range(4000)) if "uint8_t" in p.programs[0].text() and weight(p) > 500
               and "uint8_t" in p.unit.function.text())

    def fault(p: Pair) -> str | None:
        both = all("uint8_t" in f.text() for f in (p.programs[0], p.unit.function))
        return "bytes" if both else None

    found = shrink(own, fault, deadline=time.monotonic() + 20)
    assert fault(found) == "bytes"
    assert weight(found) < weight(own) / 2
    text = described(found, "bytes")
    assert "What is wrong: bytes" in text
    assert found.programs[0].text() in text


def test_the_table_has_the_share_of_same_pairs_that_match() -> None:
    assert [line.split() for line in summary_table(RECORDS).splitlines()[1:]] == [
        ["sum", "3", "0", "2", "1", "50%", "0", "1", "0", "0"], ["table", "1", "1", "0", "0", "-", "0", "0", "0", "0"],
        ["all", "4", "1", "2", "1", "50%", "0", "1", "0", "0"]]
    assert last_line(RECORDS) == "4 pairs, 1 wrong, 0 crashed, 0 over the time limit, 1 matched, 2 refused"


def test_records_are_lines_of_json() -> None:
    lines = [json.loads(line) for line in as_lines(RECORDS).splitlines()]
    assert [PairRecord.from_json(line) for line in lines] == RECORDS


def test_an_unexpected_exception_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr("polysched.fuzz.matches.worker.emissions", broken)
    (outcome,) = checked([same_pair()])
    assert outcome.verdict == CRASH
    assert outcome.reason.startswith("ZeroDivisionError: by hand | broken (")


def test_the_command_tells_and_stores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "pairs.jsonl"
    code = main(["fuzz", "--instructions", "--pairs", "2", "--seed", "8", "--jobs", "1", "--time-limit", "30",
                 "--results", str(results), "--save", str(tmp_path / "faults"), "-q"])
    assert code == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("2 pairs, 0 wrong, 0 crashed, 0 over the time limit, ")
    assert [json.loads(line)["seed"] for line in results.read_text().splitlines()] == [8, 9]
    assert main(["fuzz", "--instructions", "--pairs", "0", "-q"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("pairs", and_campaign([14], [64, 256]))
def test_no_pair_is_wrong_crashes_or_hangs(pairs: int) -> None:
    first = next(seed for seed in count(FIRST_WITH_BRANCHES) if pair(seed).unit.kind == BRANCHES)
    with ThreadPoolExecutor(2) as pool:   # sums and assignments of all kinds, and branches
        halves = list(pool.map(lambda seed: run_pairs(MatchCampaign(
            pairs=pairs // 2, seed=seed, chunk=pairs // 2, limit_seconds=60)), (2000, first)))
    records = [record for half in halves for record in half]
    assert any(r.kind == BRANCHES for r in halves[1])
    assert [(r.seed, r.verdict, r.reason) for r in records if r.is_fault] == []
    assert sum(r.verdict == MATCHED for r in records) > pairs // 7


def test_a_faulty_pair_that_gets_no_time_is_saved_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind Ctrl-C no child is started, which repeats a timeout before it says anything."""
    monkeypatch.setattr(campaign, "run_isolated", None)
    record = PairRecord(seed=8, kind="sum", relation=SAME, verdict=TIMEOUT, reason="not done after 10 seconds")
    (path,) = save_faults([record], MatchCampaign(pairs=1, seed=8, shrink_seconds=0.0), tmp_path)
    assert described(pair(8), record.reason) in path.read_text()
