"""Results as rows: the columns, what is unknown, CSV and pandas agree."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from polysched.experiment import record as records
from polysched.measure import results
from polysched.report import Results, read_results
from polysched.report.rows import FIRST, LAST, columns, rows
from tests.report.made_results import contest, measured, record


@pytest.fixture
def read(tmp_path: Path) -> Results:
    path = tmp_path / "r.jsonl"
    results.append(path, measured("product", ratio=3.0, seconds=0.0125))
    records.append(path, contest("case, \"one\"", {"polysched": 1.0, "numpy": 2.0, "wrong": 0.0}, found=7, many=[1, 2]))
    records.append(path, record("late", status="crashed", problem="signal 11"))
    return read_results([path])


def test_a_row_per_variant(read: Results) -> None:
    found = rows(read)
    assert [(row["kernel"], row.get("variant")) for row in found] == [
        ("product", "original"), ("product", "polysched"), ('case, "one"', "polysched"), ('case, "one"', "numpy"),
        ('case, "one"', "wrong"), ("late", None)]
    ours = found[1]
    assert ours["size.n"] == 1000
    assert ours["speed_up_low"] <= ours["speed_up"] <= ours["speed_up_high"]
    assert ours["flop_per_second"] == pytest.approx(1e9 / ours["seconds"])
    assert "seconds" not in found[4]
    assert "C[0] differs" in str(found[4]["problem"])
    assert found[5]["problem"] == "crashed: signal 11"
    assert (found[2]["value.found"], "value.many" in found[2]) == (7, False)


def test_csv_has_every_row_and_column(read: Results) -> None:
    back = list(csv.DictReader(io.StringIO(read.to_csv())))
    found = rows(read)
    assert [row["kernel"] for row in back] == [row["kernel"] for row in found]
    assert list(back[0]) == columns(found) == [*FIRST, "size.n", "size.M", *LAST, "value.found"]
    assert float(back[0]["seconds"]) == found[0]["seconds"]
    assert back[4]["seconds"] == ""


def test_pandas_agrees(read: Results) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed: polysched[report]")
    table = read.to_frame()
    assert len(table) == 6
    assert list(table.columns) == columns(rows(read))
    assert table.groupby("kernel")["speed_up"].max()["product"] == pytest.approx(3.0, rel=0.03)
    assert table["seconds"].isna().sum() == 2
