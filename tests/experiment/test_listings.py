"""Listings in records: short, complete, and refused when they are something else."""

from pathlib import Path

import pytest

from polysched.errors import UsageError
from polysched.experiment.listings import pack, report_values, unpack
from polysched.measure.measurement import Listing
from polysched.report.from_records import entry_of_record
from tests.report.made_results import contest

LISTING = Listing(line=3, original="A[i] = 0; /* \udce9 */\n" * 200, schedule="band\n",
                  transformed="A[c0] = 0;\n" * 300)


def test_what_is_packed_is_short_and_comes_back() -> None:
    packed = pack([LISTING, LISTING])
    assert unpack(packed) == (LISTING, LISTING)
    assert len(packed) < 400
    assert packed.isascii()


@pytest.mark.parametrize("text", ["no base64!", "aGVsbG8=", ""])
def test_something_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="the listings of a record cannot be read"):
        unpack(text)


def test_a_file_that_is_no_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"regions": [{}]}')
    with pytest.raises(UsageError, match="no report of polysched c2c"):
        report_values(tmp_path / "r.json")


def test_a_report_shows_the_listing_and_the_steps_of_a_record() -> None:
    entry = entry_of_record(contest("gemm", {"gcc": 1.0, "polysched": 0.5}, listings=pack([LISTING]), steps=["band 0"]))
    assert entry.listings == (LISTING,)
    assert entry.steps == ("band 0",)


def test_repeats_are_rows_and_older_files_can_be_read() -> None:
    record = contest("gemm", {"gcc": 0.25})
    variant = record.values["contest"]["variants"][0]
    assert [len(row) for row in variant["rounds"]["0"]] == [4 + len(variant["events"])]
    for newer in ("events", "warmups", "build"):
        del variant[newer]
    variant["rounds"] = {"0": [[0.75, 0.75, 0.75, 0]]}
    assert entry_of_record(record).variants[0].seconds == 0.75
    variant["rounds"] = {"0": [{"wall_seconds": 0.5, "thread_cpu_seconds": 0.5, "process_cpu_seconds": 0.5,
                                "involuntary_switches": 0}]}
    assert entry_of_record(record).variants[0].seconds == 0.5
