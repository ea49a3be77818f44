"""Where a C file starts teams of threads itself: places inside its parallel constructs, and functions called there.

Source: OpenMP 5.2, chapters 10 to 12: which directives start a team, or hand out work inside of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from polysched.scop.c_frontend.text.function_texts import functions_of
from polysched.scop.c_frontend.text.text_scan import Scanner, scanned

_PRAGMA = re.compile(r"#\s*pragma\s+omp\s+([a-z\s]+)")
_TEAM = frozenset({"parallel", "for", "sections", "section", "task", "taskloop", "single", "master", "masked", "target",
                   "teams", "distribute"})
"""Directives whose statement runs in a team, or divides the work of one that was started elsewhere."""
_NO_CALL = frozenset({"if", "for", "while", "switch", "return", "sizeof"})

Span = tuple[int, int]


def is_inside_parallel(text: str, offset: int) -> bool:
    """Whether a place of a C file stands behind the pragma and inside the statement of a construct that has threads."""
    return any(start < offset < end for start, end in _parallel_spans(text))


def is_called_in_parallel(text: str, function: str) -> bool:
    """Whether a function may be called by a thread of the file's own: from a parallel construct, directly or not."""
    return function in _called_in_parallel(text)


@lru_cache(maxsize=8)
def _parallel_spans(text: str) -> tuple[Span, ...]:
    if "omp" not in text:
        return ()
    scanner = scanned(text)
    found = []
    for at, (word, start, end, _) in enumerate(scanner.tokens):
        pragma = _PRAGMA.search(text[start:end].replace("\\\n", " ")) if word == "#" else None
        if pragma is None or not _TEAM & set(pragma[1].split()):
            continue
        behind = scanner.behind_statement(at + 1)
        if behind is not None:
            sign = text.index("#", start)   # the token begins with the line, the regions of such a loop with the sign
            found.append((sign, scanner.tokens[behind - 1][2]))
    return tuple(found)


@lru_cache(maxsize=8)
def _called_in_parallel(text: str) -> frozenset[str]:
    spans = _parallel_spans(text)
    if not spans:
        return frozenset()
    scanner = scanned(text)
    bodies = {f.name: (f.body, f.end) for f in functions_of(scanner)}
    found: set[str] = set()
    new = set().union(*(_calls(scanner, span) for span in _outermost(spans)))
    while new:
        found |= new
        new = set().union(*(_calls(scanner, bodies[name]) for name in new if name in bodies)) - found
    return frozenset(found)


def _outermost(spans: tuple[Span, ...]) -> Iterator[Span]:
    """The spans, in the order of their starts, that lie in no earlier one."""
    last = 0
    for start, end in spans:
        if end > last:
            yield start, end
            last = end


def _calls(scanner: Scanner, span: Span) -> set[str]:
    """The names in front of an opening bracket."""
    words = scanner.between(*span)
    return {word[0] for word, behind in pairwise(words)
            if behind[0] == "(" and (word[0][0].isalpha() or word[0][0] == "_") and word[0] not in _NO_CALL}
