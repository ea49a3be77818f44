"""The one command that reruns `experiments/found` names what it runs, and what it lacks."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "experiments" / "found"


def whole(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / "whole.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_dry_run_prints_the_commands(tmp_path: Path) -> None:
    (tmp_path / "codeplea+genann").mkdir()
    done = whole("--dry-run", "--short", "--programs", str(tmp_path))
    assert done.returncode == 0, done.stderr
    scripts = [Path(line.split()[1]) for line in done.stdout.splitlines()]
    assert [path.name for path in scripts] == ["run.py", "beside_numpy.py", "loops_taken.py"]
    assert all(path.exists() for path in scripts)
    assert "--only last_and_any" in done.stdout
    assert str(tmp_path / "codeplea+genann") in done.stdout


def test_missing_programs_are_named_with_their_revision(tmp_path: Path) -> None:
    done = whole("--dry-run", "--programs", str(tmp_path))
    assert done.returncode == 2
    assert "exmatex/CoMD at 3d48396b77ca8caa3124bc2391f9139c3ffb556c" in done.stderr


def test_without_programs_the_other_parts_run() -> None:
    done = whole("--dry-run")
    assert [Path(line.split()[1]).name for line in done.stdout.splitlines()] == ["run.py", "beside_numpy.py"]
    assert whole("--dry-run", "--part", "loops").returncode == 2
