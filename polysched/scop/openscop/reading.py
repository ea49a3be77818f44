"""OpenScop text as isl sets and relations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn

import islpy as isl

from polysched.errors import SourceLocation, UsageError
from polysched.scop.openscop.matrices import Matrix, relation_of
from polysched.scop.openscop.region import KINDS, OpenScopRegion, OpenScopStatement

_TAG = re.compile(r"<([/\\]?)(\w+)>")
_LOG = re.compile(r"\[\w+\] (Info|Warning|Debug)\b")
"""What Clan says beside the region, on the same standard output."""
_INTEGERS = re.compile(r"[-+]?\d+(\s+[-+]?\d+)*")
MOST_DIGITS = 40
"""Of a whole number; the largest of a type has 20."""
MOST_COLUMNS = 1000
"""Of a matrix; more is no program."""
_TOO_LONG = re.compile(rf"\d{{{MOST_DIGITS + 1}}}")


def read_openscop(text: str, *, path: str = "OpenScop") -> OpenScopRegion:
    """The only region of a file.

    Parameters
    ----------
    path : for messages.

    Raises
    ------
    UsageError : the text is no OpenScop; with the line.  Or it has several regions.
    """
    regions = read_all_openscop(text, path=path)
    if len(regions) > 1:
        raise UsageError(f"the text has {len(regions)} regions where one was asked for", where=path,
                         hint="give a file with that region alone")
    return regions[0]


def read_all_openscop(text: str, *, path: str = "OpenScop") -> tuple[OpenScopRegion, ...]:
    """Every region of a file; raises as `read_openscop`."""
    lines = Lines(text, path)
    regions = [_region(lines)]
    while lines.peek():
        regions.append(_region(lines))
    return tuple(regions)


def _region(lines: Lines) -> OpenScopRegion:
    lines.tag("OpenScop")
    language = lines.word("a language")
    context = _matrices(lines, {"CONTEXT"})[1]
    named = lines.number("whether parameters have names")
    if context[0].outputs or context[0].inputs:
        lines.refuse("the context has dimensions that are no parameters")
    parameters = tuple(lines.strings()) if named else nameless(context[0].parameters)
    if context[0].parameters != len(parameters):
        lines.refuse(f"{context[0].parameters} parameters and {len(parameters)} names of parameters")
    statements = tuple(_statement(lines, parameters) for _ in range(lines.number("the number of statements")))
    names = dict(_arrays(lines))
    return OpenScopRegion(language=language, parameters=parameters, context=relation_of(context, parameters).params(),
                          statements=tuple(_named(statement, names) for statement in statements))


class Lines:
    """The lines of a file without comments, one after the other.

    Parameters
    ----------
    path, form : for messages; the form is what the text ought to be.
    """

    def __init__(self, text: str, path: str, form: str = "OpenScop") -> None:
        self.path, self.form = path, form
        self.lines = [(number, line) for number, raw in enumerate(text.splitlines(), start=1)
                      if (line := raw.partition("#")[0].strip()) and not _LOG.match(line)]
        self.at = next((at for at, (_, line) in enumerate(self.lines) if _TOO_LONG.search(line)), 0)
        if self.lines and _TOO_LONG.search(self.peek()):
            self.refuse(f"a number has more than {MOST_DIGITS} digits")

    def refuse(self, problem: str) -> NoReturn:
        """Refuse what stands here.

        Raises
        ------
        UsageError : always.
        """
        number, line = self.lines[min(self.at, len(self.lines) - 1)] if self.lines else (0, "nothing")
        raise UsageError(f"this is no {self.form}: {problem}", where=SourceLocation(self.path, number),
                         witness=_short(line) if self.at < len(self.lines) else "the text ends here")

    def peek(self) -> str:
        return self.lines[self.at][1] if self.at < len(self.lines) else ""

    def next(self, what: str) -> str:
        if self.at >= len(self.lines):
            self.refuse(f"{what} is missing")
        self.at += 1
        return self.lines[self.at - 1][1]

    def tag(self, name: str) -> None:
        if self.peek() != f"<{name}>":
            self.refuse(f"<{name}> was expected")
        self.at += 1

    def word(self, what: str) -> str:
        if not self.peek().isidentifier():
            self.refuse(f"{what} was expected")
        return self.next(what)

    def number(self, what: str) -> int:
        if not self.peek().isdecimal():
            self.refuse(f"{what} was expected, a number")
        return int(self.next(what))

    def integers(self, what: str) -> list[int]:
        if not _INTEGERS.fullmatch(self.peek()):
            self.refuse(f"{what} was expected, whole numbers")
        return [int(word) for word in self.next(what).split()]

    def strings(self) -> list[str]:
        """Names, in a tag or, as tools before version 0.8 wrote them, on a line alone."""
        tagged = self.peek() == "<strings>"
        self.at += tagged
        words = self.next("the names").split()
        if any(not word.isidentifier() for word in words) or len(set(words)) != len(words):
            self.at -= 1
            self.refuse("different names were expected")
        if tagged:
            self.tag("/strings")
        return words

    def extension(self) -> tuple[str, list[str]] | None:
        """The name and the lines of the extension that begins here; None where none does."""
        opening = _TAG.fullmatch(self.peek())
        if opening is None or opening[1]:
            return None
        self.at += 1
        inside = []
        while self.peek() not in (f"</{opening[2]}>", f"<\\{opening[2]}>"):   # ScopLib's end of comments
            inside.append(self.next(f"</{opening[2]}>"))
        self.at += 1
        return opening[2], inside


def nameless(count: int) -> tuple[str, ...]:
    """Names of parameters that have none."""
    return tuple(f"P{position}" for position in range(1, count + 1))


def _short(line: str, longest: int = 80) -> str:
    return line if len(line) <= longest else f"{line[:longest]}..."


def _matrices(lines: Lines, kinds: set[str]) -> tuple[str, tuple[Matrix, ...]]:
    """A relation of one of these kinds: its kind and its parts."""
    if lines.peek() not in kinds:
        lines.refuse(f"{' or '.join(sorted(kinds))} was expected")
    kind = lines.next("a relation")
    count = lines.number("parts") if lines.peek().isdecimal() else 1
    parts = tuple(_matrix(lines) for _ in range(count))
    if len({(part.outputs, part.inputs, part.parameters) for part in parts}) != 1:
        lines.refuse(f"the parts of the {kind} before this line are none, or differ in their dimensions")
    return kind, parts


def _matrix(lines: Lines) -> Matrix:
    head = lines.integers("rows, columns, outputs, inputs, locals, parameters")
    if len(head) != 6 or min(head) < 0 or head[1] != 2 + sum(head[2:]) or head[1] > MOST_COLUMNS:
        lines.at -= 1
        lines.refuse("columns are one for the kind, one per dimension and one for the constant, at most "
                     f"{MOST_COLUMNS}")
    rows = []
    for _ in range(head[0]):
        row = lines.integers("a constraint")
        if len(row) != head[1] or row[0] not in (0, 1):
            lines.at -= 1
            lines.refuse(f"a constraint has {head[1]} numbers, the first of which is 0 or 1")
        rows.append(tuple(row))
    return Matrix(rows=tuple(rows), outputs=head[2], inputs=head[3], locals_=head[4], parameters=head[5])


def _statement(lines: Lines, parameters: tuple[str, ...]) -> OpenScopStatement:
    relations = [_matrices(lines, {"DOMAIN", "SCATTERING", *KINDS}) for _ in range(lines.number("relations"))]
    found = dict(relations)
    for kind in ("DOMAIN", "SCATTERING"):
        if (count := [k for k, _ in relations].count(kind)) != 1:
            lines.refuse(f"the statement before this line has {'two' if count else 'no'} {kind}")
    for kind, (first, *_) in relations:
        inputs = 0 if kind == "DOMAIN" else found["DOMAIN"][0].outputs
        if (first.inputs, first.parameters) != (inputs, len(parameters)) or (kind in KINDS and not first.outputs):
            lines.refuse(f"the {kind} of the statement before this line has other dimensions than the statement")
    iterators, body = _body(lines, found["DOMAIN"][0].outputs)
    return OpenScopStatement(
        domain=relation_of(found["DOMAIN"], parameters).range(), iterators=iterators, body=body,
        scattering=relation_of(found["SCATTERING"], parameters),
        accesses=tuple((KINDS[kind], *_access(lines, relation_of(parts, parameters)))
                       for kind, parts in relations if kind in KINDS))


def _access(lines: Lines, relation: isl.Map) -> tuple[str, isl.Map]:
    """The number of the array, and the relation without that dimension."""
    number = relation.range().dim_max_val(0)
    if not number.is_int() or not relation.range().dim_min_val(0).eq(number):
        lines.refuse("the first output of an access of the statement before this line is not the number of an array")
    return str(number), relation.project_out(isl.dim_type.out, 0, 1)


def _body(lines: Lines, depth: int) -> tuple[tuple[str, ...], str]:
    """The original iterators and the text of a statement, from its extensions or, before version 0.8, two lines."""
    iterators: tuple[str, ...] = ()
    body = ""
    count = lines.number("the number of extensions")
    if count == 1 and not _TAG.fullmatch(lines.peek()):
        return tuple(lines.next("the iterators").split()) if depth else (), lines.next("the body")
    for _ in range(count):
        extension = lines.extension()
        if extension is None:
            lines.refuse("an extension was expected")
        name, inside = extension
        if name == "body" and inside and inside[0].isdecimal():
            named = int(inside[0]) > 0
            iterators = tuple(inside[1].split()) if named and len(inside) > 1 else ()
            body = " ".join(inside[1 + named:])
    return iterators, body


def _arrays(lines: Lines) -> Iterator[tuple[str, str]]:
    """Number and name of arrays, from the extensions of the region."""
    while (extension := lines.extension()) is not None:
        name, inside = extension
        for line in inside[1:] if name == "arrays" else ():
            number, _, array = line.partition(" ")
            yield number, array.strip()
    lines.tag("/OpenScop")


def _named(statement: OpenScopStatement, names: dict[str, str]) -> OpenScopStatement:
    return replace(statement, accesses=tuple((kind, names.get(array, array), relation)
                                             for kind, array, relation in statement.accesses))
