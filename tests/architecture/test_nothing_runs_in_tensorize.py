"""Rooms that return values run nothing: in tensorize/ only the readings of an instruction's text start processes."""

import ast
from pathlib import Path

import polysched

ROOT = Path(polysched.__file__).parent / "tensorize"
READINGS = {"description/host_execution.py", "conformance/conformance.py", "conformance/cross_compile.py"}


def test_processes_start_where_descriptions_are_read_only() -> None:
    found = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [
                node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {"subprocess", "ctypes"} & {n.split(".")[0] for n in names}:
                found.add(str(path.relative_to(ROOT)))
    assert found <= READINGS
