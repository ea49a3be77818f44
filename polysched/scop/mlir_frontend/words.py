"""The words of a text of MLIR, one after the other, and refusals that say where.

Source: MLIR's documentation, "MLIR Language Reference": identifiers and keywords.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from polysched.errors import SourceLocation, SourceSyntaxError

_WORD = re.compile(r"""
    (?P<blank>\s+|//[^\n]*)
  | (?P<text>"(?:[^"\\\n]|\\.)*")
  | (?P<value>%[\w$.-]+(?:[\#:]\d+)?)
  | (?P<named>[\#@!^](?:[A-Za-z0-9_$.]+|"[^"\n]*"))
  | (?P<number>0x[0-9A-Fa-f]+|\d+\.\d*(?:[eE][-+]?\d+)?|\d+)
  | (?P<word>[A-Za-z_][\w$.]*)
  | (?P<sign>->|::|[-+*(){}\[\]<>,:=?])
""", re.VERBOSE)
MOST_NESTED = 100
"""Brackets of a text inside each other; more is no program."""
MOST_DIGITS = 40
"""Of a whole number; the largest of a type has 20."""
END = ""
Item = TypeVar("Item")
_BRACKETS = re.compile(r'[()\[\]{}\n]|"(?:\\.|[^"\\])*"|//[^\n]*')
"""What opens and closes, and line ends, outside of strings and comments; these are found whole."""


class Words:
    """A text from its front to its end.

    Parameters
    ----------
    path : for messages.

    Attributes
    ----------
    word, kind : what stands here; empty at the end.
    line : of it, from 1.
    """

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        self.at = self.end = self.depth = 0
        self.line = 1
        self.word = self.kind = END
        self.next()

    def refuse(self, problem: str, *, hint: str | None = None) -> NoReturn:
        """Refuse what stands here.

        Raises
        ------
        SourceSyntaxError : always.
        """
        raise SourceSyntaxError(problem, where=SourceLocation(self.path, self.line),
                                witness=f"`{self.word}`" if self.word else "the text ends here", hint=hint)

    def next(self) -> str:
        """The word that stands here, which is passed."""
        passed = self.word
        while True:
            self.at = self.end
            if self.at >= len(self.text):
                self.word, self.kind = END, END
                return passed
            found = _WORD.match(self.text, self.at)
            if found is None:
                self.word = self.text[self.at]
                self.refuse("this character begins no word of MLIR")
            self.end = found.end()
            self.line += found[0].count("\n")   # of blanks: no word has one
            if found.lastgroup != "blank":
                self.word, self.kind = found[0], str(found.lastgroup)
                return passed

    def accept(self, *words: str) -> bool:
        """Whether one of some words stands here, which is passed."""
        if self.word in words and self.word:
            self.next()
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.accept(word):
            self.refuse(f"`{word}` was expected")

    def of_kind(self, kind: str, what: str) -> str:
        if self.kind != kind:
            self.refuse(f"{what} was expected")
        return self.next()

    def integer(self, what: str) -> int:
        """A whole number, with its sign."""
        sign = -1 if self.accept("-") else 1
        if self.kind != "number" or "." in self.word:
            self.refuse(f"{what} was expected, a whole number")
        if len(self.word) > MOST_DIGITS:
            self.refuse(f"a number has more than {MOST_DIGITS} digits")
        digits = self.next()
        return sign * int(digits, 16 if digits.startswith("0x") else 10)

    def listed(self, closing: str, item: Callable[[], Item]) -> list[Item]:
        """Items with commas between them, up to a bracket, which is passed; the opening one is passed already."""
        found: list[Item] = []
        self.deeper()
        while not self.accept(closing):
            if found:
                self.expect(",")
            found.append(item())
        self.depth -= 1
        return found

    def deeper(self) -> None:
        """Enter a bracket; `depth` is taken back where it is left."""
        self.depth += 1
        if self.depth > MOST_NESTED:
            self.refuse(f"more than {MOST_NESTED} brackets inside each other")

    def go_back(self, earlier: Words) -> None:
        """Stand where an earlier copy does; whoever holds these words goes on from there."""
        vars(self).update(vars(earlier))

    def pass_lines(self) -> None:
        """Pass the line that stands here and those after it up to one at whose end all brackets are closed."""
        depth = 0
        for found in _BRACKETS.finditer(self.text, self.at):
            depth += (found[0] in "([{") - (found[0] in ")]}")
            if found[0] == "\n" and depth <= 0:
                end = found.start()
                break
        else:
            end = len(self.text)
        self.line += self.text.count("\n", self.end, end)
        self.end = end
        self.next()

    def balanced(self, opening: str, closing: str) -> str:
        """The text between two brackets, the first of which stands here; both are passed."""
        if self.word != opening:
            self.refuse(f"`{opening}` was expected")
        begin, depth = self.end, 0
        while True:
            depth += (self.word == opening) - (self.word == closing)
            if depth == 0:
                inside = self.text[begin:self.at]
                self.next()
                return inside.strip()
            if not self.word:
                self.refuse(f"`{closing}` was expected")
            self.next()
