"""Pluto's lines: `T(S1): (k, i, j)`, a row per dimension over the iterators of a statement.

Pluto counts statements from S1 in textual order, and so does what is written here.  Lines for S0, S1, ... are read by
the names that the program has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl

from polysched.errors import UsageError
from polysched.scheduling.interchange.dates import dates_of
from polysched.scop.scop import Scop, Statement

_LINE = re.compile(r"\s*T\((\w+)\)\s*:\s*\((.*)\)\s*;?\s*")
_OTHERS = re.compile(r"\s*(#.*|\[[Pp]luto\].*|loop types.*)?")
_FUNCTIONS = ("floor", "mod")   # of isl's notation, for tiles; Pluto itself writes affine rows alone
_NAME = re.compile(r"[A-Za-z_]\w*")
_LETTERS = re.compile(r"[\w\s+*/(),-]*")
_VALUE = re.compile(r"-> \[\((.*)\)(/\d+)?\]")


def has_lines(text: str) -> bool:
    """Whether a text has a line of this form."""
    return re.search(r"^\s*T\(", text, re.MULTILINE) is not None


def read_lines(text: str, scop: Scop) -> isl.UnionMap:
    """The dates that the lines give.

    Raises
    ------
    UsageError : a line is of another form, names what the statement does not have, or a statement has no line, or two.
    """
    rows: dict[str, list[str]] = {}
    for name, row in _rows(text):
        if name in rows:
            raise UsageError(f"T({name}) has two lines", where=scop.name)
        rows[name] = row
    statements = _by_name(set(rows), scop)
    dates = isl.UnionMap.empty(scop.domain.get_space())
    for name, row in rows.items():
        dates = dates.union(isl.UnionMap.from_map(_dates(statements[name], row, scop, name)))
    return dates


def write_lines(tree: isl.Schedule, scop: Scop) -> str:
    """The lines of a tree.

    Raises
    ------
    UsageError : a row of a statement is not one affine function, or there is no statement.
    """
    if not scop.statements:
        raise UsageError("a region without statements has no lines", where=scop.name,
                         hint="write the tree or the map instead")
    columns = isl.MultiUnionPwAff.from_union_map(dates_of(tree).intersect_domain(tree.get_domain()))
    lines = []
    for number, statement in enumerate(scop.statements, start=1):
        row = []
        for k in range(columns.dim(isl.dim_type.set)):
            value = columns.get_union_pw_aff(k).extract_pw_aff(
                statement.domain.get_space().from_domain().add_dims(isl.dim_type.out, 1))
            pieces = value.gist(statement.domain).coalesce().get_pieces()
            if len(pieces) != 1:
                raise UsageError(f"dimension {k} of {statement.name} is not one affine function",
                                 where=scop.name, witness=str(value), hint="write the tree or the map instead")
            row.append(_written(pieces[0][1]))
        lines.append(f"T(S{number}): ({', '.join(row)})\n")
    return "".join(lines)


def _written(value: isl.Aff) -> str:
    """An affine function; one that is whole only where its statement runs, `(i)/2`, by isl's `floor`."""
    ((sum_, divisor),) = _VALUE.findall(str(value))
    return f"floor(({sum_}){divisor})" if divisor else str(sum_)


def _rows(text: str) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        found = _LINE.fullmatch(line)
        if found is not None:
            yield found[1], _separate(found[2])
        elif not _OTHERS.fullmatch(line):
            raise UsageError("a line is not of the form T(S1): (k, i, j)", where=f"line {number}", witness=line.strip())


def _separate(row: str) -> list[str]:
    """The expressions of a row: commas inside brackets do not separate."""
    parts, depth = [""], 0
    for character in row:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts] if row.strip() else []


def _by_name(names: set[str], scop: Scop) -> dict[str, Statement]:
    """The statements as the lines name them."""
    own = {s.name: s for s in scop.statements}
    counted = {f"S{number}": s for number, s in enumerate(scop.statements, start=1)}
    for numbering in (counted, own):
        if names == set(numbering):
            return numbering
    missing, unknown = sorted(set(counted) - names), sorted(names - set(counted))
    witness = f"T({unknown[0]}) names none" if unknown else f"{missing[0]} has no line"
    places = ", ".join(f"{name} (line {s.line})" for name, s in counted.items())
    raise UsageError("the lines are not of this program's statements", where=scop.name, witness=witness,
                     hint=f"Pluto's names of them are {places}")


def _dates(statement: Statement, row: list[str], scop: Scop, name: str) -> isl.Map:
    known = {*statement.iterators, *(p.name for p in scop.parameters), *_FUNCTIONS}
    for expression in row:
        foreign = [word for word in _NAME.findall(expression) if word not in known]
        if foreign or not _LETTERS.fullmatch(expression) or not expression:
            raise UsageError(f"`{expression}` is no affine function of {name}'s iterators", where=scop.name,
                             witness=f"{foreign[0]} is neither an iterator nor a parameter" if foreign else None,
                             hint=f"the iterators are {', '.join(statement.iterators) or 'none'}, the parameters "
                                  f"{', '.join(p.name for p in scop.parameters) or 'none'}")
    parameters = ", ".join(p.name for p in scop.parameters)
    text = f"[{parameters}] -> {{ {statement.name}[{', '.join(statement.iterators)}] -> [{', '.join(row)}] }}"
    try:
        return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, text)
    except isl.Error:
        raise UsageError(f"the row of {name} is not affine", where=scop.name, witness=f"({', '.join(row)})",
                         hint="iterators are added, and multiplied by numbers alone") from None
