"""`polysched machine`, `doctor` and `completion`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.cli.commands import COMMANDS
from polysched.pipeline.options import PipelineOptions
from polysched.target import Target
from polysched.target.calibrated import read_calibrated
from polysched.target.targets import target_from_json, target_to_json
from polysched.tiling import TilingOptions
from tests.cli.command import polysched


def test_doctor_finds_what_the_main_job_needs(tmp_path: Path) -> None:
    done = polysched("doctor", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("ok") and "C compiler" in line for line in lines)
    assert any(line.startswith("ok") and "OpenMP" in line and "2 threads ran" in line for line in lines)
    assert any("qemu-aarch64" in line for line in lines)
    assert not list(tmp_path.iterdir())


def test_doctor_misses_a_compiler(tmp_path: Path) -> None:
    done = polysched("doctor", "--cc", "no-such-cc", folder=tmp_path)
    assert done.returncode == 2
    assert "missing" in done.stdout
    assert "no-such-cc" in done.stdout


def test_no_colours_where_they_are_not_wanted(tmp_path: Path) -> None:
    for environment in ({"NO_COLOR": "1", "FORCE_COLOR": ""}, {}):
        assert "\x1b[" not in polysched("doctor", folder=tmp_path, environment=environment).stdout


def test_machine_prints_cached_figures(tmp_path: Path) -> None:
    program = ("import sys\nfrom polysched.measure.timing import peak\n"
               "figures = peak.Peaks(one_core={'float32': 4e9}, all_cores={'float32': 8e9},\n"
               "                     bandwidth={1: 2e9, 0: 1e9}, memory_all_cores=3e9, threads=2, compiler='gcc')\n"
               "peak.measure_peaks = lambda compiler, on_report=None: figures\npeak.busy_cores = lambda: 0.0\n"
               "from polysched.cli import main\nsys.exit(main(['machine', *sys.argv[1:]]))")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["float32", "4", "8", "GFLOP/s"] in rows
    assert ["memory", "1", "3", "GB/s", "read"] in rows
    again = polysched("machine", "--json", folder=tmp_path, environment={"XDG_CACHE_HOME": str(tmp_path)})
    assert '"float32": 4000000000.0' in again.stdout


CALIBRATE = """import sys
from polysched.measure.timing import calibration
from polysched.target.calibrated import Calibrated, Figure
figure = Figure(name='row_cycles', value=12.5, least=11, most=14, unit='cycles', shipped=20)
def calibrate(compiler, *, even_if_busy, on_report):
    if {stops}:
        raise KeyboardInterrupt
    return Calibrated(machine='m', compiler='gcc', disturbed=even_if_busy, figures=(figure,), bandwidth=((0, 1e10),))
