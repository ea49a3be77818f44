"""docs/command_line.md says what the program does."""

from collections.abc import Callable
from pathlib import Path

from polysched.cli.commands import COMMANDS
from polysched.cli.options import FUSIONS, SCHEDULERS
from polysched.cli.shown.reference import command_line_page
from polysched.scheduling import ALGORITHMS
from polysched.scheduling.options import FUSION_POLICIES

PAGE = Path(__file__).parents[3] / "docs" / "command_line.md"


def test_the_page_is_up_to_date(golden: Callable[[Path, str], None]) -> None:
    golden(PAGE, command_line_page())


def test_every_command_has_examples_and_a_description() -> None:
    for command in COMMANDS:
        assert "polysched " + command.NAME in command.EPILOG, command.NAME
        assert command.HELP.endswith("."), command.NAME


def test_the_choices_are_those_of_the_rooms() -> None:
    assert (*ALGORITHMS, "best") == SCHEDULERS
    assert FUSION_POLICIES == FUSIONS
