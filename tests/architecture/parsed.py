"""The syntax trees' imports, read once for all tests of them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

Import = ast.Import | ast.ImportFrom


@cache
def imports_of(path: Path) -> tuple[Import, ...]:
    """The import statements of a module, those inside of functions included."""
    return tuple(node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, Import))
