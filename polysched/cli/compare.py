"""`polysched compare`: what got faster or slower between two results files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from polysched.cli.conventions import STANDARD, Input, add_json
from polysched.cli.shown.input import as_files
from polysched.cli.shown.output import prepared
from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.measure.compare_results import Change
    from polysched.measure.measurement import Measurement
    from polysched.report.comparison import VariantChange
    from polysched.report.entry import Variant

NAME = "compare"
HELP = "Tell what got faster or slower between two results files, beyond noise."
EPILOG = """\
examples:
  polysched compare before.jsonl after.jsonl
  polysched compare before.jsonl after.jsonl --threshold 10

compares the speed relative to the original code, or to the reference of an experiment, which ran in alternation; exit
code 5 when something got slower or is no longer verified"""

SLOWER = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("before", type=Input, metavar="A.jsonl",
                        help="results as `polysched run --results` or `polysched bench` write them; - is standard "
                             "input")
    parser.add_argument("after", type=Input, metavar="B.jsonl", help="the same, later")
    parser.add_argument("--threshold", type=percentage, default=5.0, metavar="PERCENT",
                        help="changes of the median below this do not count (default: %(default)g)")
    add_json(parser, "every change")
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

    from polysched.cli.shown.tables import console
    with prepared(arguments.json) as report:
        changes = _changes(arguments)
        if report is not None:
            report.write_json([{"name": change.name, "change": change.change, "verdict": change.verdict.value,
                                "is_worse": change.is_worse} for change in changes])
    worst = SLOWER if any(change.is_worse for change in changes) else 0
    if arguments.json == STANDARD:
        return worst
    table = Table(box=SIMPLE_HEAD)
    for heading in ("", "before", "after", "change", "verdict"):
        table.add_column(heading, justify="right" if heading in ("before", "after", "change") else "left")
    for change in changes:
        table.add_row(change.name, _ratio(change.before), _ratio(change.after), _percentage(change),
                      change.verdict.value)
    console().print(table)
    console().print("before and after: times as fast as the reference; change: after over before", markup=False)
    return worst


def _changes(arguments: argparse.Namespace) -> Sequence[Change | VariantChange]:
    """The changes between two files of the same kind."""
    with as_files((arguments.before, arguments.after)) as paths:
        return _changes_between(paths, arguments)


def _changes_between(paths: Sequence[str], arguments: argparse.Namespace) -> Sequence[Change | VariantChange]:
    from polysched.measure.compare_results import compare_results
    from polysched.measure.results import read
    threshold = arguments.threshold / 100
    of_experiments = [_is_of_experiment(path) for path in paths]
    if len(set(of_experiments)) > 1:
        raise UsageError("one file has measurements, the other results of an experiment",
                         where=f"{arguments.before}, {arguments.after}", hint="compare files of the same kind")
    if of_experiments[0]:
        from polysched.report.comparison import compare_variants
        from polysched.report.reading import read_results
        old, new = (read_results([path], any_machine=arguments.any_machine) for path in paths)
        return compare_variants(old, new, threshold=threshold, any_machine=arguments.any_machine)
    before, after = (read(path, any_machine=arguments.any_machine) for path in paths)
    return compare_results(before, after, threshold=threshold, any_machine=arguments.any_machine)


def _is_of_experiment(path: str) -> bool:
    from polysched.experiment.record import KIND
    from polysched.measure.json_lines import read_lines
    return any(value.get("kind") == KIND for _, value in read_lines(path))


def _ratio(result: Measurement | Variant | None) -> str:
    from polysched.measure.measurement import Measurement
    from polysched.measure.timing.statistics import ratio_text
    if result is None:
        return "-"
    if isinstance(result, Measurement):
        ratio, interval = (result.timing.ratio, result.timing.ratio_interval) if result.timing else (None, None)
    else:
        ratio, interval = result.speed_up, result.interval
    if ratio is None or interval is None:
        return "not verified"
    return f"{ratio_text(ratio)} ({ratio_text(interval.low)} to {ratio_text(interval.high)})"


def _percentage(change: Change | VariantChange) -> str:
    if change.change is None:
        return ""
    by_time = " (by time: the original changed)" if getattr(change, "by_time", False) else ""
    return f"{100 * (change.change - 1):+.1f}%{by_time}"
