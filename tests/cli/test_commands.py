"""Every module of a command is one of the list, says what it is, and loads no room until it runs."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from polysched import cli
from polysched.cli.commands import COMMANDS, Command

FOLDER = Path(cli.__file__).parent


def names_of(command: Command) -> str:
    return command.NAME


def test_every_module_with_a_name_is_a_command() -> None:
    declared = {path.stem for path in FOLDER.rglob("*.py") if "\nNAME = " in path.read_text()}
    assert {Path(str(getattr(c, "__file__", ""))).stem for c in COMMANDS} == declared
    assert len({c.NAME for c in COMMANDS}) == len(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=names_of)
def test_a_command_has_a_help_in_one_sentence_and_examples_of_itself(command: Command) -> None:
    assert command.HELP.endswith(".")
    assert "\n" not in command.HELP
    assert command.EPILOG.startswith(("example:\n", "examples:\n"))
    examples = command.EPILOG.split("\n\n")[0].splitlines()[1:]
    assert all(line.startswith("  ") for line in examples)
    assert any(f"polysched {command.NAME}" in line for line in examples)


@pytest.mark.parametrize("command", COMMANDS, ids=names_of)
def test_options_are_declared_on_any_parser(command: Command) -> None:
    parser = argparse.ArgumentParser(add_help=False)
    command.add_arguments(parser)
    assert parser._actions
    assert all(a.help for a in parser._actions if a.option_strings and a.help is not argparse.SUPPRESS)


def test_the_list_loads_no_room_that_takes_long() -> None:
    heavy = ["islpy", "numpy", "pycparser", "ortools", "rich", "matplotlib", "polysched.scop", "polysched.pipeline"]
    done = subprocess.run([sys.executable, "-c", f"import sys, polysched.cli.commands; print(*{{*{heavy}}} & "
                           "{*sys.modules})"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
