"""Texts whose headers are those of the program: a process parses these once.

Most files begin with a few of the standard headers, which here are a hundred declarations that are the same for every
file, and take the parser longer than the file itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pycparser import c_ast, c_parser
from pycparser.c_parser import ParseError

from polysched.records import dataclass
from polysched.scop.c_frontend.text.preprocess import STUB_HEADERS

_MARKER = re.compile(r'#\s+\d+\s+"([^"\n]*)"')


@dataclass(frozen=True)
class _Headers:
    """What headers declare; trees share these nodes, which nothing changes.

    Parameters
    ----------
    declarations : in order, those of the prelude in front.
    types : the names of types, which the parser has to know behind the headers.
    others : all other names at file scope.
    """

    declarations: tuple[c_ast.Node, ...]
    types: tuple[str, ...]
    others: frozenset[str]


def tree_of(text: str, path: str, prelude: str) -> c_ast.FileAST:
    """The syntax tree of preprocessed text behind a prelude of declarations, as the parser makes it of both.

    Raises
    ------
    ParseError : the parser cannot read it.
    """
    headers, rest = split(text)
    if headers:
        known = _parsed(prelude, headers)
        names = "".join(f"typedef int {name};\n" for name in known.types)
        try:
            tree = c_parser.CParser().parse(f"{prelude}{names}{rest}", path)
        except ParseError:   # told as if nothing were shared
            return c_parser.CParser().parse(prelude + text, path)
        own = tree.ext[_count(prelude) + len(known.types):]
        if not any(isinstance(node, c_ast.Typedef) and node.name in known.others for node in own):
            tree.ext = [*known.declarations, *own]
            return tree
    return c_parser.CParser().parse(prelude + text, path)


def split(text: str) -> tuple[str, str]:
    """What the program's headers give at the beginning of a preprocessed text, and the rest, from a line marker on.

    Both keep their line markers, so that every declaration stands where it stood; that of the headers is the same
    whichever file includes them.
    """
    headers: list[str] = []
    inside, at, end, kept = False, 0, 0, 0
    for line in text.splitlines(keepends=True):
        if found := _MARKER.match(line):
            inside = found[1].startswith(f"{STUB_HEADERS}/")
            if not inside:
                end, kept = at, len(headers)
        elif not inside and not line.isspace():
            break
        if inside:
            headers.append(line)
        at += len(line)
    else:
        return "", text   # nothing stands behind the headers
    return ("".join(headers[:kept]), text[end:]) if end else ("", text)


@lru_cache(maxsize=64)
def _parsed(prelude: str, headers: str) -> _Headers:
    declarations = tuple(c_parser.CParser().parse(prelude + headers).ext)
    types = tuple(dict.fromkeys(n.name for n in declarations[_count(prelude):] if isinstance(n, c_ast.Typedef)))
    return _Headers(declarations=declarations, types=types, others=frozenset(_other_names(declarations)))


@lru_cache(maxsize=4)
def _count(prelude: str) -> int:
    return len(c_parser.CParser().parse(prelude).ext)


def _other_names(declarations: tuple[c_ast.Node, ...]) -> Iterator[str]:
    """The names that are no types, enumerators among them."""
    left: list[c_ast.Node] = list(declarations)
    while left:
        node = left.pop()
        if isinstance(node, c_ast.Enumerator) or (isinstance(node, c_ast.Decl) and node.name is not None):
            yield node.name
        left.extend(child for _, child in node.children())
