"""Where the regions stand in the text of a file.

`#pragma scop` and `#pragma endscop` are looked for in the file's own text, outside comments and
literals, because the region is replaced there byte for byte; and in the preprocessed text, because
only that knows what conditional compilation leaves.
"""

from __future__ import annotations

import re

from polysched.errors import SourceLocation, UnsupportedScopError
from polysched.records import dataclass

_TOKEN = re.compile(r"""
      (?P<splice>\\\r?\n)
    | (?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
    | (?P<literal>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<newline>\n)
    | (?P<blank>[ \t\r\f\v]+)
    | (?P<hash>\#)
    | (?P<other>[^\\"'/\n\#\s]+|.)
    """, re.X | re.S)
_PRAGMA = re.compile(r"#\s*pragma\s+(scop|endscop)\b(.*)", re.S)
_LINE_MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:\\.|[^"\\])*)"')
HINT = "write `#pragma scop` before the loops and `#pragma endscop` after them, in the same block"


@dataclass(frozen=True)
class PragmaLine:
    """One `#pragma scop` or `#pragma endscop`: its word, character offsets in the text, and line."""

    word: str
    start: int
    end: int
    line: int


@dataclass(frozen=True)
class TextRegion:
    """A region in the text.

    Parameters
    ----------
    start, end : offsets, both pragmas included.
    first_line, last_line : their lines.
    indent : the white space before.
    bare : it is the body of a loop or condition without brackets.
    """

    start: int
    end: int
    first_line: int
    last_line: int
    indent: str
    bare: bool = False


def pragma_lines(text: str) -> tuple[PragmaLine, ...]:
    """Every scop pragma of a C text, those that conditional compilation drops included."""
    found: list[PragmaLine] = []
    line, at_line_start, position = 1, True, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match is not None
        if match["hash"] and at_line_start:
            end = _directive_end(text, position)
            words = _PRAGMA.match(_without_comments(text[position:end]))
            if words:
                found.append(PragmaLine(words[1], position, end, line))
            line += text.count("\n", position, end)
            position, at_line_start = end, False
            continue
        if match["newline"]:
            at_line_start = True
        elif not (match["blank"] or match["comment"] or match["splice"]):
            at_line_start = False
        line += match[0].count("\n")
        position = match.end()
    return tuple(found)


def _directive_end(text: str, position: int) -> int:
    """The offset where a directive's line ends, before the line end and white space."""
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match is not None
        if match["newline"]:
            break
        if match["comment"] and match[0].startswith("//"):
            position = match.end()
            break
        position = match.end()
    while position > 0 and text[position - 1] in " \t\r":
        position -= 1
    return position


def _without_comments(text: str) -> str:
    return _TOKEN.sub(lambda m: " " if m["comment"] or m["splice"] else m[0], text)


def active_pragmas(preprocessed: str) -> tuple[tuple[str, str, int], ...]:
    """The scop pragmas that the preprocessor left: file, word and line."""
    found = []
    path, line = "", 1
    for text in preprocessed.split("\n"):
        if text.startswith("#"):
            if marker := _LINE_MARKER.match(text):
                path, line = marker[2].replace("\\\\", "\\"), int(marker[1])
                continue
            if words := _PRAGMA.match(text):
                found.append((path, words[1], line))
        line += 1
    return tuple(found)


def find_regions(path: str, text: str, preprocessed: str) -> tuple[TextRegion, ...]:
    """The regions of a file that the preprocessor leaves in, in textual order.

    Raises
    ------
    UnsupportedScopError : a pragma without its partner, or one that only a macro or an included file writes.
    """
    left = active_pragmas(preprocessed)
    lines = {(word, line) for file, word, line in left if file == path}
    written = [p for p in pragma_lines(text)
               if any((p.word, line) in lines for line in range(p.line, p.line + 1 + text.count("\n", p.start, p.end)))]
    if len(written) < len(lines):
        missing = sorted(lines - {(p.word, p.line) for p in written}, key=lambda w: w[1])
        raise UnsupportedScopError(
            f"`#pragma {missing[0][0]}` comes out of a macro or a _Pragma",
            where=SourceLocation(path, missing[0][1]),
            hint="write the pragma itself: the region is replaced in the text")
    regions, opened = [], None
    for pragma in written:
        if pragma.word == "scop":
            if opened is not None:
                raise UnsupportedScopError(
                    f"`#pragma scop` while the region that begins in line {opened.line} is still open",
                    where=SourceLocation(path, pragma.line),
                    hint="regions cannot be nested; end the first one with `#pragma endscop`")
            opened = pragma
        elif opened is None:
            raise UnsupportedScopError("`#pragma endscop` without a `#pragma scop` before it",
                                       where=SourceLocation(path, pragma.line), hint=HINT)
        else:
            regions.append(_region(text, opened, pragma))
            opened = None
    if opened is not None:
        raise _unclosed(path, opened)
    return tuple(regions)


def _unclosed(path: str, opened: PragmaLine) -> UnsupportedScopError:
    return UnsupportedScopError("the scop region is never closed: no `#pragma endscop` follows",
                                where=SourceLocation(path, opened.line), witness="#pragma scop", hint=HINT)


def _region(text: str, opened: PragmaLine, closed: PragmaLine) -> TextRegion:
    line_start = text.rfind("\n", 0, opened.start) + 1
    before = text[line_start:opened.start]
    return TextRegion(opened.start, closed.end, opened.line, closed.line, before if not before.strip() else "")
