"""`polysched demo`: what the README promises."""

import json
import re
from pathlib import Path

from polysched.demo import FOLDER, PROGRAMS
from tests.cli.command import is_refusal, polysched


def test_the_demo_shows_every_stage_verified_with_times(tmp_path: Path) -> None:
    done = polysched("demo", folder=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    for name in PROGRAMS:
        emitted = tmp_path / "polysched-demo" / name
        assert f"emitted C: polysched-demo/{name}" in done.stdout
        assert "#pragma omp" in emitted.read_text()
    for heading in ("-- SCoP", "-- dependences", "-- schedule", "-- tiles and threads"):
        assert done.stdout.count(heading) == len(PROGRAMS)
    assert len(re.findall(r"^verified: largest difference \S+ \(relative \S+\)", done.stdout, re.MULTILINE)) == 2
    assert len(re.findall(r"times as fast as the original \(median of \d+ alternating pairs", done.stdout)) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["polysched-demo"]


def test_the_demo_programs_are_package_data() -> None:
    assert all((FOLDER / name).is_file() for name in PROGRAMS)


def test_an_unwritable_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert is_refusal(polysched("demo", "-o", "file/below", folder=tmp_path))


def test_the_demo_programs_can_be_read(tmp_path: Path) -> None:
    for name in PROGRAMS:
        done = polysched("extract", str(FOLDER / name), "--json", folder=tmp_path)
        assert json.loads(done.stdout)["statements"]
