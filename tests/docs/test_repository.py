"""The files around the package: citation, lock, hooks and workflow say what the project says."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest

from polysched.version import __version__

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"^([A-Za-z0-9_.-]+)")


def normal(requirement: str) -> str:
    """The name of a requirement as the index normalises it (PEP 503)."""
    found = NAME.match(requirement.strip())
    assert found is not None, requirement
    return re.sub(r"[-_.]+", "-", found[1]).lower()


def test_the_citation_has_the_version() -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_every_requirement_is_locked_and_nothing_is_a_path() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    texts = (config["options"]["install_requires"], config["options.extras_require"]["test"],
             config["options.extras_require"]["report"])
    wanted = {normal(line) for text in texts for line in text.splitlines() if line.strip()}
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", line) for line in lines)
    assert not wanted - {line.partition("==")[0] for line in lines}
    assert lines == sorted(lines)


@pytest.mark.parametrize(("file", "text"), [
    (".github/workflows/ci.yml", "run: .ci/run"), (".pre-commit-config.yaml", "entry: ruff check"),
    ("Containerfile", "-r requirements.lock"), ("MANIFEST.in", "requirements.lock")])
def test_one_command_stands_in_one_place(file: str, text: str) -> None:
    assert text in (ROOT / file).read_text()


def test_the_workflow_file_is_executable() -> None:
    assert (ROOT / ".ci/run").stat().st_mode & 0o100


def test_no_file_keeps_the_marks_of_a_merge() -> None:
    kinds = {".py", ".md", ".toml", ".cfg", ".c", ".h", ".txt", ".json", ".lock", ".yml"}
    files = [path for top in ("polysched", "tests", "docs", "experiments") for path in (ROOT / top).rglob("*")]
    marks = re.compile(rb"^(<{7}|>{7}) ", re.MULTILINE)
    assert [str(path) for path in (*files, *ROOT.glob("*.*")) if path.suffix in kinds and path.is_file()
            and marks.search(path.read_bytes())] == []
