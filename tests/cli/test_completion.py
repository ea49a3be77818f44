"""`polysched completion`: what the shells complete."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.cli.commands import COMMANDS
from tests.cli.command import is_refusal, polysched


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
NAMES = {str(path.parent.relative_to(EXPERIMENTS)) for depth in ("*", "*/*")
         for path in EXPERIMENTS.glob(f"{depth}/experiment.toml")}
QUESTIONS = {("bench", ""): NAMES,
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


def test_commands_are_json_as_well(tmp_path: Path) -> None:
    found = {c["name"]: c for c in json.loads(polysched("completion", "--json", folder=tmp_path).stdout)}
    assert list(found) == [command.NAME for command in COMMANDS]
    (scheduler,) = (a for a in found["c2c"]["arguments"] if "--scheduler" in a["spellings"])
    assert "pluto" in scheduler["choices"]
    script = polysched("completion", "bash", folder=tmp_path).stdout
    assert polysched("completion", "bash", "--json", "c.json", folder=tmp_path).stdout == script
    assert is_refusal(polysched("completion", folder=tmp_path))
