"""GNU C's `__typeof__(x)` (C23's `typeof`), which a parser of standard C cannot read.

The name of a type in it stands for itself.  Which type an expression has is not known here: a type of its own takes its
place, of which no object can be used (`c_types`), so that the rest of the file is read.
"""

from __future__ import annotations

from polysched.scop.c_frontend.text.text_scan import line_ends, without_directives

UNKNOWN = "__typeof__"
"""The name of the type of an expression; `parse` declares it."""

_WORDS = frozenset({"typeof", "__typeof", "__typeof__"})
_TYPE_WORDS = frozenset({
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "_Complex", "const"})


def without_typeof(text: str) -> str:
    """Preprocessed text without `typeof`, on the same lines.

    Rewrite:  __typeof__(unsigned long) n; __typeof__(n + 1) m;  ->  unsigned long n; __typeof__ m;

    What has the name `typeof` itself, as strict C11 allows, keeps it but for a call in front of `*` or `)`, which looks
    like a type.
    """
    if not any(word in text for word in _WORDS):
        return text
    tokens = (scanner := without_directives(text)).tokens
    parts, copied, at = [], 0, 0
    while at < len(tokens):
        word, start, _, _ = tokens[at]
        behind = scanner.group(at + 1) if word in _WORDS and at + 1 < len(tokens) and tokens[at + 1][0] == "(" else None
        if behind is None or behind >= len(tokens) or not _begins_a_declarator(tokens[behind][0]):
            at += 1
            continue
        inside = [t[0] for t in tokens[at + 2:behind - 1]]
        end = tokens[behind - 1][2]
        parts += [text[copied:start], " ".join(inside) if inside and _TYPE_WORDS.issuperset(inside) else UNKNOWN,
                  line_ends(text[start:end])]
        copied, at = end, behind
    return "".join(parts) + text[copied:]


def _begins_a_declarator(word: str) -> bool:
    """Whether a type can stand in front of a word: a name, a pointer, or the end of a type name."""
    return word.isidentifier() or word in ("*", ")")
