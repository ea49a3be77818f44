"""A database goes to lines of JSON and back, and merges with others."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from polysched.errors import UsageError
from polysched.search.database import Database, DatabaseError
from polysched.search.exchange import lines_of, merge
from tests.search.test_database import filled


def test_lines_give_the_same_database(tmp_path: Path):
    filled(tmp_path / "a.db")
    with Database(tmp_path / "a.db") as first, Database(tmp_path / "b.db") as second:
        lines = list(lines_of(first))
        (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
        assert merge(second, tmp_path / "a.jsonl") == len(lines) == 4
        assert list(lines_of(second)) == lines
        assert merge(second, tmp_path / "a.db") == 0
        assert second.winners() == first.winners()


def test_the_larger_gain_stays(tmp_path: Path):
    filled(tmp_path / "a.db")
    with Database(tmp_path / "a.db") as database:
        winner = next(json.loads(line) for line in lines_of(database) if line.startswith('["winners"'))
        for low, added in ((1.5, 0), (1.85, 1)):
            changed = json.loads(winner[4])
            changed["gain"] = {"median": 2.5, "interval": [low, 3.0], "pairs": 25}
            (tmp_path / "w.jsonl").write_text(json.dumps([*winner[:4], json.dumps(changed)]))
            assert merge(database, tmp_path / "w.jsonl") == added
        assert database.winners()[0].gain.low == 1.85


@pytest.mark.parametrize(("column", "cell"), [(1, []), (1, 2), (5, 2**70), (5, -1), (5, "1"), (3, None)])
def test_cells_of_another_kind_are_refused(column, cell, tmp_path):
    filled(tmp_path / "a.db")
    with Database(tmp_path / "a.db") as database:
        lines = [json.loads(line) for line in lines_of(database)]
    for line in lines:
        if line[0] == "trials":
            line[column] = cell
    (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with Database(tmp_path / "new.db") as database, pytest.raises(DatabaseError):
        merge(database, tmp_path / "bad.jsonl")


@pytest.mark.parametrize(("table", "column", "change"), [
    ("tasks", 2, lambda _: "\ud800"), ("trials", 4, lambda _: "[" * 100000),
    ("trials", 4, lambda text: json.dumps({**json.loads(text), "predicted_seconds": 10**400}))])
def test_values_that_python_or_sqlite_cannot_hold_are_refused(table, column, change, tmp_path):
    filled(tmp_path / "a.db")
    with Database(tmp_path / "a.db") as database:
        lines = [json.loads(line) for line in lines_of(database)]
    for line in lines:
        if line[0] == table:
            line[column] = change(line[column])
    (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with Database(tmp_path / "new.db") as database, pytest.raises(DatabaseError):
        merge(database, tmp_path / "bad.jsonl")


def test_a_winner_of_ones_own_that_says_nothing_is_refused(tmp_path):
    filled(tmp_path / "a.db")
    filled(tmp_path / "b.db")
    with closing(sqlite3.connect(tmp_path / "b.db")) as damaged, damaged:
        damaged.execute("UPDATE winners SET value = '{}'")
    with Database(tmp_path / "b.db") as database, pytest.raises(DatabaseError):
        merge(database, tmp_path / "a.db")


@pytest.mark.parametrize("line", ["{}", "[]", "x", '["trials", 1]', '["sqlite_master", "a", "b", "c", "d"]',
                                  '["tasks", "a", "b", "c", "d", "e"]', "[" * 100000])
def test_lines_that_are_no_records_are_refused_and_nothing_is_added(line, tmp_path):
    filled(tmp_path / "a.db")
    with Database(tmp_path / "a.db") as database:
        lines = list(lines_of(database))
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines, line]))
    with Database(tmp_path / "new.db") as database:
        with pytest.raises(DatabaseError):
            merge(database, tmp_path / "bad.jsonl")
        assert list(database.rows()) == []
        with pytest.raises(UsageError):
            merge(database, tmp_path / "none.jsonl")
