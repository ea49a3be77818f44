"""Pragmas of others around and inside a region: which of them can go, and which mean threads that we know nothing of.

A region is replaced by code that says by itself what runs in parallel, so the pragmas inside go: without them a
conforming OpenMP program computes the same (OpenMP 4.5, section 1.3: the sequential elision). That holds for a
construct that is inside as a whole. A loop that the threads of a surrounding `parallel` share (`omp for`), or a
`critical` that other threads respect, is not.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter

from pycparser import c_ast

from polysched.errors import SourceLocation, UnsupportedScopError
from polysched.scop.c_frontend.parse import SyntaxRegion
from polysched.scop.c_frontend.text.text_scan import Scanner, scanned

_OF_LOOPS = {"GCC": {"ivdep", "unroll"}, "clang": {"loop"}, "unroll": set(), "ivdep": set(), "vector": set(),
             "simd": set(), "nounroll": set()}
"""First words of pragmas for the loop behind them, with the second words that make them so; any when there is none."""
_HINT = "take the whole parallel construct into the region, or leave this loop out"


def goes_with_loop(pragma: c_ast.Node) -> bool:
    """Whether a pragma belongs to the loop behind it alone, and can go with it: `omp parallel for`, `GCC ivdep`."""
    words = _words(pragma)
    if words[:1] == ["omp"]:
        return words[1:2] == ["simd"] or words[1:3] == ["parallel", "for"]
    second = _OF_LOOPS.get(words[0]) if words else None
    return second is not None and (not second or (words[1:2] != [] and words[1] in second))


def check_directives(path: str, text: str, region: SyntaxRegion) -> None:
    """Refuse a region that is a part of what a pragma governs.

    Parameters
    ----------
    text : of the file, as it stands.

    Raises
    ------
    UnsupportedScopError : a pragma in front of the region governs its first statement, be it one that the preprocessor
        leaves out and the compiler may see; threads from outside meet in it; or another device executes it.
    """
    if region.before and _governs(before := region.before[-1]):
        raise _refusal(path, before, "a pragma in front of the region governs its first statement",
                       "move it into the region, where it is replaced together with its loop"
                       if goes_with_loop(before) else _HINT)
    for line, pragma in _directly_in_front(text, region):
        if _governs(pragma):
            raise UnsupportedScopError(
                "a pragma under conditional compilation governs the first statement of the region",
                where=SourceLocation(path, line), witness=f"#pragma {pragma.string}",
                hint="leave it out: the region says by itself what runs in parallel" if goes_with_loop(pragma)
                else _HINT)
    for pragma in _shared_with_others(region.items):
        raise _refusal(path, pragma, "threads that the region does not start meet in it", _HINT)
    for pragma in _around(region.path):
        if {"target", "teams", "acc"} & set(_words(pragma)):
            raise _refusal(path, pragma, "the region belongs to another device", "leave it out")


def with_conditional_pragmas(scanner: Scanner, start: int) -> int:
    """Where a loop begins together with the pragmas in front of it that stand under conditional compilation.

    Rewrite:  #ifdef _OPENMP           ->  (a part of the loop)
              #pragma omp parallel for
              #endif
              for (...)

    That is so if such groups stand directly in front of it and hold only pragmas that belong to the loop.
    """
    tokens = scanner.tokens
    at = bisect_right(tokens, start, key=itemgetter(2))
    depth, first = 0, start
    for word, begin, end, _ in reversed(tokens[:at]):
        if word != "#":
            break
        words = _directive(scanner.text[begin:end])
        if words[:1] == ["endif"]:
            depth += 1
        elif words and words[0].startswith("if"):
            depth -= 1
            if depth == 0:
                first = begin
        elif words[:1] == ["pragma"]:
            if depth == 0 or not goes_with_loop(c_ast.Pragma(" ".join(words[1:]))):
                break
        elif words[:1] not in (["else"], ["elif"]):
            break
        if depth < 0:
            break
    return first


def _directive(text: str) -> list[str]:
    """The words of a directive."""
    return re.sub(r"\\\r?\n", " ", text).replace("#", " ", 1).split()


def _directly_in_front(text: str, region: SyntaxRegion) -> Iterator[tuple[int, c_ast.Pragma]]:
    """The pragmas of the file's own text between the statement before the region and the region, with their lines."""
    tokens = scanned(text).tokens
    for kind, start, end, line in reversed(tokens[:bisect_right(tokens, region.text_region.start, key=itemgetter(2))]):
        if kind != "#":
            return
        words = re.sub(r"\\\r?\n", " ", text[start:end]).replace("#", " ", 1).split(maxsplit=1)
        if words[:1] == ["pragma"]:
            yield line, c_ast.Pragma(" ".join(words[1:]))


def _refusal(path: str, pragma: c_ast.Node, problem: str, hint: str) -> UnsupportedScopError:
    where = SourceLocation(path, pragma.coord.line if pragma.coord is not None else 0)
    return UnsupportedScopError(problem, where=where, witness=f"#pragma {pragma.string}", hint=hint)


def _words(pragma: c_ast.Node) -> list[str]:
    """`omp parallel for private(x)` is `omp`, `parallel`, `for`, `private`, ..."""
    if not isinstance(pragma, c_ast.Pragma):
        return []
    return (pragma.string or "").replace("(", " ( ").split()


def _governs(node: c_ast.Node) -> bool:
    """Whether a pragma says something of the statement behind it."""
    words = _words(node)
    alone = {"barrier", "taskwait", "taskyield", "flush", "threadprivate", "declare", "end"}
    return goes_with_loop(node) or (words[:1] in (["omp"], ["acc"]) and words[1:2] != [] and words[1] not in alone)


def _shared_with_others(items: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
    """The constructs that bind to a team of threads which none of these statements starts."""
    starts = False
    for item in items:
        words = _words(item)
        if words[:1] in (["omp"], ["acc"]):
            starts = words[1:2] == ["parallel"]
            if not starts and words[1:2] != ["simd"]:
                yield item
        elif not isinstance(item, c_ast.Pragma):
            if not starts:
                yield from _shared_with_others(_inside(item))
            starts = False


def _inside(node: c_ast.Node) -> list[c_ast.Node]:
    """The statements directly in a node."""
    return list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [child for _, child in node.children()]


def _around(path: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
    """The pragmas directly in front of the nodes that lead to a block."""
    for above, node in itertools.pairwise(path):
        items = list(above.block_items or ()) if isinstance(above, c_ast.Compound) else []
        for before, item in itertools.pairwise(items):
            if item is node and isinstance(before, c_ast.Pragma):
                yield before
