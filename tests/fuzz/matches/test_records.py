"""Records of pairs: read back as written, counted by kind, and shown in columns."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from polysched.fuzz.matches.pairs import NEAR_MISS, SAME
from polysched.fuzz.matches.records import (
    FAULTS,
    HEADINGS,
    MATCHED,
    MOST_REASON,
    REFUSED,
    VERDICTS,
    PairRecord,
    as_lines,
    counted,
    last_line,
    summary_table,
)

ALL = [PairRecord(seed=seed, kind=kind, relation=relation, verdict=verdict, loaded=loaded, words=("scalar", "batched"))
       for seed, (kind, relation, verdict, loaded) in enumerate(itertools.product(
           ("b", "a"), (SAME, NEAR_MISS), VERDICTS, (True, False))) if loaded or verdict == REFUSED]


@pytest.mark.parametrize("record", [ALL[0], replace(ALL[0], reason="x" * MOST_REASON, milliseconds=0.25)])
def test_a_record_is_read_back(record: PairRecord) -> None:
    assert PairRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


def test_a_long_reason_is_cut_and_other_keys_are_passed_over() -> None:
    values = replace(ALL[0], reason="x" * 5000).to_json()
    assert len(values["reason"]) == MOST_REASON
    assert PairRecord.from_json({"seed": 4, "added later": 1}) == PairRecord(seed=4)


def test_what_is_a_fault_is_neither_matched_nor_refused() -> None:
    assert {v for v in VERDICTS if PairRecord(seed=0, verdict=v).is_fault} == set(FAULTS) == \
        set(VERDICTS) - {MATCHED, REFUSED}


def test_counts_are_those_of_the_records() -> None:
    counts = {c.kind: c for c in counted(ALL)}
    assert list(counts) == ["a", "b", "all"]
    for kind, count in counts.items():
        own = [r for r in ALL if kind in (r.kind, "all")]
        assert count.pairs == len(own)
        assert count.refused_descriptions == sum(not r.loaded for r in own)
        assert count.same == sum(r.relation == SAME and r.loaded for r in own)
        assert count.same_matched == sum(r.relation == SAME and r.verdict == MATCHED for r in own)
        assert count.near_misses_matched == sum(r.relation == NEAR_MISS and r.verdict == MATCHED for r in own)
        assert [count.wrong, count.crash, count.timeout] == [sum(r.verdict == v for r in own) for v in FAULTS]


def test_the_last_line_counts_every_pair_once() -> None:
    numbers = [int(part.split()[0]) for part in last_line(ALL).split(", ")]
    assert numbers[0] == sum(numbers[1:]) == len(ALL)
    assert last_line([]).startswith("0 pairs, 0 wrong")


def test_columns_are_aligned_and_shares_of_nothing_are_left_out() -> None:
    lines = summary_table(ALL).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].split()[0] == "a"
    assert "20%" in lines[1]
    assert summary_table([PairRecord(seed=0, kind="x", relation=NEAR_MISS, verdict=REFUSED)]).splitlines()[1].split() \
        == ["x", "1", "0", "0", "0", "-", "0", "0", "0", "0"]
    assert lines[0].startswith(HEADINGS[0])


def test_no_records_are_no_lines() -> None:
    assert as_lines(iter(())) == ""
