"""The form before OpenScop, which ScopLib, Clan before 0.7 and PoCC write: `SCoP` on the first line.

    SCoP | language | context | names | statements: domain, scattering, reads, writes, iterators, body | <arrays>

A scattering has a row per date; an access a row per subscript, whose first number is the array's in the first row and 0
in the others.  A scalar is written as an array with the subscript 0.

Source: L.-N. Pouchet, ScopLib, `source/scop.c`, `scoplib_scop_print_dot_scop`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl

from polysched.records import dataclass
from polysched.scop.openscop.matrices import Matrix, relation_of
from polysched.scop.openscop.reading import MOST_COLUMNS, Lines, nameless, read_all_openscop
from polysched.scop.openscop.region import OpenScopRegion, OpenScopStatement
from polysched.scop.scop import AccessKind

_FORM = "SCoP of ScopLib"
_COMMENTS = r"(?:[ \t\r]*(?:#[^\n]*|\[\w+\] [^\n]*)?\n)*[ \t]*"
_BEGIN, _BEGIN_OF_EITHER = re.compile(_COMMENTS + r"SCoP\s*\n"), re.compile(_COMMENTS + r"(?:SCoP\s*\n|<OpenScop)")


def is_scoplib(text: str) -> bool:
    """Whether a text begins as ScopLib's files do."""
    return _BEGIN.match(text) is not None


def begins_as_openscop(text: str) -> bool:
    """Whether a text begins as OpenScop or ScopLib's form of it, and none of C."""
    return _BEGIN_OF_EITHER.match(text) is not None


def regions_of(text: str, *, path: str = "OpenScop") -> tuple[OpenScopRegion, ...]:
    """The regions of a text in either form; raises as their readers."""
    return (read_scoplib(text, path=path),) if is_scoplib(text) else read_all_openscop(text, path=path)


def read_scoplib(text: str, *, path: str = "SCoP") -> OpenScopRegion:
    """The region of a file.

    Parameters
    ----------
    path : for messages.

    Raises
    ------
    UsageError : the text is none of ScopLib's; with the line.
    """
    lines = Lines(text, path, _FORM)
    if lines.next("SCoP") != "SCoP":
        lines.refuse("SCoP was expected")
    language = lines.word("a language")
    context = _context(lines)
    count = context.dimensions
    parameters = tuple(lines.strings()) if lines.number("whether parameters have names") else nameless(count)
    if len(parameters) != count:
        lines.refuse(f"{count} parameters and {len(parameters)} names of parameters")
    parts = [_statement(lines, parameters) for _ in range(lines.number("the number of statements"))]
    names = dict(_names(lines))
    bodies = " ".join(part.body for part in parts)
    scalars = {array for array in {a for part in parts for _, a, _ in part.accesses}
               if not re.search(rf"\b{re.escape(names.get(array, array))}\s*\[", bodies)
               and all(_is_zero(relation) for part in parts for _, a, relation in part.accesses if a == array)}
    return OpenScopRegion(
        language=language, parameters=parameters,
        context=relation_of((_conjunction(context, 0, count),), parameters).params(),
        statements=tuple(part.finished(names, scalars) for part in parts))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Part:
    """A statement whose arrays have numbers."""

    domain: isl.Set
    scattering: isl.Map
    accesses: tuple[tuple[AccessKind, str, isl.Map], ...]
    iterators: tuple[str, ...]
    body: str

    def finished(self, names: dict[str, str], scalars: set[str]) -> OpenScopStatement:
        """With names of arrays, and without the subscripts of scalars."""
        return OpenScopStatement(
            domain=self.domain, scattering=self.scattering, iterators=self.iterators, body=self.body,
            accesses=tuple((kind, names.get(array, array),
                            relation.project_out(isl.dim_type.out, 0, 1) if array in scalars else relation)
                           for kind, array, relation in self.accesses))


@dataclass(frozen=True)
class _Table:
    """Rows of numbers."""

    rows: tuple[tuple[int, ...], ...]
    columns: int

    @property
    def dimensions(self) -> int:
        """Columns without the first, which says what a row is, and the last, the constant."""
        return self.columns - 2


