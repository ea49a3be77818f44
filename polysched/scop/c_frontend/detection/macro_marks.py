"""What a piece of the file's text becomes in the preprocessed text.

Without pragmas, a region is looked up in the text by its line and its keyword.  Macros can stand on the same lines and
hide a loop in front of the one that is seen, a statement behind it, or brackets:

    #define TWICE for (r = 0; r < 2; r++)
    TWICE for (i = 0; i < n; i++) x[i] += 1;

So the file is preprocessed once more with a mark wherever a statement of the text could begin or end.  What stands
between two marks is what the text between them becomes, and it has to be the statements of the region, no more and no
less.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from pycparser import c_ast

from polysched.errors import SourceSyntaxError
from polysched.scop.c_frontend.detection.bare_bodies import WORDS_AHEAD
from polysched.scop.c_frontend.text.preprocess import SourceFile, preprocess
from polysched.scop.c_frontend.text.text_scan import MARK, Scanner, Token

_LINE_MARKER = re.compile(r'\s*#\s*(?:line\s+)?(?P<line>\d+)\s+"(?P<path>(?:\\.|[^"\\])*)"')
_KEYWORDS = ("for", "if", "while", "do")
_BETWEEN_STATEMENTS = (";", "{", "}")
_CONTROL = (c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile)


class MacroMarks:
    """Where the statements of a file's text stand in the preprocessed text, and in the syntax tree.

    Parameters
    ----------
    source : the file.
    preprocessed : what `preprocess` makes of it.
    scanner : of the file's text.
    """

    def __init__(self, source: SourceFile, preprocessed: str, scanner: Scanner) -> None:
        self._text = scanner
        self._preprocessed = Scanner(preprocessed)
        self._offsets: dict[int, list[int]] = defaultdict(list)  # in the preprocessed text, of the file's lines
        directives = [t for t in self._preprocessed.tokens if t[0] == "#"]
        for behind, path, line in _physical_lines(preprocessed, directives):
            if path == source.path:
                self._offsets[line].append(behind)
        self._preprocessed.drop(lambda token: _is_line_marker(preprocessed, token))
        self._starts = [token[1] for token in self._preprocessed.tokens]
        self._marks = self._read_marks(source)

    def _read_marks(self, source: SourceFile) -> dict[str, int]:
        """Behind how many tokens each mark stands; none where marks change what is read."""
        prefix = MARK
        while prefix in source.text:
            prefix += "_"
        try:
            marked = preprocess(replace(source, text=_with_marks(self._text, prefix), on_disk=False))
        except SourceSyntaxError:
            return {}
        found: dict[str, list[int]] = defaultdict(list)
        words: list[str] = []
        again = Scanner(marked)
        again.drop(lambda token: _is_line_marker(marked, token))
        for word, *_ in again.tokens:
            if word.startswith(prefix):
                found[word.removeprefix(prefix)].append(len(words))
            else:
                words.append(word)
        if [*map(_without_content, words)] != [_without_content(token[0]) for token in self._preprocessed.tokens]:
            return {}
        return {mark: places[0] for mark, places in found.items() if len(places) == 1}

    def are_all_of(self, extent: tuple[int, int], items: list[c_ast.Node], first: int, behind: int) -> bool:
        """Whether an extent of the file's text becomes these items of a block, and nothing else."""
        start, end = self._marks.get(f"s{self._text.behind_directives(extent[0])}"), self._marks.get(f"e{extent[1]}")
        most = sum(not isinstance(item, c_ast.Pragma) for item in items[first:behind])
        if start is None or end is None or not self._preprocessed.whole_statements(start, end, most=most):
            return False
        hidden = self.is_bare(extent[0]) and self._text.word_before(extent[0]) not in WORDS_AHEAD
        if hidden or self._ahead(start) not in (*_BETWEEN_STATEMENTS, *WORDS_AHEAD):
            return False
        while isinstance(items[first], c_ast.Pragma) and first < behind - 1:
            first += 1
        return (self._begins(start, items[first]) and self._at(items[behind - 1], lambda token: token < end)
                and (behind == len(items) or self._at(items[behind], lambda token: token >= end)))

    def is_bare(self, offset: int) -> bool:
        """Whether the statement at an offset of the text becomes the body of a loop or condition without brackets."""
        start = self._marks.get(f"s{self._text.behind_directives(offset)}")
        return start is not None and self._ahead(start) in WORDS_AHEAD

    def _ahead(self, start: int) -> str:
        """The last token in front of one that is no directive."""
        return next((word for at in range(start - 1, -1, -1) if (word := self._preprocessed.tokens[at][0]) != "#"), ";")

    def _begins(self, start: int, item: c_ast.Node) -> bool:
        """Whether a statement of the tree is the one that begins at a token."""
        while self._preprocessed.tokens[start][0] == "#":
            start += 1
        if isinstance(item, _CONTROL):
            return self._at(item, lambda token: token == start)
        next_statement = self._preprocessed.behind_statement(start)
        return next_statement is not None and self._at(item, lambda token: start <= token < next_statement)

    def _at(self, node: c_ast.Node, holds: Callable[[int], bool]) -> bool:
        """Whether something holds for the token at which a node of the tree has its place."""
        return node.coord is not None and any(
            holds(bisect_left(self._starts, offset + node.coord.column - 1))
            for offset in self._offsets.get(node.coord.line, ()))


def _without_content(word: str) -> str:
    """A token as it is compared; what a string says may differ (`__FILE__` of a header, `__TIME__`)."""
    return '"' if word.startswith('"') else word


def _is_line_marker(text: str, token: Token) -> bool:
    return token[0] == "#" and _LINE_MARKER.match(text, token[1], token[2]) is not None


def _physical_lines(text: str, directives: list[Token]) -> list[tuple[int, str, int]]:
    """The offset of every line of preprocessed text, with the file and the line that it came from."""
    markers = {token[1]: match for token in directives
               if (match := _LINE_MARKER.match(text, token[1], token[2])) is not None}
    found, path, line, offset = [], "", 0, 0
    for physical in text.split("\n"):
        if (marker := markers.get(offset)) is not None:
            path, line = marker["path"], int(marker["line"])
        else:
            found.append((offset, path, line))
            line += 1
        offset += len(physical) + 1
    return found


def _with_marks(scanner: Scanner, prefix: str) -> str:
    """The scanner's text with a mark wherever a statement could begin or end."""
    text, pieces, done = scanner.text, [], 0
    for at, (word, start, end, _) in enumerate(scanner.tokens):
        if word == "#":
            continue
        before = scanner.tokens[at - 1][0] if at else ";"
        if word in _KEYWORDS or before in _BETWEEN_STATEMENTS:
            pieces += [text[done:start], f" {prefix}s{start} "]
            done = start
        if word in (";", "}"):
            pieces += [text[done:end], f" {prefix}e{end} "]
            done = end
    return "".join((*pieces, text[done:]))
