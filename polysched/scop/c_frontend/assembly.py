"""Assembly in functions (`__asm__ volatile("..." : "=r"(x) : "r"(y))`), which a parser of standard C cannot read.

What it does is not known, so a statement of it becomes a call that nobody may look into and that gets the address of
every operand; what names a symbol or a register (`int f(void) asm("g");`) says nothing about values and is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

CALL = "asm"
MARK = "polysched_mark_"  # how the words begin that `macro_marks` adds to a text
_WORDS = frozenset({"asm", "__asm", "__asm__"})
_QUALIFIERS = frozenset({"volatile", "inline"})
_TOKEN = re.compile(r'^[ \t]*#[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\w+|[^\w\s]', re.M)
_ENDS_A_STATEMENT = frozenset({";", "{", "}", ")", ":", "else", "do"})


def without_assembly(text: str) -> str:
    """Preprocessed text with calls for assembly statements, on the same lines.

    Rewrite:  __asm__("add %1, %0" : "+r"(x) : "r"(y));  ->  asm(&(x), &(y));

    Statements that jump (`asm goto`) stay as they are.
    """
    if not any(word in text for word in _WORDS):
        return text
    tokens = tokens_of(text)
    parts, copied, depth, at = [], 0, 0, 0
    while at < len(tokens):
        word = tokens[at][0]
        depth += (word == "{") - (word == "}")
        end = _end(tokens, at) if word in _WORDS else None
        if end is None:
            at += 1
            continue
        is_statement = depth > 0 and tokens[at - 1][0] in _ENDS_A_STATEMENT
        span = text[tokens[at].start():tokens[end].end()]
        operands = ", ".join(f"&({' '.join(o.split())})" for o in _operands(text, tokens[at:end + 1]))
        parts += [text[copied:tokens[at].start()], f"{CALL}({operands})" if is_statement else "", line_ends(span)]
        copied, at = tokens[end].end(), end + 1
    return "".join(parts) + text[copied:]


def tokens_of(text: str) -> list[re.Match[str]]:
    """The tokens of preprocessed text without directives and marks; numbers may come in pieces."""
    return [t for t in _TOKEN.finditer(text) if not t[0].lstrip().startswith(("#", MARK))]


def _end(tokens: Sequence[re.Match[str]], at: int) -> int | None:
    """Where the closing bracket of assembly stands; None where it is something else, or may jump."""
    at += 1
    while at < len(tokens) and tokens[at][0] in _QUALIFIERS:
        at += 1
    if at + 1 >= len(tokens) or tokens[at][0] != "(" or not tokens[at + 1][0].startswith('"'):
        return None
    return closing(tokens, at)


def closing(tokens: Sequence[re.Match[str]], opening: int) -> int | None:
    """Where the bracket that opens at a token is closed; None where it is not, or none opens there."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at][0] == "(") - (tokens[at][0] == ")")
        if depth == 0:
            return at if at > opening else None
    return None


def _operands(text: str, tokens: Sequence[re.Match[str]]) -> Iterator[str]:
    """The expressions in brackets behind a constraint, `"=r" (x)`."""
    at = 0
    while at + 1 < len(tokens):
        end = closing(tokens, at + 1) if tokens[at][0].startswith('"') and tokens[at + 1][0] == "(" else None
        if end is None:
            at += 1
            continue
        yield text[tokens[at + 1].end():tokens[end].start()]
        at = end


def line_ends(span: str) -> str:
    """The line ends and line markers of a text."""
    return "".join(f"\n{line}" if line.startswith("#") else "\n" for line in span.split("\n")[1:])
