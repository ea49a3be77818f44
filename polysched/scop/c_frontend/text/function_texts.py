"""The functions that a C file defines, as text: where each begins and ends, and the names of its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from polysched.records import dataclass
from polysched.scop.c_frontend.text.text_scan import Scanner, Token

_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


@dataclass(frozen=True, kw_only=True)
class FunctionText:
    """One definition.

    Parameters
    ----------
    name : of the function.
    start, body, end : offsets of its first word, of the bracket that opens its body, and behind the one that closes it.
    head : the words and signs in front of the name.
    parameters : their names; None where the text does not tell them.
    """

    name: str
    start: int
    body: int
    end: int
    head: tuple[str, ...]
    parameters: tuple[str, ...] | None

    @property
    def returns_nothing(self) -> bool:
        """Whether it has no value."""
        return "void" in self.head and "*" not in self.head


def functions_of(scanner: Scanner) -> Iterator[FunctionText]:
    """Every function that a file defines with a list of parameter types, in textual order."""
    tokens, at, first = scanner.tokens, 0, 0
    while at < len(tokens):
        word = tokens[at][0]
        linkage = _is_linkage(tokens, at)
        if linkage or word in (";", "#", "}"):
            first = at + 1
        behind = scanner.group(at) if word in ("(", "{", "[") and not linkage else None
        if behind is None:
            at += 1
            continue
        found = _definition(scanner, first, at, behind)
        if found is not None:
            function, behind = found
            yield function
        if word == "{" or (behind > 0 and tokens[behind - 1][0] == "}"):
            first = behind
        at = behind


def _definition(scanner: Scanner, first: int, at: int, behind: int) -> tuple[FunctionText, int] | None:
    """The function whose parameters stand between two tokens, and the token behind it; None where they are others."""
    tokens = scanner.tokens
    if tokens[at][0] != "(" or at <= first or not _WORD.fullmatch(tokens[at - 1][0]) or not _opens(tokens, behind):
        return None
    end = scanner.group(behind)
    if end is None:
        return None
    return FunctionText(name=tokens[at - 1][0], start=tokens[first][1], body=tokens[behind][1], end=tokens[end - 1][2],
                        head=tuple(t[0] for t in tokens[first:at - 1]),
                        parameters=_parameters(tokens[at + 1:behind - 1])), end


def _is_linkage(tokens: list[Token], at: int) -> bool:
    """Whether a bracket opens what C++ takes as C: `extern "C" {`."""
    return at > 0 and tokens[at][0] == "{" and tokens[at - 1][0].startswith('"')


def _opens(tokens: list[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at][0] == "{"


def _parameters(tokens: list[Token]) -> tuple[str, ...] | None:
    """The names in a list of parameters: the last word of each, outside of square brackets."""
    words = [token[0] for token in tokens]
    if not words or words == ["void"]:
        return ()
    if any(word in ("(", "...", "#", ".") for word in words):   # pointers to functions, other arguments behind these
        return None
    names: list[str] = []
    depth, last, count = 0, "", 0
    for word in [*words, ","]:
        depth += (word == "[") - (word == "]")
        if word == "," and not depth:
            if count < 2:
                return None   # a type without a name
            names.append(last)
            last, count = "", 0
        elif not depth and _WORD.fullmatch(word):
            last, count = word, count + 1
        elif not depth and word == "*":
            count += 1
    return tuple(names)
