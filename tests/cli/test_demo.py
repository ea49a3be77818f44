"""`polysched demo`: what the README promises."""

import json
import re
from pathlib import Path

import pytest

from polysched.cli import demo
from polysched.cli.entry import main
from polysched.demo import FOLDER, PROGRAMS
from tests.cli.command import is_refusal, polysched


def test_the_demo_shows_every_stage_verified_with_times(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """On small sizes, in a fifth of a second of pairs for each program; a user's demo takes six."""
    monkeypatch.setattr(demo, "BUDGET_SECONDS", 0.2)
    monkeypatch.setattr(demo, "SIZES", {name: {n: value // 5 for n, value in sizes.items()}
                                        for name, sizes in demo.SIZES.items()})
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--json", "found.json"]) == 0
    shown = capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())
    assert [Path(own["output"]).name for own in found] == list(PROGRAMS)
    assert all(own["measurement"]["verification"] for own in found)
    for name in PROGRAMS:
        emitted = tmp_path / "polysched-demo" / name
        assert f"emitted C: polysched-demo/{name}" in shown
        assert "#pragma omp" in emitted.read_text()
    for heading in ("-- SCoP", "-- dependences", "-- schedule", "-- tiles and threads"):
        assert shown.count(heading) == len(PROGRAMS)
    assert len(re.findall(r"^verified: largest difference \S+ \(relative \S+\)", shown, re.MULTILINE)) == 2
    assert len(re.findall(r"times as fast as the original \(median of \d+ alternating pairs", shown)) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["found.json", "polysched-demo"]


def test_the_demo_programs_are_package_data() -> None:
    assert all((FOLDER / name).is_file() for name in PROGRAMS)


def test_an_unwritable_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert is_refusal(polysched("demo", "-o", "file/below", folder=tmp_path))


def test_the_demo_programs_can_be_read(tmp_path: Path) -> None:
    for name in PROGRAMS:
        done = polysched("extract", str(FOLDER / name), "--json", folder=tmp_path)
        assert json.loads(done.stdout)["statements"]