calibration.calibrate = calibrate
from polysched.cli import main
sys.exit(main(sys.argv[1:]))"""


def calibrate(*arguments: str, stops: bool = False) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", CALIBRATE.replace("{stops}", str(stops)), "machine", *arguments],
                          capture_output=True, text=True, check=False)


def test_calibrated_costs_are_shown_beside_shipped_ones_and_applied(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    done = calibrate("--calibrate", str(file))
    assert done.returncode == 0, done.stderr
    assert ["row_cycles", "12.5", "11", "14", "20", "cycles"] in [line.split() for line in done.stdout.splitlines()]
    target = read_calibrated(file).of_target(Target())
    assert target.costs.row_cycles == 12.5
    assert PipelineOptions(tiling=TilingOptions(target=target)).target().costs.row_cycles == 12.5
    assert target_from_json(target_to_json(target), where="") == target
    assert json.loads(calibrate("--calibrate", "-").stdout) == json.loads(file.read_text())


def test_an_interrupted_calibration_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text("before")
    assert calibrate("--calibrate", str(file), stops=True).returncode != 0
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_without_costs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "costs.json").write_text("{}")
    (tmp_path / "f.c").write_text("void f(int n, double *a) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 0;\n"
                                  "#pragma endscop\n}\n")
    done = polysched("c2c", "f.c", "--machine", "costs.json", folder=tmp_path)
    assert done.returncode == 2
    assert "costs.json: the file holds no costs of a machine" in done.stderr
    assert "hint: polysched machine --calibrate FILE writes one" in done.stderr


def test_machine_refuses_to_measure_under_load(tmp_path: Path) -> None:
    program = ("import sys\nfrom polysched.measure.timing import peak\npeak.busy_cores = lambda: 1.5\n"
               "peak.available_cores = lambda: 2\nfrom polysched.cli import main\nsys.exit(main(['machine']))")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 3
    assert "other programs use this machine" in done.stderr
    assert "witness: 1.5 of 2 cores are in use" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(("words", "expected"), [
    (("polysched", "c"), "c2c compare completion"), (("polysched", "run", "--sch"), "--scheduler"),
    (("polysched", "run", "--scheduler", "p"), "pluto"), (("polysched", "completion", "z"), "zsh")])
def test_bash_completes(tmp_path: Path, words: tuple[str, ...], expected: str) -> None:
    script = polysched("completion", "bash", folder=tmp_path).stdout
    ask = f'COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _polysched; echo "${{COMPREPLY[*]}}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == expected


EXPERIMENTS = Path(__file__).parents[2] / "experiments"
QUESTIONS = {("bench", ""): {path.parent.name for path in EXPERIMENTS.glob("*/experiment.toml")},
             ("bench", "amos_mappings", "--on"): {"--only"},
             ("bench", "amos_mappings", "--only", "gr"): {"grp"}}


@pytest.fixture
def on_the_path(tmp_path: Path) -> dict[str, str]:
    """An environment in which the command `polysched` is this checkout's."""
    command = tmp_path / "bin" / "polysched"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m polysched "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(EXPERIMENTS.parent), "HOME": str(tmp_path)}


def asked_in(shell: str, words: tuple[str, ...]) -> list[str]:
    """The command that makes a shell print what it would offer after these words."""
    line = " ".join(("polysched", *words))
    if shell == "fish":
        return ["fish", "--no-config", "-c", f"polysched completion fish | source; complete -C '{line}'"]
    set_up = "autoload -U compinit && compinit -D;" if shell == "zsh" else ""
    array = " ".join(f"'{word}'" for word in ("polysched", *words))
    script = (f'{set_up} eval "$(polysched completion {shell} | grep -v autoload)"; COMP_WORDS=({array}); '
              f'COMP_CWORD={len(words)}; _polysched; printf "%s\\n" "${{COMPREPLY[@]}}"')
    if shell == "bash":
        return ["bash", "-c", script]
    return ["zsh", "-f", "-c", f"autoload -U +X bashcompinit && bashcompinit; setopt ksharrays shwordsplit; {script}"]


@pytest.mark.parametrize(("shell", "words"), [
    *(("bash", words) for words in QUESTIONS), ("fish", ("bench", "")),
    ("fish", ("bench", "amos_mappings", "--only", "gr")), ("zsh", ("bench", ""))])   # zsh itself filters
def test_experiments_and_their_cases_are_completed(shell: str, words: tuple[str, ...],
                                                   on_the_path: dict[str, str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    done = subprocess.run(asked_in(shell, words), capture_output=True, text=True, cwd=EXPERIMENTS.parent,
                          env=on_the_path, check=False)
    assert {line.split("\t")[0] for line in done.stdout.splitlines() if line} == QUESTIONS[words], done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_completed(tmp_path: Path, shell: str) -> None:
    script = polysched("completion", shell, folder=tmp_path).stdout
    assert all(command.NAME in script for command in COMMANDS)


def test_an_unknown_shell_or_command_is_refused(tmp_path: Path) -> None:
    for arguments in (("completion", "cmd"), ("nonsense",), ()):
        done = polysched(*arguments, folder=tmp_path)
        assert done.returncode == 2
        assert "usage: " in done.stderr
