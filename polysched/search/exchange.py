"""A database as lines of JSON, for git and for other machines; and the union of databases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polysched.errors import UsageError
from polysched.search.database import Database, DatabaseError
from polysched.search.limits import LIMITS

SQLITE = b"SQLite format 3\0"


def lines_of(database: Database) -> Iterator[str]:
    """A line per row: `[table, column, ...]`; the same for the same records, whatever their order."""
    for table, row in database.rows():
        yield json.dumps([table, *row], ensure_ascii=True, separators=(",", ":"))


def merge(database: Database, path: str | Path) -> int:
    """Add the records of another database, or of the lines that `lines_of` wrote; how many were new.

    Every row is checked before the first one is added.

    Raises
    ------
    DatabaseError : one says something that cannot be.
    UsageError : the file cannot be read.
    """
    rows = list(_rows(Path(path)))
    with Database(":memory:") as checked:
        for table, row in rows:
            checked.insert(table, row)
    return sum(database.insert(table, row) for table, row in rows)


def _rows(path: Path) -> Iterator[tuple[str, list[Any]]]:
    try:
        with path.open("rb") as file:
            is_database = file.read(len(SQLITE)) == SQLITE
        if is_database:
            with Database(path, read_only=True) as other:
                yield from list(other.rows())
            return
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"the records cannot be read: {error.strerror}", where=str(path)) from None
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            yield _row(line, f"{path}:{number}")


def _row(line: bytes, where: str) -> tuple[str, list[Any]]:
    try:
        value = json.loads(line) if len(line) <= LIMITS.text_bytes else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        raise DatabaseError("this is no line of records", where=where, witness=repr(line[:60]),
                            hint="`polysched db export` writes them")
    return value[0], value[1:]
