"""Rooms that return values run nothing: in tensorize/ only the comparison with real instructions starts processes."""

import ast
from pathlib import Path

import polysched

ROOT = Path(polysched.__file__).parent / "tensorize"


def test_processes_start_in_conformance_only() -> None:
    found = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [
                node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {"subprocess", "ctypes"} & {n.split(".")[0] for n in names}:
                found.add(path.relative_to(ROOT).parts[0])
    assert found == {"conformance"}
