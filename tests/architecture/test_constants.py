"""Constants that steer a choice stand in the machine model or in the record of their room, with unit and source."""

import ast
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

import polysched
from polysched.target.constant import constants
from polysched.target.costs import CALIBRATE

ROOT = Path(polysched.__file__).parent
DOCS = ROOT.parent / "docs"
STEERING = ("target", "scop", "dependence", "scheduling", "tiling", "tensorize", "distribute", "gpu", "emit_c",
            "emit_gpu", "pipeline", "search", "graph", "kernel", "model", "mesh", "runtime")
FILES = [path for room in STEERING for path in sorted((ROOT / room).rglob("*.py"))]
NO_CHOICES = Path(__file__).with_name("no_choices.json")
"""Numbers that choose nothing, each with the reason; this list only shrinks or is argued about."""
NEUTRAL = (0, 1, -1)
"""Defaults of fields that say nothing, once, or unknown."""


def is_number(value: ast.expr) -> bool:
    """Whether an expression holds a number and no name; a lone one, not a table of several."""
    if isinstance(value, ast.Tuple | ast.List | ast.Set | ast.Dict):
        return False
    parts = list(ast.walk(value))
    return (not any(isinstance(part, ast.Name | ast.Call) for part in parts)
            and all(type(part.value) in (int, float) for part in parts if isinstance(part, ast.Constant))
            and any(isinstance(part, ast.Constant) for part in parts))


def numbers(text: str) -> list[str]:
    """The names of the numbers that a module assigns at its top, and of those that fields of its classes have."""
    found = []
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.ClassDef):
            fields = (each for each in statement.body if isinstance(each, ast.AnnAssign))
            found += [f"{statement.name}.{name}" for name, value in map(assigned, fields)
                      if value is not None and is_number(value) and ast.literal_eval(value) not in NEUTRAL]
        name, value = assigned(statement)
        found += [name] if value is not None and is_number(value) else []
    return found


def assigned(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    """The name and the value of an assignment of one name."""
    match statement:
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
            return ast.unparse(target), value
    return "", None


def test_numbers_of_a_module_are_found() -> None:
    text = ("A = 1\nB: float = 2.5\nC = 1 << 20\nD = -(2 ** 31) + 1\nE = LIMITS.most\nF = (1, 2)\nG = 'a'\nH = True\n"
            "I = len('a')\ndef f():\n    J = 3\n"
            "class K:\n    L: int = 5\n    O = 7\n    M: int = 0\n    N: int = LIMITS.n\n")
    assert numbers(text) == ["A", "B", "C", "D", "K.L"]


def test_no_number_steers_a_choice_outside_the_records() -> None:
    allowed = json.loads(NO_CHOICES.read_text())
    found = {f"{path.relative_to(ROOT)} {name}" for path in FILES for name in numbers(path.read_text())}
    assert not found - set(allowed), "give it a place in target/costs.py or in limits.py of the room, with its unit"
    assert not set(allowed) - found, "these are gone: take them out of no_choices.json"
    assert all(allowed.values()), "every entry says why the number chooses nothing"


@pytest.fixture(scope="module")
def table() -> ModuleType:
    spec = importlib.util.spec_from_file_location("constants_page", DOCS / "constants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_constants_is_up_to_date(table: ModuleType) -> None:
    assert table.page() == table.FILE.read_text(encoding="utf-8"), "run python docs/constants.py"


def test_the_table_claims_the_rooms_whose_numbers_are_looked_for(table: ModuleType) -> None:
    claim = re.search(r"a choice in ([a-z_, ]+?), with its", table.page().replace("\n", " "))
    assert claim is not None
    assert set(re.findall(r"\w+", claim[1])) - {"and"} == set(STEERING)


def test_every_record_of_limits_is_in_the_table(table: ModuleType) -> None:
    places = {place for _, place, _, _ in table.RECORDS}
    assert {str(path.relative_to(ROOT)) for path in ROOT.rglob("limits.py")} <= places


def test_every_limit_is_read() -> None:
    unread, texts = [], {path: path.read_text() for path in ROOT.rglob("*.py")}
    for limits in ROOT.rglob("limits.py"):
        room = limits.parent
        text = "\n".join(own for path, own in texts.items() if path != limits)
        names = [s.target.id for node in ast.parse(limits.read_text()).body if isinstance(node, ast.ClassDef)
                 for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        unread += [f"{room.name}.{name}" for name in names if f"LIMITS.{name}" not in text]
    assert not unread


def limits_by_heading(limits: Path) -> dict[str, list[str]]:
    """The limits under each comment of a record that names a module of the room."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in limits.read_text().splitlines():
        if line.startswith("    # "):
            heading = line.removeprefix("    # ")
        elif field := re.match(r"    (\w+): .* = constant\(", line):
            found.setdefault(heading, []).append(field[1])
    return found


@pytest.mark.parametrize("room", [path.parent.name for path in sorted(ROOT.rglob("limits.py"))])
def test_limits_stand_under_the_module_that_asks_for_them(room: str) -> None:
    headings = limits_by_heading(ROOT / room / "limits.py")
    gone = [heading for heading in headings if not (ROOT / room / heading).is_file()]
    assert not gone, "no such module"
    elsewhere = [f"{heading}: {name}" for heading, names in headings.items() for name in names
                 if not re.search(rf"\bLIMITS\.{name}\b", (ROOT / room / heading).read_text())]
    assert not elsewhere


def test_experiments_named_as_sources_exist(table: ModuleType) -> None:
    rows = [row for _, _, _, record in table.RECORDS for row in constants(record)]
    named = {(row.name, name) for row in rows
             for name in re.findall(r"experiments/\w+", f"{row.source} {row.experiment}")}
    assert named, "some have one"
    assert not [each for each in named if not (DOCS.parent / each[1] / "experiment.toml").is_file()]
    commands = {row.experiment for row in rows if row.experiment and not row.experiment.startswith("experiments/")}
    assert commands == {CALIBRATE}
