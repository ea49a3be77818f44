"""Finding statements and brackets in the text of a C file by their tokens."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Set
from functools import lru_cache
from itertools import islice

MARK = "polysched_mark_"
"""How the words begin that `macro_marks` adds to a text."""

Token = tuple[str, int, int, int]
"""Its text, or `#` for a directive, where it starts and ends, and its line."""
_TOKEN = re.compile(r"""
      (?P<directive>(?:(?<=\n)|\A)[ \t]*\#
          (?:\\\r?\n | //(?:\\\r?\n|[^\n])* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | [^\n])*)
    | (?P<skip>\\\r?\n | //(?:\\\r?\n|[^\n])* | /\*.*?\*/ | \n | [^\S\n]+)
    | (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
    | (?P<literal>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\.?[0-9](?:[eEpP][+-]|[\w.])*)
    | (?P<sign>.)
    """, re.X | re.S)
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_CLOSING = {"(": ")", "{": "}", "[": "]"}


@lru_cache(maxsize=2)
def scanned(text: str) -> Scanner:
    """The tokens of a file, which is looked at again for each of its regions; nobody drops some of them."""
    return Scanner(text)


def without_directives(text: str) -> Scanner:
    """The tokens of preprocessed text but for line markers and the words of `macro_marks`."""
    scanner = Scanner(text)
    scanner.drop(lambda token: token[0] == "#" or token[0].startswith(MARK))
    return scanner


def line_ends(span: str) -> str:
    """The line ends and line markers of a text."""
    return "".join(f"\n{line}" if line.startswith("#") else "\n" for line in span.split("\n")[1:])


class Scanner:
    """The tokens of a file, without comments."""

    def __init__(self, text: str) -> None:
        self.text = text
        tokens: list[Token] = []
        line = 1
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup
            if kind != "skip":
                tokens.append(("#" if kind == "directive" else match[0], match.start(), match.end(), line))
            if kind not in ("word", "sign"):
                line += match[0].count("\n")
        self._keep(tokens)

    def _keep(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.lines = [token[3] for token in tokens]
        self.starts = [token[1] for token in tokens]
        self._directives = [at for at, token in enumerate(tokens) if token[0] == "#"]

    def drop(self, unwanted: Callable[[Token], bool]) -> None:
        """Leave out some tokens."""
        self._keep([token for token in self.tokens if not unwanted(token)])

    def whole_statements(self, first: int, behind: int, *, most: int) -> bool:
        """Whether the tokens between two indices are one or more statements, at most so many."""
        at: int | None = first
        count = 0
        while at is not None and at < behind:
            at = self.behind_statement(at)
            count += 1
        return first < behind and at == behind and count <= most

    def statements_at(self, line: int, keyword: str) -> list[tuple[int, int]]:
        """Start and end of every statement of a line that begins with a keyword."""
        first = bisect_left(self.lines, line)
        behind_line = bisect_left(self.lines, line + 1)
        found = [(k, self.behind_statement(k)) for k in range(first, behind_line) if self.tokens[k][0] == keyword]
        return [(self.tokens[k][1], self.tokens[behind - 1][2]) for k, behind in found if behind is not None]

    def statement_beginning(self, line: int) -> tuple[int, int] | None:
        """Start and end of the statement that begins with the first token of a line; None when none does."""
        first = bisect_left(self.lines, line)
        if first >= len(self.tokens) or self.lines[first] != line or self.tokens[first][0] == "#":
            return None
        if first and self.tokens[first - 1][0] not in (";", "{", "}", "#"):
            return None
        behind = self.behind_statement(first)
        return None if behind is None else (self.tokens[first][1], self.tokens[behind - 1][2])

    def word_before(self, offset: int) -> str:
        """The last token that starts before an offset and is no directive; empty at the beginning of the file."""
        at = bisect_left(self.starts, offset)
        return next((word for k in range(at - 1, -1, -1) if (word := self.tokens[k][0]) != "#"), "")

    def directive_at(self, line: int, *, after: Set[str] = frozenset()) -> tuple[int, int] | None:
        """Start and end of the directive of a line between two statements of a block; None where there is none.

        Parameters
        ----------
        after : words that may stand in front of it, too.
        """
        at = bisect_left(self.lines, line)
        if at >= len(self.tokens) or self.lines[at] != line or self.tokens[at][0] != "#":
            return None
        if at and self.tokens[at - 1][0] not in {";", "{", "}", "#", *after}:
            return None
        start, end = self.tokens[at][1:3]
        return start + len(self.text[start:end]) - len(self.text[start:end].lstrip()), end

    def between(self, start: int, end: int) -> list[Token]:
        """The tokens that start between two offsets, the first included."""
        first, behind = (bisect_left(self.starts, offset) for offset in (start, end))
        return self.tokens[first:behind]

    def behind_directives(self, start: int) -> int:
        """Where the first token from an offset on starts that is no directive."""
        at = bisect_left(self.starts, start)
        return next((token[1] for token in islice(self.tokens, at, None) if token[0] != "#"), len(self.text))

    def has_directive(self, start: int, end: int) -> bool:
        """Whether a preprocessor directive other than a pragma stands between two offsets."""
        first, behind = (bisect_left(self._directives, bisect_left(self.starts, offset)) for offset in (start, end))
        directives = (self.tokens[at] for at in self._directives[first:behind])
        return not all(self.text[token[1]:token[2]].lstrip(" \t#").startswith("pragma") for token in directives)

    def is_guarded_alone(self, start: int) -> bool:
        """Whether `#endif`, `#else` or `#elif` follows the pragma of an offset, other pragmas apart."""
        at = bisect_left(self.tokens, start, key=lambda token: token[2]) + 1
        for word, begin, end, _ in islice(self.tokens, at, None):
            directive = self.text[begin:end].lstrip(" \t#")
            if word != "#" or not directive.startswith("pragma"):
                return word == "#" and directive.startswith(("endif", "else", "elif"))
        return False

    def behind_statement(self, at: int) -> int | None:
        """The index of the token behind the statement that begins at a token."""
        while at < len(self.tokens) and self.tokens[at][0] == "#":
            at += 1
        if at >= len(self.tokens):
            return None
        word = self.tokens[at][0]
        if word == "{":
            return self.group(at)
        if _WORD.fullmatch(word) and at + 1 < len(self.tokens) and self.tokens[at + 1][0] == ":":
            return self.behind_statement(at + 2)
        if word in ("for", "while", "if", "switch"):
            return self._controlled(at, word)
        if word == "do":
            body = self.behind_statement(at + 1)
            return None if body is None else self._simple(body)
        return self._simple(at)

    def _controlled(self, at: int, word: str) -> int | None:
        if at + 1 >= len(self.tokens) or self.tokens[at + 1][0] != "(":
            return None
        head = self.group(at + 1)
        body = None if head is None else self.behind_statement(head)
        if body is not None and word == "if" and body < len(self.tokens) and self.tokens[body][0] == "else":
            return self.behind_statement(body + 1)
        return body

    def _simple(self, at: int) -> int | None:
        while at < len(self.tokens):
            word = self.tokens[at][0]
            if word == ";":
                return at + 1
            if word in _CLOSING:
                behind = self.group(at)
                if behind is None:
                    return None
                at = behind
                continue
            if word in _CLOSING.values():
                return None
            at += 1
        return None

    def group(self, at: int) -> int | None:
        """The index behind the bracket that closes the one at a token; None where nothing does."""
        open_brackets = []
        for k in range(at, len(self.tokens)):
            word = self.tokens[k][0]
            if word in _CLOSING:
                open_brackets.append(_CLOSING[word])
            elif word in _CLOSING.values():
                if not open_brackets or open_brackets.pop() != word:
                    return None
                if not open_brackets:
                    return k + 1
        return None
