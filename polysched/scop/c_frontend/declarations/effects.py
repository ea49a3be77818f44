"""What functions of other files reach through their pointers, as the file declares it.

    #pragma polysched effects axpy(n, a, x, y) reads x[0:n], y[0:n] writes y[0:n]

The names in the parentheses stand for the arguments, one after the other.  A section `x[first:count]` is that of
OpenMP 4.5, section 2.4; `x[k]` is one element, `*x` the first.  What is not named is neither read nor written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import identifiers_in
from polysched.scop.c_frontend.parse import everything, is_step, place

_EFFECTS = re.compile(r"polysched\s+effects\b\s*(?P<rest>.*)", re.S)
_HEAD = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*\((?P<names>[^()]*)\)\s*(?P<rest>.*)", re.S)
_WORDS = re.compile(r"\b(reads|writes)\b")
_ALLOWED = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.UnaryOp, c_ast.TernaryOp)
EXAMPLE = "#pragma polysched effects f(n, x, y) reads x[0:n] writes y[0:n]"


@dataclass(frozen=True, eq=False)
class Section:
    """Elements behind one pointer.

    Parameters
    ----------
    pointer : the parameter's name.
    firsts, counts : per dimension the first subscript and the number of elements, over parameters; None in all where
        they are not known.
    """

    pointer: str
    firsts: tuple[c_ast.Node | None, ...]
    counts: tuple[c_ast.Node | None, ...]


@dataclass(frozen=True, eq=False)
class DeclaredEffects:
    """All that a function reads and writes in memory.

    Parameters
    ----------
    function : its name.
    parameters : what the declaration calls its parameters.
    reads, writes : the sections that it may read and write.
    """

    function: str
    parameters: tuple[str, ...]
    reads: tuple[Section, ...]
    writes: tuple[Section, ...]


def declared_effects(path: str, tree: c_ast.FileAST) -> Mapping[str, DeclaredEffects]:
    """The functions of the file's pragmas by name.

    Raises
    ------
    UnsupportedScopError : a pragma cannot be read, or speaks of a function for a second time.
    """
    found: dict[str, DeclaredEffects] = {}
    for node in everything(tree):
        if isinstance(node, c_ast.Pragma) and (match := _EFFECTS.match(node.string or "")):
            made = _read(path, node, match["rest"])
            if made.function in found:
                raise _refused(path, node, f"the effects of `{made.function}` are declared twice")
            found[made.function] = made
    return found


def _refused(path: str, node: c_ast.Node, problem: str) -> UnsupportedScopError:
    return UnsupportedScopError(problem, where=place(path, node), witness=f"#pragma {node.string}",
                                hint=f"for instance `{EXAMPLE}`")


def _read(path: str, node: c_ast.Pragma, text: str) -> DeclaredEffects:
    head = _HEAD.match(text)
    names = tuple(name.strip() for name in head["names"].split(",")) if head is not None else ()
    if head is None or any(name and not name.isidentifier() for name in names):
        raise _refused(path, node, "the declaration of effects begins with no function and names of its parameters")
    if len(set(names)) < len(names):
        raise _refused(path, node, "two parameters have one name")
    begin, *parts = _WORDS.split(head["rest"])
    if begin.strip():
        raise _refused(path, node, f"`{begin.strip()}` is neither `reads` nor `writes`")
    sections: dict[str, list[Section]] = {"reads": [], "writes": []}
    for word, listed in zip(parts[::2], parts[1::2], strict=True):
        for item in _items(listed):
            sections[word].append(_section(path, node, item, names))
    return DeclaredEffects(head["name"], () if names == ("",) else names, tuple(sections["reads"]),
                           tuple(sections["writes"]))


def _items(text: str) -> Iterator[str]:
    """The parts between commas outside of brackets and parentheses."""
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            yield text[begin:at].strip()
            begin = at + 1
    yield text[begin:].strip()


def _section(path: str, node: c_ast.Pragma, text: str, names: tuple[str, ...]) -> Section:
    star = re.fullmatch(r"\*\s*([A-Za-z_]\w*)", text)
    match = re.fullmatch(r"([A-Za-z_]\w*)\s*((?:\[[^\[\]]*\]\s*)+)", text)
    if star is None and match is None:
        raise _refused(path, node, f"`{text}` is no section of memory behind a pointer")
    pointer = star[1] if star is not None else match[1] if match is not None else ""
    if pointer not in names:
        raise _refused(path, node, f"`{pointer}` is none of the function's parameters")
    ranges = ["0"] if match is None else re.findall(r"\[([^\[\]]*)\]", match[2])
    firsts, counts = [], []
    for each in ranges:
        first, count = _split(each)
        firsts.append(_expression(path, node, first, names))
        counts.append(_expression(path, node, count, names))
    return Section(pointer, tuple(firsts), tuple(counts))


def _split(text: str) -> tuple[str, str]:
    """The first subscript and the number of elements; the colon of a choice stands in parentheses."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == ":" and not depth:
            return text[:at].strip() or "0", text[at + 1:].strip()
    return text.strip(), "1"


def _expression(path: str, node: c_ast.Pragma, text: str, names: tuple[str, ...]) -> c_ast.Node:
    """A bound over the parameters."""
    found = bound_of(text)
    if found is None or any(not isinstance(n, _ALLOWED) or is_step(n) for n in everything(found)) or (
            identifiers_in(found) - set(names)):
        raise _refused(path, node, f"`{text}` is no sum or product of the function's parameters")
    for part in everything(found):
        part.coord = node.coord
    return found


def bound_of(text: str) -> c_ast.Node | None:
    """An expression of C; None where the text is none."""
    try:
        found: c_ast.Node = CParser().parse(f"int polysched_bound = ({text});").ext[0].init
    except ParseError:
        return None
    return found
