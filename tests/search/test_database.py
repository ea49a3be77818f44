"""Records are kept, found under other names, and refused where the file is damaged or hostile."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.errors import OutputError, UsageError
from polysched.measure.field import Verdict
from polysched.measure.timing.race import Gain
from polysched.pipeline.recipe import Recipe
from polysched.scop import from_c_text
from polysched.search import database as kept
from polysched.search.chooser import Decision
from polysched.search.database import Database, DatabaseError, Winner, opened
from polysched.search.identity import canonical_scop, key_of, place_of
from polysched.search.trial import Trial
from polysched.target import find_compiler
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, RENAMED, product

PACKED = Recipe(bands={0: BandOptions(sizes=(8, 16, 32), packed=("A",))})
TRIALS = (Trial(recipe=PACKED, trace=(Decision("edge", (8, 16)),), code="c1", predicted_seconds=0.5,
                pairs=((1.0, 0.5), (1.1, 0.6)), spills=3),
          Trial(recipe=Recipe(fusion="max"), code="c2", verdict=Verdict.WRONG, reason="C[0][0] is 1 instead of 2"))


def filled(path: Path) -> None:
    scop = canonical_scop(product())
    key = key_of(scop, {"n": 64}, place_of(OPTIONS, find_compiler(), threads=2, flags=()))
    with Database(path) as database:
        database.begin(key, "product")
        for trial in TRIALS:
            database.add(key, trial, scop)
        database.set_winner(Winner(key=key, name="product", recipe=PACKED.renamed(scop.to_canonical()), code="c1",
                                   gain=Gain(median=1.9, low=1.8, high=2.0, pairs=25)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    filled(tmp_path / "tuned.db")
    return tmp_path / "tuned.db"


def test_trials_come_back_in_order_under_the_programs_own_names(path):
    scop, other = canonical_scop(product()), canonical_scop(from_c_text(RENAMED))
    with Database(path, read_only=True) as database:
        ((key, name),) = database.tasks()
        assert name == "product"
        assert database.trials(key, scop) == TRIALS
        assert database.trials(key, other)[0].recipe.bands[0].packed == ("Left",)
        assert database.trials(key)[0].recipe.bands[0].packed == ("a1",)
        (winner,) = database.winners(other.digest)
        assert (winner.code, winner.gain.low) == ("c1", 1.8)
        assert database.winners("other") == ()
        assert database.verify() == 4
    assert str(winner).startswith("product(p0=64), 2 threads: gain 1.900 [1.800, 2.000] in 25 pairs: bands 0:")


def test_a_later_trial_of_a_recipe_replaces_the_earlier_one(path):
    scop = canonical_scop(product())
    with Database(path) as database:
        ((key, _),) = database.tasks()
        database.add(key, TRIALS[0], scop)
        assert len(database.trials(key)) == 2
        database.forget(key)
        assert database.trials(key) == ()
        assert database.winners() == ()


def test_a_new_file_is_in_wal_mode_and_empty(tmp_path):
    with Database(tmp_path / "new.db") as database:
        assert list(database.rows()) == []
    assert sqlite3.connect(tmp_path / "new.db").execute("PRAGMA journal_mode").fetchone()[0] == "wal"


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"x" * 4096])
def test_what_is_no_database_is_refused(content, tmp_path):
    (tmp_path / "x.db").write_bytes(content)
    with pytest.raises(DatabaseError):
        Database(tmp_path / "x.db", read_only=True)


def test_a_schema_that_is_no_text_is_refused(path):
    sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE winners", b"CREATE TABLE winn\xc3rs"))
    with pytest.raises(DatabaseError):
        Database(path, read_only=True)


def test_a_damaged_file_is_refused(path):
    sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    content = bytearray(path.read_bytes())
    for at in range(4096, len(content), 7):
        content[at] ^= 0x5a
    path.write_bytes(content)
    with pytest.raises(DatabaseError):
        Database(path, read_only=True).verify()


@pytest.mark.parametrize("sql", [
    "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM winners; END", "CREATE VIEW v AS SELECT * FROM trials",
    "ALTER TABLE trials ADD COLUMN more TEXT", "DROP TABLE winners", "PRAGMA user_version = 9",
    "CREATE TABLE more (x TEXT)"])
def test_another_schema_is_refused(path, sql):
    connection = sqlite3.connect(path)
    connection.execute(sql)
    connection.commit()
    connection.close()
    with pytest.raises(DatabaseError):
        Database(path)


@pytest.mark.parametrize(("table", "column", "change"), [
    ("trials", "value", lambda v: {**v, "recipe": {**v["recipe"], "flags": ["-fplugin=evil.so"]}}),
    ("trials", "value", lambda v: {**v, "recipe": {"format": "polysched recipe 1", "strategy": "__import__('os')"}}),
    ("trials", "value", lambda v: {**v, "pairs": [["1", 2]]}), ("trials", "value", lambda v: {**v, "pairs": [[-1, 2]]}),
    ("trials", "value", lambda v: {**v, "verdict": "good"}), ("trials", "value", lambda v: {}),
    ("trials", "value", lambda v: []), ("trials", "value", lambda v: {**v, "phase": "other"}),
    ("trials", "value", lambda v: {**v, "pairs": [[1, 1]] * 5000}),
    ("trials", "value", lambda v: {**v, "spills": -1}), ("trials", "value", lambda v: {**v, "spills": "many"}),
    ("winners", "value", lambda v: {**v, "gain": {"median": 1e999, "interval": [1, 1], "pairs": 3}}),
    ("winners", "value", lambda v: {**v, "recipe": {"format": "polysched recipe 1", "bands": {"0": {"sizes": [0]}}}}),
    ("tasks", "place", lambda v: {**v, "threads": 64}), ("tasks", "sizes", lambda v: [["p0", 65]])])
def test_a_hostile_row_is_refused(path, table, column, change):
    connection = sqlite3.connect(path)
    (value,) = connection.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchone()
    connection.execute(f"UPDATE {table} SET {column} = ?", (json.dumps(change(json.loads(value))),))
    connection.commit()
    connection.close()
    with Database(path, read_only=True) as database, pytest.raises(DatabaseError):
        database.verify()


def test_a_text_without_end_is_refused(path):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE winners SET code = ?", ("x" * (3 << 20),))
    connection.commit()
    connection.close()
    with Database(path, read_only=True) as database, pytest.raises(DatabaseError):
        database.verify()


def test_a_file_that_another_writer_holds_is_not_called_damaged(path, monkeypatch):
    monkeypatch.setattr(kept, "LIMITS", replace(kept.LIMITS, busy_seconds=0.01))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(OutputError, match="the database cannot be written: database is locked"):
        Database(path)
    with Database(path, read_only=True) as database:
        assert len(database.winners()) == 1
    other.close()
    with Database(path):
        pass


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(UsageError, match="no such database"):
        Database(tmp_path / "none.db", read_only=True)
    with pytest.raises(OutputError):
        Database(tmp_path / "no" / "none.db")
    with opened(None) as nothing:
        assert nothing is None
