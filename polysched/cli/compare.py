"""`polysched compare`: what got faster or slower between two results files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polysched.measure.compare_results import Change
    from polysched.measure.measurement import Measurement

NAME = "compare"
HELP = "Tell what got faster or slower between two results files, beyond noise."
EPILOG = """\
examples:
  polysched compare before.jsonl after.jsonl
  polysched compare before.jsonl after.jsonl --threshold 10

compares the speed relative to the original code, which ran in alternation; exit code 5 when something got slower or
is no longer verified"""

SLOWER = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("before", metavar="A.jsonl", help="results as `polysched run --results` writes them")
    parser.add_argument("after", metavar="B.jsonl", help="the same, later")
    parser.add_argument("--threshold", type=percentage, default=5.0, metavar="PERCENT",
                        help="changes of the median below this do not count (default: %(default)g)")
    parser.add_argument("--any-machine", action="store_true", help="compare results of different machines")


def percentage(text: str) -> float:
    """A number that is at least 0."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Print the table; 5 when something got worse."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from polysched.cli.tables import console
    from polysched.measure.compare_results import compare_results
    from polysched.measure.results import read
    before, after = (read(path, any_machine=arguments.any_machine) for path in (arguments.before, arguments.after))
    changes = compare_results(before, after, threshold=arguments.threshold / 100, any_machine=arguments.any_machine)
    table = Table(box=SIMPLE_HEAD)
    for heading in ("", "before", "after", "change", "verdict"):
        table.add_column(heading, justify="right" if heading in ("before", "after", "change") else "left")
    for change in changes:
        table.add_row(change.name, _ratio(change.before), _ratio(change.after), _change(change), change.verdict.value)
    console().print(table)
    console().print("before and after: times as fast as the original code; change: after over before", markup=False)
    return SLOWER if any(change.is_worse for change in changes) else 0


def _ratio(measurement: Measurement | None) -> str:
    if measurement is None:
        return "-"
    if measurement.timing is None:
        return "not verified"
    interval = measurement.timing.ratio_interval
    return f"{measurement.timing.ratio:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def _change(change: Change) -> str:
    if change.change is None:
        return ""
    return f"{100 * (change.change - 1):+.1f}%{' (by time: the original changed)' if change.by_time else ''}"
