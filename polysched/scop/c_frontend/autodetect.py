"""Regions without pragmas: the largest runs of statements around loops that can be represented.

In every block the first loop starts a run, which grows statement by statement as long as the whole
still is a static control part, and ends with a loop.  A loop that is none is searched inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.scop.c_frontend.parse import SyntaxRegion, everything
from polysched.scop.c_frontend.preprocess import SourceFile
from polysched.scop.c_frontend.regions import TextRegion
from polysched.scop.c_frontend.text_scan import Scanner
from polysched.scop.scop import Scop


def detect(source: SourceFile, tree: c_ast.FileAST,
           extract: Callable[[SyntaxRegion], Scop]) -> tuple[tuple[Scop, ...], UnsupportedScopError | None]:
    """The Scops of every region that is found, in textual order, and the first refusal on the way."""
    search = _Search(source, extract)
    for function in tree.ext:
        if isinstance(function, c_ast.FuncDef) and function.coord is not None and function.coord.file == source.path:
            for path in _blocks_outermost(function.body, ()):
                search.block(function, path)
    return tuple(search.found), search.refusal


def _blocks_outermost(node: c_ast.Node, above: tuple[c_ast.Node, ...]) -> Iterator[tuple[c_ast.Node, ...]]:
    """Every block of a function with the nodes that lead to it, outer blocks first."""
    path = (*above, node)
    if isinstance(node, c_ast.Compound):
        yield path
    for _, child in node.children():
        yield from _blocks_outermost(child, path)


class _Search:
    """What was found so far; blocks inside a region that was taken are left out."""

    def __init__(self, source: SourceFile, extract: Callable[[SyntaxRegion], Scop]) -> None:
        self.source = source
        self.extract = extract
        self.scanner = Scanner(source.text)
        self.found: list[Scop] = []
        self.taken: set[c_ast.Node] = set()
        self.refusal: UnsupportedScopError | None = None

    def block(self, function: c_ast.FuncDef, path: tuple[c_ast.Node, ...]) -> None:
        """Search the statements of one block."""
        if any(node in self.taken for node in path):
            return
        items = path[-1].block_items or []
        at = 0
        while at < len(items):
            at = self.run(function, path, items, at) if _has_loop(items[at]) else at + 1

    def run(self, function: c_ast.FuncDef, path: tuple[c_ast.Node, ...], items: list[c_ast.Node], start: int) -> int:
        """Grow a run from one statement; the index behind it."""
        best: tuple[int, Scop] | None = None
        for end in range(start + 1, len(items) + 1):
            if not _has_loop(items[end - 1]):
                continue
            scop = self.attempt(function, path, items, start, end)
            if scop is None:
                break
            best = (end, scop)
        if best is None:
            return start + 1
        self.found.append(best[1])
        self.taken.update(items[start:best[0]])
        return best[0]

    def attempt(self, function: c_ast.FuncDef, path: tuple[c_ast.Node, ...], items: list[c_ast.Node], start: int,
                end: int) -> Scop | None:
        """The Scop of some statements of a block; None when they are none, or cannot be found in the text."""
        text_region = self.text_region(items[start], items[end - 1])
        if text_region is None:
            return None
        region = SyntaxRegion(text_region=text_region, function=function, path=path, before=tuple(items[:start]),
                              items=tuple(items[start:end]), after=tuple(items[end:]))
        try:
            return self.extract(region)
        except UnsupportedScopError as refusal:
            self.refusal = self.refusal or refusal
            return None

    def text_region(self, first: c_ast.Node, last: c_ast.Node) -> TextRegion | None:
        """Where the statements stand in the file; None when a macro or directive hides it."""
        start, end = (self.scanner.statement_at(node.coord.line, _keyword(node)) for node in (first, last))
        if start is None or end is None or self.scanner.has_directive(start[0], end[1]):
            return None
        text = self.source.text
        before = text[text.rfind("\n", 0, start[0]) + 1:start[0]]
        return TextRegion(start[0], end[1], first.coord.line, text.count("\n", 0, end[1]) + 1,
                          before if not before.strip() else "")


def _has_loop(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.For | c_ast.If) and any(isinstance(n, c_ast.For) for n in everything(node))


def _keyword(node: c_ast.Node) -> str:
    return "for" if isinstance(node, c_ast.For) else "if"