def _table(lines: Lines) -> _Table:
    head = lines.integers("rows and columns")
    if len(head) != 2 or min(head) < 0 or not 2 <= head[1] <= MOST_COLUMNS:
        lines.at -= 1
        lines.refuse(f"rows and columns were expected, at most {MOST_COLUMNS}")
    rows = []
    for _ in range(head[0]):
        row = lines.integers("a row")
        if len(row) != head[1]:
            lines.at -= 1
            lines.refuse(f"a row has {head[1]} numbers")
        rows.append(tuple(row))
    return _Table(rows=tuple(rows), columns=head[1])


def _context(lines: Lines) -> _Table:
    """The constraints on parameters."""
    table = _table(lines)
    if not {row[0] for row in table.rows} <= {0, 1}:
        lines.refuse("a row of the context before this line does not begin with 0 or 1")
    return table


def _conjunction(table: _Table, outputs: int, parameters: int) -> Matrix:
    """Constraints as a matrix of OpenScop."""
    return Matrix(rows=table.rows, outputs=outputs, inputs=0, locals_=0, parameters=parameters)


def _function(rows: list[tuple[int, ...]], inputs: int, parameters: int) -> Matrix:
    """One output per row, each equal to the row's affine function."""
    equal = tuple((0, *(-(position == own) for position in range(len(rows))), *row[1:]) for own, row in enumerate(rows))
    return Matrix(rows=equal, outputs=len(rows), inputs=inputs, locals_=0, parameters=parameters)


def _domain(lines: Lines, parameters: int) -> list[_Table]:
    """The constraints of each part of a domain."""
    tables = [_table(lines) for _ in range(lines.number("the number of parts of a domain"))]
    kinds = {row[0] for table in tables for row in table.rows}
    if len({table.columns for table in tables}) != 1 or tables[0].dimensions < parameters or not kinds <= {0, 1}:
        lines.refuse("the domain before this line is none of iterators and these parameters")
    return tables


def _statement(lines: Lines, parameters: tuple[str, ...]) -> _Part:
    count = len(parameters)
    tables = _domain(lines, count)
    depth = tables[0].dimensions - count
    if not lines.number("whether there is a scattering"):
        lines.refuse("a statement has no scattering")
    dates = _table(lines)
    tables_of = {}
    if lines.number("whether there are accesses"):
        tables_of = {AccessKind.READ: _table(lines), AccessKind.MUST_WRITE: _table(lines)}
    if any(table.columns != tables[0].columns for table in (dates, *tables_of.values())):
        lines.refuse("the tables of the statement before this line differ in their columns")
    iterators: tuple[str, ...] = ()
    body = ""
    if lines.number("whether there is a body"):
        iterators = tuple(lines.next("the iterators").split()) if depth else ()
        body = lines.next("the body")
    return _Part(
        domain=relation_of(tuple(_conjunction(table, depth, count) for table in tables), parameters).range(),
        scattering=relation_of((_function(list(dates.rows), depth, count),), parameters),
        accesses=tuple((kind, array, relation_of((_function(rows, depth, count),), parameters))
                       for kind, table in tables_of.items() for array, rows in _accesses(lines, table)),
        iterators=iterators, body=body)


def _accesses(lines: Lines, table: _Table) -> Iterator[tuple[str, list[tuple[int, ...]]]]:
    """The number of the array and the subscripts of each access."""
    found: list[tuple[str, list[tuple[int, ...]]]] = []
    for row in table.rows:
        if row[0]:
            found.append((str(row[0]), []))
        if not found:
            lines.refuse("the first row of the accesses of the statement before this line has no array")
        found[-1][1].append(row)
    yield from found


def _is_zero(relation: isl.Map) -> bool:
    """Whether an access has one subscript, which is 0."""
    return relation.dim(isl.dim_type.out) == 1 and bool(relation.is_equal(relation.fix_val(
        isl.dim_type.out, 0, isl.Val.zero(isl.DEFAULT_CONTEXT))))


def _names(lines: Lines) -> Iterator[tuple[str, str]]:
    """Number and name of arrays."""
    while lines.peek():
        extension = lines.extension()
        if extension is None:
            lines.refuse("an option in a tag was expected")
        for line in extension[1][1:] if extension[0] == "arrays" else ():
            number, _, array = line.partition(" ")
            yield number, array.strip()
