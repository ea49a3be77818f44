"""`polysched doctor`: what the main job needs, found or missed."""

from pathlib import Path

from tests.cli.command import polysched


def test_doctor_finds_what_the_main_job_needs(tmp_path: Path) -> None:
    done = polysched("doctor", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("ok") and "C compiler" in line for line in lines)
    assert any(line.startswith("ok") and "OpenMP" in line and "2 threads ran" in line for line in lines)
    assert any("qemu-aarch64" in line for line in lines)
    assert any("OpenCL" in line for line in lines)
    assert not list(tmp_path.iterdir())


def test_doctor_misses_a_compiler(tmp_path: Path) -> None:
    done = polysched("doctor", "--cc", "no-such-cc", folder=tmp_path)
    assert done.returncode == 2
    assert "missing" in done.stdout
    assert "no-such-cc" in done.stdout


def test_no_colours_where_they_are_not_wanted(tmp_path: Path) -> None:
    for environment in ({"NO_COLOR": "1", "FORCE_COLOR": ""}, {}):
        assert "\x1b[" not in polysched("doctor", folder=tmp_path, environment=environment).stdout
