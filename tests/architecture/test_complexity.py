"""Functions stay simple: a ratchet over those that are not.

Cyclomatic complexity as radon counts it, boolean operators and comprehensions included (McCabe 1976). The list beside
this file only shrinks: a function that became simpler is entered with its new number, or goes. `--update-golden` does
that, and never adds a function or raises a number.
"""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest
from radon.complexity import cc_visit_ast

import polysched

ROOT = Path(polysched.__file__).parent
RATCHET = Path(__file__).with_name("complexity.json")
MOST = 15


BRANCHES = re.compile(r"\b(if|else|elif|for|while|except|with|assert|and|or|lambda|case)\b")
"""The words that radon counts, and others: no function is more complex than it has of them, and one."""


def what_may_be_complex(text: str) -> ast.Module:
    """A module's functions and methods that have words enough to be above the limit; radon takes its time."""
    lines, tree = text.splitlines(), ast.parse(text)

    def few(node: ast.stmt) -> bool:
        return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and len(
            BRANCHES.findall("\n".join(lines[node.lineno - 1:node.end_lineno]))) < MOST

    for scope in (tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))):
        scope.body = [node for node in scope.body if not few(node)]
    tree.body = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)]
    return tree


@cache
def complex_functions() -> dict[str, int]:
    """The functions above the limit: file and name -> complexity."""
    found: dict[str, int] = {}
    for text, path in ((path.read_text(), path) for path in sorted(ROOT.rglob("*.py"))):
        for block in cc_visit_ast(what_may_be_complex(text)):
            for part in (block, *getattr(block, "methods", ())):
                if type(part).__name__ == "Function" and part.complexity > MOST:
                    key = f"{path.relative_to(ROOT)} {part.fullname}"
                    found[key] = max(found.get(key, 0), part.complexity)
    return found


def test_no_function_becomes_more_complex(request: pytest.FixtureRequest) -> None:
    found, known = complex_functions(), json.loads(RATCHET.read_text())
    if request.config.getoption("--update-golden"):
        known = {name: min(number, known[name]) for name, number in found.items() if name in known}
        RATCHET.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    new = {name: number for name, number in found.items() if number > known.get(name, MOST)}
    assert not new, f"above {MOST}, or above what they were: {new}"


def test_the_list_has_no_function_that_became_simpler() -> None:
    found, known = complex_functions(), json.loads(RATCHET.read_text())
    simpler = {name: number for name, number in known.items() if found.get(name, 0) < number}
    assert not simpler, "shrink the list with --update-golden"
