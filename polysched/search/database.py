"""Database: what searches found, in SQLite; data alone, and checked whenever it is read.

Every row is validated by what makes the values that it stands for; a file with another schema, with triggers or views,
or with pages that do not fit together is refused before anything of it is used.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

from polysched.errors import OutputError, PolyschedError, UsageError
from polysched.measure.field import Verdict
from polysched.measure.timing.race import Gain
from polysched.pipeline.recipe import Recipe
from polysched.records import dataclass
from polysched.search.chooser import trace_from_json, trace_to_json
from polysched.search.identity import CanonicalScop, Key, Place, digest_of
from polysched.search.limits import LIMITS
from polysched.search.trial import PHASES, Trial, renamed

FORMAT = 2
TABLES = {
    "tasks": "CREATE TABLE tasks (digest TEXT PRIMARY KEY, name TEXT NOT NULL, scop TEXT NOT NULL, "
             "sizes TEXT NOT NULL, place TEXT NOT NULL) WITHOUT ROWID",
    "trials": "CREATE TABLE trials (task TEXT NOT NULL, recipe TEXT NOT NULL, phase TEXT NOT NULL, "
              "value TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (task, recipe, phase)) WITHOUT ROWID",
    "winners": "CREATE TABLE winners (task TEXT PRIMARY KEY, recipe TEXT NOT NULL, code TEXT NOT NULL, "
               "value TEXT NOT NULL) WITHOUT ROWID",
    "ranges": "CREATE TABLE ranges (digest TEXT PRIMARY KEY, name TEXT NOT NULL, scop TEXT NOT NULL, "
              "sizes TEXT NOT NULL, place TEXT NOT NULL, value TEXT NOT NULL) WITHOUT ROWID"}
COLUMNS = {"tasks": 5, "trials": 5, "winners": 4, "ranges": 6}
NOT_WRITTEN = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL,
                         sqlite3.SQLITE_CANTOPEN})
"""What SQLite says of a file that is right and cannot be written now."""


class DatabaseError(PolyschedError):
    """A file is no database of ours, is damaged, or says something that cannot be; nothing of it was used."""


@dataclass(frozen=True, kw_only=True)
class Winner:
    """What a search chose.

    Parameters
    ----------
    key : of the program, sizes and place.
    name : of the program where it was found.
    recipe : under canonical names.
    code : identity of its C.
    gain : over the model's pick.
    """

    key: Key
    name: str
    recipe: Recipe
    code: str
    gain: Gain

    def __str__(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self.key.sizes)
        of = f", {self.key.place.client}" if self.key.place.client else ""
        return f"{self.name}({sizes}), {self.key.place.threads} threads{of}: gain {self.gain}: {self.recipe}"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One recipe of a range.

    Parameters
    ----------
    least : from which size on it is taken; 0 of the first.
    recipe, code : as of `Winner`.
    """

    least: int
    recipe: Recipe
    code: str


@dataclass(frozen=True, kw_only=True)
class Range:
    """What was chosen for all values of one parameter.

    Parameters
    ----------
    key : of the program, the other sizes, and the place.
    parameter : the canonical name of the one that is free.
    cases : for growing sizes.
    """

    key: Key
    name: str
    parameter: str
    cases: tuple[Case, ...]

    def __post_init__(self) -> None:
        leasts = [case.least for case in self.cases]
        if not leasts or leasts[0] != 0 or leasts != sorted(set(leasts)) or len(leasts) > LIMITS.most_cases:
            raise UsageError("the cases of a range begin at 0 and grow", where=self.name, witness=str(leasts)[:80])

    @property
    def digest(self) -> str:
        return digest_of(json.dumps([self.key.digest, self.parameter]))

    def __str__(self) -> str:
        cases = "; ".join(f"from {case.least} on {case.recipe}" for case in self.cases)
        return f"{self.name}({self.parameter}), {self.key.place.threads} threads: {cases}"


