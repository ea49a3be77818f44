"""No module imports another one that imports it, in whatever way round, imports inside of functions included.

Imports for annotations alone (`if TYPE_CHECKING:`) are left out: nothing runs through them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import polysched
from tests.architecture.parsed import Import, running_imports_of

ROOT = Path(polysched.__file__).parent
PACKAGE = "polysched"


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in ROOT.rglob("*.py")}


def imported(imports: Iterable[Import]) -> Iterator[str]:
    """The modules of the package that are imported; of a package and a name, the module behind the name."""
    for node in imports:
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name in MODULES)
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] == PACKAGE:
                yield from (f"{module}.{a.name}" if f"{module}.{a.name}" in MODULES else module for a in names)


def a_cycle(imports: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def test_a_cycle_is_found() -> None:
    assert a_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}})
    assert not a_cycle({"a": {"b", "c"}, "b": {"c"}})


@pytest.mark.parametrize(("text", "found"), [
    ("from polysched.scop.scop import Scop", ["polysched.scop.scop"]),
    ("from polysched.scop import scop", ["polysched.scop.scop"]),
    ("def f():\n    from polysched.scop.text import scop_text", ["polysched.scop.text"]),
    ("if TYPE_CHECKING:\n    from polysched.scop.scop import Scop", []), ("import ast", [])])
def test_imports_are_found(text: str, found: list[str], tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(text)
    assert list(imported(running_imports_of(tmp_path / "module.py"))) == found


def test_no_module_imports_in_a_circle() -> None:
    imports = {name: set(imported(running_imports_of(path))) - {name} for name, path in MODULES.items()}
    assert not a_cycle(imports)
