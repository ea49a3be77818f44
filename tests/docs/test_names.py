"""Modules, functions and files that pages, READMEs and docstrings name are there."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.parsed import statements
from tests.docs.test_pages import ROOT, WRITTEN

ROOMS = {path.parent.name for path in (ROOT / "polysched").glob("*/__init__.py")}
PAGES = [*WRITTEN, ROOT / "tests" / "README.md", ROOT / "CHANGELOG.md"]
MODULES = sorted((ROOT / "polysched").rglob("*.py"))
_CODE = re.compile(r"`([^`\n]+)`")
_DOTTED = re.compile(r"(?<![\w./-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_PATH = re.compile(r"(?<![\w/.-])(?:polysched|tests|docs|experiments)/[\w./*-]+\w")
_FILE = re.compile(r"\.(py|md|c|h|json|jsonl|txt|svg|html|toml|onnx)$")
_MADE = re.compile(r"_build|NAME")   # by a command, or by the reader


def names_in(text: str) -> Iterator[str]:
    """The dotted names of a text's inline code that begin with the package or a room, in full."""
    for code in _CODE.findall(text):
        for name in _DOTTED.findall(code):
            first = name.split(".")[0]
            if (first == "polysched" or first in ROOMS) and not _FILE.search(name):
                yield name if first == "polysched" else f"polysched.{name}"


@cache
def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or what leads from one: attributes and fields of classes."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return part == parts[-1] and part in getattr(found, "__annotations__", {})
            found = getattr(found, part)
        return True
    return False


def paths_in(text: str) -> set[str]:
    """The files and folders of the project that inline code names."""
    return {path for code in _CODE.findall(text) for path in _PATH.findall(code) if not _MADE.search(path)}


@cache
def is_a_path(pattern: str) -> bool:
    """Whether a file or folder has this path, or one that the pattern names."""
    return any(True for _ in ROOT.glob(pattern))


def missing(text: str) -> list[str]:
    """What a text names and is not there."""
    return sorted({*(name for name in names_in(text) if not is_there(name)),
                   *(path for path in paths_in(text) if not is_a_path(path))})


def docstrings(module: Path) -> str:
    """The docstrings and comments of a module."""
    text = module.read_text()
    nodes = (n for n in statements(ast.parse(text)) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef))
    return "\n".join([*(ast.get_docstring(n) or "" for n in nodes), *re.findall(r"#.*", text)])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_what_is_there(page: Path) -> None:
    assert missing(re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)) == []


def test_docstrings_name_what_is_there() -> None:
    assert {str(m.relative_to(ROOT)): gone for m in MODULES if (gone := missing(docstrings(m)))} == {}


def test_a_name_that_is_gone_is_found() -> None:
    text = "`tiling.tile`, `measure.isolation`, `scop.scop.Access.reference`, `tests/nowhere.py`, `tests/docs/*.py`"
    assert missing(text) == ["polysched.measure.isolation", "tests/nowhere.py"]