class Database:
    """An open database; a context manager.

    Parameters
    ----------
    path : made where there is none, unless it is only read.
    read_only : nothing is written, and a missing file is refused.

    Raises
    ------
    DatabaseError : the file is none, is damaged, or was made by something else.
    OutputError : it cannot be written, or another writer holds it for too long.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        if read_only and not self.path.exists():
            raise UsageError("there is no such database", where=str(path), hint="`polysched tune --database` makes one")
        try:
            self._connection = _connected(self.path, read_only=read_only)
            self._check()
        except sqlite3.DatabaseError as error:
            if not read_only and getattr(error, "sqlite_errorcode", 0) & 0xff in NOT_WRITTEN:   # the primary code
                raise OutputError(f"the database cannot be written: {error}", where=str(path)) from None
            self._refuse(str(error))
        except UnicodeDecodeError as error:   # of a name in the schema, which SQLite tells as it is
            self._refuse(f"a text is no UTF-8: {error.reason}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the use of it."""
        self._connection.close()

    def begin(self, key: Key, name: str) -> None:
        """Enter a task."""
        self._write("INSERT OR IGNORE INTO tasks VALUES (?, ?, ?, ?, ?)",
                    (key.digest, name, key.scop, json.dumps(key.sizes), key.place.text))

    def add(self, key: Key, trial: Trial, canonical: CanonicalScop) -> None:
        """Keep one trial; a later one of the same recipe and phase replaces it."""
        own = renamed(trial, canonical.to_canonical())
        number = self._rows("SELECT count(*) FROM trials WHERE task = ?", (key.digest,))[0][0]
        self._write("INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?)",
                    (key.digest, digest_of(own.recipe.text), own.phase, json.dumps(trial_to_json(own)), number))

    def trials(self, key: Key, canonical: CanonicalScop | None = None) -> tuple[Trial, ...]:
        """The trials of a task in the order in which they were made; under the program's names where it is given."""
        rows = self._rows("SELECT value FROM trials WHERE task = ? ORDER BY number, recipe", (key.digest,))
        found = [self._checked(lambda value=row[0]: trial_from_json(_parsed(value))) for row in rows]
        return tuple(found if canonical is None else (renamed(t, dict(canonical.names)) for t in found))

    def forget(self, key: Key) -> None:
        """Drop the trials and the winner of a task."""
        self._write("DELETE FROM trials WHERE task = ?", (key.digest,))
        self._write("DELETE FROM winners WHERE task = ?", (key.digest,))

    def set_winner(self, winner: Winner) -> None:
        """Keep what a search chose."""
        self._write("INSERT OR REPLACE INTO winners VALUES (?, ?, ?, ?)",
                    (winner.key.digest, digest_of(winner.recipe.text), winner.code, json.dumps(
                        {"recipe": winner.recipe.to_json(), "gain": winner.gain.to_json()})))

    def winners(self, scop: str | None = None) -> tuple[Winner, ...]:
        """What was chosen, for one program by its digest or for all."""
        where, values = ("WHERE t.scop = ?", (scop,)) if scop is not None else ("", ())
        rows = self._rows("SELECT t.digest, t.name, t.scop, t.sizes, t.place, w.code, w.value FROM winners w "
                          f"JOIN tasks t ON t.digest = w.task {where} ORDER BY t.name, t.digest", values)
        return tuple(self._checked(lambda row=row: _winner(row)) for row in rows)

    def set_range(self, chosen: Range) -> None:
        """Keep what was chosen for all values of a parameter."""
        self._write("INSERT OR REPLACE INTO ranges VALUES (?, ?, ?, ?, ?, ?)", (
            chosen.digest, chosen.name, chosen.key.scop, json.dumps(chosen.key.sizes), chosen.key.place.text,
            json.dumps({"parameter": chosen.parameter, "cases": [
                [c.least, c.recipe.to_json(), c.code] for c in chosen.cases]})))

    def ranges(self, scop: str | None = None) -> tuple[Range, ...]:
        """What was chosen for ranges, for one program by its digest or for all."""
        where, values = ("WHERE scop = ?", (scop,)) if scop is not None else ("", ())
        rows = self._rows(f"SELECT * FROM ranges {where} ORDER BY name, digest", values)
        return tuple(self._checked(lambda row=row: _range(row)) for row in rows)

    def tasks(self) -> tuple[tuple[Key, str], ...]:
        """Every task with its name."""
        rows = self._rows("SELECT digest, name, scop, sizes, place FROM tasks ORDER BY name, digest", ())
        return tuple(self._checked(lambda row=row: (_key(row), _text(row[1]))) for row in rows)

    def rows(self) -> Iterator[tuple[str, list[Any]]]:
        """Every row with the name of its table, tasks first."""
        for table in TABLES:
            for row in self._rows(f"SELECT * FROM {table} ORDER BY 1, 2", ()):
                yield table, list(row)

    def insert(self, table: str, row: list[Any]) -> bool:
        """Add a row of another database, checked; whether it was new.

        Of two winners of a task the one with the larger lower end of its interval stays.

        Raises
        ------
        DatabaseError : it is no row of that table.
        """
        if table not in TABLES or not isinstance(row, list) or len(row) != COLUMNS[table]:
            self._refuse(f"no row of a table: {str([table, row])[:80]}")
        self._checked(lambda: _check_row(table, row))
        if table == "winners":
            known = self._rows("SELECT value FROM winners WHERE task = ?", (row[0],))
            if known and self._checked(lambda: _low(known[0][0])) >= _low(row[3]):
                return False
            self._write("INSERT OR REPLACE INTO winners VALUES (?, ?, ?, ?)", tuple(row))
            return True
        marks = ", ".join("?" * len(row))
        return self._write(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", tuple(row)) > 0

    def verify(self) -> int:
        """Check every row; how many there are.

        Raises
        ------
        DatabaseError : of the first that says something that cannot be.
        """
        count = 0
        known = {key.digest for key, _ in self.tasks()}
        for table, row in self.rows():
            self._checked(lambda table=table, row=row: _check_row(table, row))
            if table != "ranges" and row[0] not in known:
                self._refuse(f"a row of {table} belongs to no task")
            count += 1
        return count

    def _check(self) -> None:
        problem = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if problem != "ok":
            self._refuse(str(problem))
        found = dict(self._connection.execute("SELECT name, sql FROM sqlite_master"))
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if found != TABLES or version != FORMAT:
            other = sorted(set(found) ^ set(TABLES)) or sorted(n for n in TABLES if found[n] != TABLES[n])
            self._refuse(f"its format is {version}, not {FORMAT}" if version != FORMAT else
                         f"its schema is another one: {', '.join(other)}")

    def _rows(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        try:
            with closing(self._connection.execute(query, values)) as cursor:
                return cursor.fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            self._refuse(str(error))

    def _write(self, query: str, values: tuple[Any, ...]) -> int:
        try:
            with self._connection:
                return self._connection.execute(query, values).rowcount
        except sqlite3.OperationalError as error:
            raise OutputError(f"the database cannot be written: {error}", where=str(self.path)) from None

    def _checked(self, make: Any) -> Any:
        """What a row stands for."""
        try:
            return make()
        except (PolyschedError, ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
            self._refuse(error.problem if isinstance(error, PolyschedError) else str(error))

    def _refuse(self, witness: str) -> NoReturn:
        raise DatabaseError("this is no database of tuned programs, or it is damaged", where=str(self.path),
                            witness=witness[:200], hint="`polysched tune --database` makes one; `polysched db export` "
                                                        "writes what can be kept beside the sources")


def _connected(path: Path, *, read_only: bool) -> sqlite3.Connection:
    if read_only:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=LIMITS.busy_seconds)
    else:
        try:
            connection = sqlite3.connect(":memory:" if str(path) == ":memory:" else path, timeout=LIMITS.busy_seconds)
        except sqlite3.OperationalError as error:
            raise OutputError(f"the database cannot be written: {error}", where=str(path)) from None
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LIMITS.text_bytes)
    connection.execute("PRAGMA trusted_schema = OFF")
    if not read_only:
        _made(connection)
    return connection


def _made(connection: sqlite3.Connection) -> None:
    """The tables, in a file that has none."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        for sql in TABLES.values():
            connection.execute(sql)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.commit()


def trial_to_json(trial: Trial) -> dict[str, Any]:
    """A trial as JSON values."""
    return {"recipe": trial.recipe.to_json(), "trace": trace_to_json(trial.trace), "code": trial.code,
            "predicted_seconds": trial.predicted_seconds, "verdict": trial.verdict.value, "reason": trial.reason,
            "pairs": [list(pair) for pair in trial.pairs], "phase": trial.phase,
            **({"disturbed": list(trial.disturbed)} if trial.disturbed else {}),
            **({"spills": trial.spills} if trial.spills is not None else {})}


def trial_from_json(value: Mapping[str, Any]) -> Trial:
    """The trial that `trial_to_json` wrote.

    Raises
    ------
    UsageError, ValueError, TypeError, KeyError : it is none.
    """
    pairs = value["pairs"]
    if len(pairs) > LIMITS.most_pairs:
        raise ValueError(f"a trial has {len(pairs)} pairs")
    phase = next((phase for phase in PHASES if phase == value["phase"]), None)
    if phase is None:
        raise ValueError(f"there is no phase {value['phase']!r}")
    predicted = value["predicted_seconds"]
    return Trial(recipe=Recipe.from_json(value["recipe"]), trace=trace_from_json(value["trace"]),
                 code=_text(value["code"]), verdict=Verdict(value["verdict"]), reason=_text(value["reason"]),
                 phase=phase, predicted_seconds=None if predicted is None else _seconds(predicted),
                 pairs=tuple((_seconds(first), _seconds(own)) for first, own in pairs),
                 disturbed=tuple(_whole(number) for number in value.get("disturbed", ())),
                 spills=None if value.get("spills") is None else _count(value["spills"]))


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError(f"{value!r} is no number of seconds")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:40]!r} is no text")
    return value


def _parsed(text: object) -> Mapping[str, Any]:
    value = json.loads(_text(text))
    if not isinstance(value, dict):
        raise TypeError("a record is no object")
    return value


def _key(row: tuple[Any, ...]) -> Key:
    digest, _, scop, sizes, place = row[:5]
    key = Key(scop=_text(scop), sizes=tuple((_text(n), _whole(v)) for n, v in json.loads(_text(sizes))),
              place=_place(_parsed(place)))
    if key.digest != digest:
        raise ValueError(f"the key of {str(row[1])[:40]!r} does not fit its digest")
    return key


def _place(value: Mapping[str, Any]) -> Place:
    return Place(machine=_text(value["machine"]), threads=_whole(value["threads"]), compiler=_text(value["compiler"]),
                 numerics=_text(value["numerics"]))


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{str(value)[:40]!r} is no whole number")
    return value


def _count(value: object) -> int:
    found = _whole(value)
    if found < 0:
        raise ValueError(f"{found} is no count")
    return found


def _winner(row: tuple[Any, ...]) -> Winner:
    value = _parsed(row[6])
    return Winner(key=_key(row), name=_text(row[1]), code=_text(row[5]), recipe=Recipe.from_json(value["recipe"]),
                  gain=_gain(value["gain"]))


def _range(row: tuple[Any, ...]) -> Range:
    digest, name, scop, sizes, place, text = row
    value = _parsed(text)
    key = Key(scop=_text(scop), sizes=tuple((_text(n), _whole(v)) for n, v in json.loads(_text(sizes))),
              place=_place(_parsed(place)))
    cases = tuple(Case(least=_whole(least), recipe=Recipe.from_json(recipe), code=_text(code))
                  for least, recipe, code in value["cases"])
    found = Range(key=key, name=_text(name), parameter=_text(value["parameter"]), cases=cases)
    if found.digest != digest:
        raise ValueError(f"the range of {found.name[:40]!r} does not fit its digest")
    return found


def _gain(value: Mapping[str, Any]) -> Gain:
    low, high = value["interval"]
    return Gain(median=_seconds(value["median"]), low=_seconds(low), high=_seconds(high), pairs=_whole(value["pairs"]))


def _low(text: object) -> float:
    return _gain(_parsed(text)["gain"]).low


def _check_row(table: str, row: list[Any]) -> None:
    """Refuse a row that stands for nothing."""
    for cell in row[:4] if table == "trials" else row:   # all others are texts
        _text(cell).encode()   # SQLite has no half of a surrogate pair
    if table == "tasks":
        _key(tuple(row))
    elif table == "ranges":
        _range(tuple(row))
    elif table == "trials":
        trial = trial_from_json(_parsed(row[3]))
        if _count(row[4]).bit_length() > 63:   # SQLite's integers have so many beside their sign
            raise ValueError("the number of a trial is too large")
        if (digest_of(trial.recipe.text), trial.phase) != (row[1], row[2]):
            raise ValueError("a trial does not fit its key")
    else:
        value = _parsed(row[3])
        _gain(value["gain"])
        if digest_of(Recipe.from_json(value["recipe"]).text) != row[1]:
            raise ValueError("a winner does not fit its key")


class Records(Protocol):
    """What a search keeps and finds; `Database` is one, and whatever has these methods."""

    def begin(self, key: Key, name: str) -> None:
        """Enter a task."""

    def add(self, key: Key, trial: Trial, canonical: CanonicalScop) -> None:
        """Keep one trial."""

    def trials(self, key: Key, canonical: CanonicalScop | None = None) -> tuple[Trial, ...]:
        """The trials of a task, under the program's names where it is given."""

    def forget(self, key: Key) -> None:
        """Drop the trials and the winner of a task."""

    def set_winner(self, winner: Winner) -> None:
        """Keep what a search chose."""


@contextmanager
def opened(database: str | Path | Records | None) -> Iterator[Records | None]:
    """The database of a search; nothing where there is none. One that was passed in stays open."""
    if isinstance(database, str | Path):
        with Database(database) as own:
            yield own
    else:
        yield database
