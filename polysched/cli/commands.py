"""Every subcommand, in the order of the help.  A new one is one file and one line.

A command's module is cheap to import: it imports the rooms that it needs inside `run`.
"""

from __future__ import annotations

import argparse
from typing import Protocol

from polysched.cli import (
    bench,
    c2c,
    compare,
    completion,
    db,
    demo,
    deps,
    doctor,
    extract,
    fuzz,
    machine,
    match,
    onnx,
    passes,
    place,
    report,
    run,
    schedule,
    tile,
    tune,
)
from polysched.cli.python_programs import block
from polysched.cli.questions import draw, explain


class Command(Protocol):
    """What the module of a subcommand offers."""

    NAME: str
    HELP: str
    EPILOG: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; the exit code."""


COMMANDS: tuple[Command, ...] = (
    demo, c2c, block, run, tune, db, compare, bench, report, machine, extract, deps, explain, draw, schedule, tile,
    passes, match, onnx, place, fuzz, doctor, completion)
