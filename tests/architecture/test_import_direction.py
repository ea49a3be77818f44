"""Imports point only from later rooms to earlier ones, function-local imports included."""

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest

import polysched
from tests.architecture.parsed import Import, imports_of

ROOT = Path(polysched.__file__).parent
ORDER = ["version", "lazy_names", "records", "errors", "target", "scop", "dependence", "scheduling", "tiling",
         "tensorize", "distribute", "gpu", "emit_c", "emit_gpu", "measure", "pipeline", "search", "graph", "kernel",
         "model", "mesh", "runtime", "fuzz", "experiment", "report", "notebook", "demo", "cli", "__main__", "__init__"]
FILES = sorted(ROOT.rglob("*.py"))


def room_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported_rooms(imports: Iterable[Import]) -> list[tuple[int, str]]:
    rooms = []
    for node in imports:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the direction"
            if node.module == "polysched":
                names = [f"polysched.{alias.name}" for alias in node.names]
            else:
                names = [node.module or ""]
        rooms += [(node.lineno, name.split(".")[1]) for name in names if name.startswith("polysched.")]
    return rooms


def test_every_room_has_its_place() -> None:
    assert not {room_of(path) for path in FILES} - set(ORDER), "give a new room its place in ORDER"


@pytest.mark.parametrize("room", ORDER)
def test_imports_point_backwards(room: str) -> None:
    allowed = set(ORDER[: ORDER.index(room) + 1])
    later = [f"{path}:{line} imports the later room {imported}" for path in FILES if room_of(path) == room
             for line, imported in imported_rooms(imports_of(path))
             if imported not in allowed and not imported.startswith("__")]
    assert not later
