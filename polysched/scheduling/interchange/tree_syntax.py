"""How the text of a schedule tree is put together, checked before isl reads it: isl crashes on some that are wrong.

    { domain: "...", child: { schedule: "...", permutable: 1, coincident: [ 1, 0 ] } }

or the same with a key a line, indented.

Source: isl, isl_schedule_read.c: the keys of a node and what each of them holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_KINDS = {**dict.fromkeys(("domain", "schedule", "filter", "context", "guard", "extension", "contraction", "expansion",
                           "options", "mark"), "text"),
          "permutable": "number", "anchored": "number", "coincident": "numbers", "child": "map", "sequence": "maps",
          "set": "maps"}
MOST_NESTED = 200
"""Nodes inside each other."""
_WORD = re.compile(r'\s*("[^"]*"|\w+|[^\s\w])')
_LINE = re.compile(r'(\s*(?:-\s+)*)"?(\w+)"?\s*:\s*(.*?)\s*')
_PLAIN = {"text": (re.compile(r'"[^"]*"'), "a text in quotes"), "number": (re.compile(r"\d{1,9}"), "a number"),
          "numbers": (re.compile(r"\[\s*\d{1,9}(\s*,\s*\d{1,9})*\s*\]"), "a list of numbers like [ 1, 0 ]")}


def fault_of_syntax(text: str) -> str:
    """What is wrong with a text as a tree of keys and values, in words; empty where nothing is."""
    try:
        _Flow(text).whole() if text.lstrip().startswith("{") else _block(text)
    except _FaultError as fault:
        return str(fault)
    return ""


class _FaultError(Exception):
    """What is wrong."""


class _Flow:
    """Reads the form in braces."""

    def __init__(self, text: str) -> None:
        self.words = _WORD.findall(text)
        self.at = self.depth = 0

    def whole(self) -> None:
        self.map()
        if self.at < len(self.words):
            raise _FaultError(f"`{self.words[self.at]}` stands behind the tree")

    def next(self) -> str:
        self.at += 1
        if self.at > len(self.words):
            raise _FaultError("the text ends before the tree")
        return str(self.words[self.at - 1])

    def expect(self, word: str, behind: str) -> None:
        if (found := self.next()) != word:
            raise _FaultError(f"`{word}` was expected behind {behind}, and there is `{found}`")

    def map(self) -> None:
        """`{ key: value, ... }`."""
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise _FaultError(f"more than {MOST_NESTED} nodes are inside each other")
        self.expect("{", "a key or bracket")
        known: set[str] = set()
        while True:
            key = _key(self.next().strip('"'), known)
            self.expect(":", f"`{key}`")
            self.value(key)
            if (word := self.next()) == "}":
                break
            if word != ",":
                raise _FaultError(f"`,` or `}}` was expected behind the value of `{key}`, and there is `{word}`")
        self.depth -= 1

    def value(self, key: str) -> None:
        kind = _KINDS[key]
        if kind == "map":
            self.map()
        elif kind == "maps":
            self.list_of(key, self.map)
        elif kind == "numbers":
            self.list_of(key, lambda: _plain(key, "number", self.next()))
        else:
            _plain(key, kind, self.next())

    def list_of(self, key: str, item: Callable[[], None]) -> None:
        self.expect("[", f"`{key}`")
        while True:
            item()
            if (word := self.next()) == "]":
                return
            if word != ",":
                raise _FaultError(f"`,` or `]` was expected in the list of `{key}`, and there is `{word}`")


def _block(text: str) -> None:
    """The form with a key a line."""
    open_nodes: list[tuple[int, set[str]]] = []
    for line in filter(str.strip, text.splitlines()):
        found = _LINE.fullmatch(line)
        if found is None:
            raise _FaultError(f"the line `{line.strip()[:40]}` is no key with a value")
        depth, begins = len(found[1].expandtabs()), "-" in found[1]
        while open_nodes and (open_nodes[-1][0] > depth or (begins and open_nodes[-1][0] == depth)):
            open_nodes.pop()
        if not open_nodes or open_nodes[-1][0] < depth:
            open_nodes.append((depth, set()))
        if len(open_nodes) > MOST_NESTED:
            raise _FaultError(f"more than {MOST_NESTED} nodes are inside each other")
        key, kind = _key(found[2], open_nodes[-1][1]), _KINDS[found[2]]
        if kind in _PLAIN:
            _plain(key, kind, found[3])
        elif found[3]:
            raise _FaultError(f"what is below `{key}` stands on lines of its own, not `{found[3][:40]}`")


def _key(key: str, known: set[str]) -> str:
    if key not in _KINDS:
        raise _FaultError(f"`{key}` is no part of a schedule tree")
    if key in known:
        raise _FaultError(f"a node has `{key}` twice")
    known.add(key)
    return key


def _plain(key: str, kind: str, value: str) -> None:
    pattern, words = _PLAIN[kind]
    if not pattern.fullmatch(value):
        raise _FaultError(f"`{key}` has {words}, not `{value[:40]}`")
