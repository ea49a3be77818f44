"""The syntax trees' imports, read once for all tests of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

Import = ast.Import | ast.ImportFrom


def statements(tree: ast.AST, *, running: bool = False) -> Iterator[ast.AST]:
    """The nodes of a syntax tree but expressions, in which no import stands.

    running : without those below `if TYPE_CHECKING:`.
    """
    left = [tree]
    while left:
        found = left.pop()
        if isinstance(found, ast.expr) or (running and isinstance(found, ast.If) and isinstance(found.test, ast.Name)
                                           and found.test.id == "TYPE_CHECKING"):
            continue
        yield found
        left.extend(reversed(list(ast.iter_child_nodes(found))))


def imports_of(path: Path) -> tuple[Import, ...]:
    """The import statements of a module, those inside of functions included."""
    return _imports(path)[0]


def running_imports_of(path: Path) -> tuple[Import, ...]:
    """The same without those for annotations alone."""
    return _imports(path)[1]


@cache
def _imports(path: Path) -> tuple[tuple[Import, ...], tuple[Import, ...]]:
    tree = ast.parse(path.read_text())
    every, run = (tuple(n for n in statements(tree, running=running) if isinstance(n, Import))
                  for running in (False, True))
    return every, run
