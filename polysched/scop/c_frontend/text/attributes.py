"""GNU C's attributes (`__attribute__((aligned(64)))`), which a parser of standard C cannot read.

Most say nothing about values and are dropped.  A function declared `const` is one that only computes with its
arguments; a pragma at the end of the text says so.  Those that make another type of the one that is written
(`typedef float v4 __attribute__((vector_size(16)))`) leave a qualifier on it that no type of a number can have in C.
"""

from __future__ import annotations

from polysched.scop.c_frontend.text.text_scan import Scanner, Token, line_ends, without_directives

# Where it does not qualify a pointer (C11 6.7.3), an attribute has changed the type; `c_types.qualified` refuses it.
CHANGED = "restrict"
_WORDS = frozenset({"__attribute__", "__attribute"})
_CONST = frozenset({"const", "__const__", "__const"})
_CHANGING = frozenset(word for name in ("vector_size", "ext_vector_type", "neon_vector_type", "mode")
                      for word in (name, f"__{name}__"))


def without_attributes(text: str) -> str:
    """Preprocessed text without attributes, on the same lines.

    Rewrite:  typedef float v4 __attribute__((vector_size(16)));  ->  restrict typedef float v4 ;
    """
    if not any(word in text for word in _WORDS):
        return text
    scanner = without_directives(text)
    tokens = scanner.tokens
    edits: list[tuple[int, int, str]] = []
    pure: dict[str, None] = {}
    at = 0
    while at < len(tokens):
        opens = tokens[at][0] in _WORDS and at + 1 < len(tokens) and tokens[at + 1][0] == "("
        behind = scanner.group(at + 1) if opens else None
        if behind is None:
            at += 1
            continue
        if any(t[0] in _CHANGING for t in tokens[at:behind]):
            start = tokens[_beginning(tokens, at)][1]
            edits.append((start, start, f"{CHANGED} "))
        if _CONST & {t[0] for t in tokens[at:behind]} and (name := _function(scanner, _beginning(tokens, at))):
            pure[name] = None
        start, end = tokens[at][1], tokens[behind - 1][2]
        edits.append((start, end, line_ends(text[start:end])))
        at = behind
    parts, copied = [], 0
    for start, behind, new in sorted(edits):
        parts += [text[copied:start], new]
        copied = behind
    declared = f"\n#pragma polysched pure {' '.join(pure)}\n" if pure else ""
    return "".join(parts) + text[copied:] + declared


def _function(scanner: Scanner, at: int) -> str | None:
    """The function that a declaration which begins at a token declares."""
    tokens = scanner.tokens
    while at + 1 < len(tokens) and tokens[at][0] not in (";", "{", "}", "=", ","):
        if tokens[at][0] in _WORDS:
            at = scanner.group(at + 1) or len(tokens)
        elif tokens[at + 1][0] == "(" and tokens[at][0].isidentifier():
            return tokens[at][0]
        else:
            at += 1
    return None


def _beginning(tokens: list[Token], at: int) -> int:
    """The first token of the declaration, parameter or type name around one."""
    depth, comma = 0, None
    while at:
        before = tokens[at - 1][0]
        if depth == 0 and before in (";", "{", "}", "("):
            return comma if comma is not None and before == "(" else at
        if depth == 0 and before == "," and comma is None:
            comma = at
        depth += (before in (")", "]")) - (before in ("(", "["))
        at -= 1
    return 0
