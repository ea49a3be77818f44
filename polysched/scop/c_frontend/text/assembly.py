"""Assembly in functions (`__asm__ volatile("..." : "=r"(x) : "r"(y))`), which a parser of standard C cannot read.

What it does is not known, so a statement of it becomes a call that nobody may look into and that gets the address of
every operand; what names a symbol or a register (`int f(void) asm("g");`) says nothing about values and is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

from polysched.scop.c_frontend.text.text_scan import Scanner, line_ends, without_directives

CALL = "asm"
_WORDS = frozenset({"asm", "__asm", "__asm__"})
_QUALIFIERS = frozenset({"volatile", "inline"})
_ENDS_A_STATEMENT = frozenset({";", "{", "}", ")", ":", "else", "do"})


def without_assembly(text: str) -> str:
    """Preprocessed text with calls for assembly statements, on the same lines.

    Rewrite:  __asm__("add %1, %0" : "+r"(x) : "r"(y));  ->  asm(&(x), &(y));

    Statements that jump (`asm goto`) stay as they are.
    """
    if not any(word in text for word in _WORDS):
        return text
    scanner = without_directives(text)
    tokens = scanner.tokens
    parts, copied, depth, at = [], 0, 0, 0
    while at < len(tokens):
        word, start, _, _ = tokens[at]
        depth += (word == "{") - (word == "}")
        behind = _behind(scanner, at) if word in _WORDS else None
        if behind is None:
            at += 1
            continue
        is_statement = depth > 0 and tokens[at - 1][0] in _ENDS_A_STATEMENT
        end = tokens[behind - 1][2]
        operands = ", ".join(f"&({' '.join(o.split())})" for o in _operands(scanner, at, behind))
        parts += [text[copied:start], f"{CALL}({operands})" if is_statement else "", line_ends(text[start:end])]
        copied, at = end, behind
    return "".join(parts) + text[copied:]


def _behind(scanner: Scanner, at: int) -> int | None:
    """The index behind the closing bracket of assembly; None where it is something else, or may jump."""
    tokens = scanner.tokens
    at += 1
    while at < len(tokens) and tokens[at][0] in _QUALIFIERS:
        at += 1
    if at + 1 >= len(tokens) or tokens[at][0] != "(" or not tokens[at + 1][0].startswith('"'):
        return None
    return scanner.group(at)


def _operands(scanner: Scanner, at: int, behind: int) -> Iterator[str]:
    """The expressions in brackets behind a constraint, `"=r" (x)`, among the tokens between two indices."""
    tokens = scanner.tokens
    while at + 1 < behind:
        after = scanner.group(at + 1) if tokens[at][0].startswith('"') and tokens[at + 1][0] == "(" else None
        if after is None:
            at += 1
            continue
        yield scanner.text[tokens[at + 1][2]:tokens[after - 1][1]]
        at = after
