"""Names of arrays that a file only numbers: those in the bodies whose elements are the ones that the file lists.

Tools before OpenScop 0.8, Clan 0.5 and Pluto's own among them, wrote no list of names.  The bodies have them: an array
is called as what is written and read there, in every statement, with the same subscripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polysched.scop.openscop.region import OpenScopRegion, OpenScopStatement
from polysched.scop.scop import AccessKind

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_OPENING = re.compile(r"\s*\[")
_ASSIGNED = re.compile(r"\s*(=(?!=)|(?:[-+*/%&|^]|<<|>>)=)")
_AFFINE = re.compile(r"[\w\s+*()-]+")
WORDS = frozenset(("if", "else", "for", "while", "do", "sizeof", "signed", "unsigned", "char", "short", "int", "long",
                   "float", "double", "const"))
"""Words of C in a body; those that jump are none: what another statement runs stands in its domain."""
Accesses = tuple[tuple[isl.Map, ...], tuple[isl.Map, ...]]
"""What a statement writes and reads of one array."""


def with_names(region: OpenScopRegion) -> OpenScopRegion:
    """The region with names for the arrays that only have numbers; as it is where the bodies do not say them."""
    chosen = _names_of_numbers(region)
    if not chosen:
        return region
    return replace(region, statements=tuple(replace(statement, accesses=tuple(
        (kind, chosen.get(array, array), relation) for kind, array, relation in statement.accesses))
        for statement in region.statements))


def _names_of_numbers(region: OpenScopRegion) -> dict[str, str]:
    """A name for each array that only has a number; nothing where some have none."""
    listed = [_listed(statement) for statement in region.statements]
    known = set().union(*listed)
    numbers = sorted((array for array in known if not array.isidentifier()), key=lambda n: (len(n), n))
    if not numbers:
        return {}
    written = [_in_body(statement, region.parameters) for statement in region.statements]
    names = sorted(set().union(*written) - known)
    return _different({number: [name for name in names if _fits(number, name, listed, written)] for number in numbers})


def _listed(statement: OpenScopStatement) -> dict[str, Accesses]:
    """What the file lists, by array."""
    return _by_array((array, kind is not AccessKind.READ, relation) for kind, array, relation in statement.accesses)


def _in_body(statement: OpenScopStatement, parameters: Sequence[str]) -> dict[str, Accesses]:
    """What the text of a statement accesses, by name; without what is no affine element."""
    return _by_array(_references(statement, parameters))


def _by_array(accesses: Iterator[tuple[str, bool, isl.Map]]) -> dict[str, Accesses]:
    found: dict[str, Accesses] = {}
    for array, is_written, relation in accesses:
        writes, reads = found.get(array, ((), ()))
        found[array] = ((*writes, relation), reads) if is_written else (writes, (*reads, relation))
    return found


def _references(statement: OpenScopStatement, parameters: Sequence[str]) -> Iterator[tuple[str, bool, isl.Map]]:
    body, at = statement.body, 0
    while (name := _NAME.search(body, at)) is not None:
        at = name.end()
        subscripts, end = _subscripts(body, at)
        if name[0] in (*statement.iterators, *parameters, *WORDS) or body[end:].lstrip().startswith("("):
            continue
        element = _element(statement, parameters, subscripts)
        if element is None:
            continue
        assigned = None if body[:name.start()].strip() else _ASSIGNED.match(body, end)
        if assigned is not None:
            yield name[0], True, element
        if assigned is None or assigned[1] != "=":
            yield name[0], False, element


def _subscripts(body: str, at: int) -> tuple[list[str], int]:
    """The texts in the brackets that follow, and where they end."""
    found: list[str] = []
    while (opening := _OPENING.match(body, at)) is not None:
        depth, end = 1, opening.end()
        while end < len(body) and depth:
            depth += (body[end] == "[") - (body[end] == "]")
            end += 1
        found.append(body[opening.end():end - 1])
        at = end
    return found, at


def _element(statement: OpenScopStatement, parameters: Sequence[str], subscripts: list[str]) -> isl.Map | None:
    if not all(_AFFINE.fullmatch(text) for text in subscripts):
        return None
    text = f"[{', '.join(parameters)}] -> {{ [{', '.join(statement.iterators)}] -> [{', '.join(subscripts)}] }}"
    try:
        return isl.Map(text)
    except isl.Error:
        return None


def _fits(number: str, name: str, listed: list[dict[str, Accesses]], written: list[dict[str, Accesses]]) -> bool:
    """Whether the statements access, by this name, what they list by this number."""
    nothing: Accesses = ((), ())
    return all(_same(one, other) for own, body in zip(listed, written, strict=True)
               for one, other in zip(own.get(number, nothing), body.get(name, nothing), strict=True))


def _same(some: tuple[isl.Map, ...], others: tuple[isl.Map, ...]) -> bool:
    return all(any(_is_equal(one, other) for other in others) for one in some) and all(
        any(_is_equal(one, other) for one in some) for other in others)


def _is_equal(one: isl.Map, other: isl.Map) -> bool:
    sides = (isl.dim_type.in_, isl.dim_type.out)
    return all(one.dim(side) == other.dim(side) for side in sides) and bool(one.is_equal(other))


def _different(fitting: Mapping[str, list[str]]) -> dict[str, str]:
    """A name for each number, no two the same; numbers that fit the same names are accessed alike."""
    chosen: dict[str, str] = {}
    for number, names in fitting.items():
        name = next((name for name in names if name not in chosen.values()), None)
        if name is None:
            return {}
        chosen[number] = name
    return chosen
