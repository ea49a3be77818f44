"""`polysched bench`: run an experiment, or list them."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from polysched.cli.conventions import STANDARD, Parser, add_json
from polysched.cli.shown.output import prepared
from polysched.errors import RunFailedError, UsageError

NAME = "bench"
LEAST_WIDTH = 18
"""Characters of the column of names."""
HELP = "Run an experiment of the folder experiments/, or list them."
EPILOG = """\
examples:
  polysched bench
  polysched bench amos_mappings
  polysched bench blas --only 'f32_product_*' --threads 2 --plot blas.svg
  polysched bench polybench --help
  polysched bench reproduced/injected_orders
  polysched bench path/to/my_experiment --resume
  polysched bench --all found      every experiment, into found/NAME/results.jsonl and found/NAME/plot.svg
  polysched bench --all found --dry-run
  polysched bench --all found --only 'reproduced/*' amos_mappings

experiments come with the source tree: run this inside a checkout, or give the path of an experiment's folder;
`python experiments/NAME/run.py` does the same. Results are lines of JSON in NAME.jsonl of the current folder."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--names", action="store_true", help="list the names only")
    parser.add_argument("--all", metavar="DIR",
                        help="run every experiment as its committed results were made, results and plots into DIR, "
                             "where an earlier run is continued; ends with a table of commands, expected times, "
                             "tolerances and outcomes")
    parser.add_argument("--only", nargs="+", metavar="NAME",
                        help="with --all: these experiments (patterns as in the shell)")
    parser.add_argument("--dry-run", action="store_true",
                        help="with --all: run nothing; the table says how many cases are measured already")
    add_json(parser, "the list of experiments")
    parser.add_argument("name", nargs="?", metavar="NAME", help="an experiment's name or folder; none: list them")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="OPTIONS",
                        help="options of the experiment: see polysched bench NAME --help")


def run(arguments: argparse.Namespace) -> int:
    """Run one, or list all."""
    from polysched.experiment.driver import run_experiment
    if arguments.all is not None:
        return _run_all(arguments)
    if arguments.only is not None or arguments.dry_run:
        raise UsageError("--only and --dry-run belong to --all",
                         hint="polysched bench NAME --only CASE for cases of one experiment, --list to name them")
    if arguments.name is not None and (arguments.json is not None or arguments.names):
        raise UsageError("--json and --names are for the list of experiments, without a NAME",
                         hint="the results of an experiment are lines of JSON in NAME.jsonl")
    if arguments.name is not None:
        loudness = ["--verbose"] * bool(arguments.verbose) + ["--quiet"] * bool(arguments.quiet)
        return run_experiment(arguments.name, [*arguments.options, *loudness], parser_class=Parser)
    return _list(arguments)


def _list(arguments: argparse.Namespace) -> int:
    """Print the experiments with their questions and times, or their names."""
    from polysched.experiment.folders import list_experiments
    experiments = list_experiments()
    with prepared(arguments.json) as report:
        if report is not None:
            report.write_json([f.name for f in experiments] if arguments.names else
                              [{"name": f.name, **f.config} for f in experiments])
    width = max([LEAST_WIDTH, *(len(found.name) + 2 for found in experiments)])
    for found in experiments if arguments.json != STANDARD else ():
        print(found.name if arguments.names else
              f"{found.name:<{width}}{found.config['question']} ({found.config['expected_time']})")
    return 0


def _run_all(arguments: argparse.Namespace) -> int:
    """Run every experiment, and show what came of it.

    Raises
    ------
    UsageError : something else is asked for, too.
    RunFailedError : some did not end well; all others have run.
    """
    from polysched.experiment.driver import select
    from polysched.experiment.everything import expected_table, plan_all, run_all
    from polysched.experiment.folders import list_experiments
    if arguments.name is not None or arguments.names or arguments.json is not None:
        raise UsageError("--all runs experiments as they are committed, and takes only --only and --dry-run",
                         hint="polysched bench --all DIR --only 'reproduced/*'")
    experiments, folder = select(list_experiments(), arguments.only, what="experiment"), Path(arguments.all)
    if arguments.dry_run:
        print(expected_table(experiments, plan_all(experiments, folder, parser_class=Parser)))
        return 0
    options = ["--verbose"] * bool(arguments.verbose) + ["--quiet"] * bool(arguments.quiet)
    try:
        outcomes = run_all(experiments, folder, options, parser_class=Parser,
                           told=lambda line: print(f"\n== {line}", flush=True))
    except KeyboardInterrupt:
        same = ["polysched", "bench", "--all", arguments.all, *(["--only", *arguments.only] if arguments.only else [])]
        print(f"polysched: {shlex.join(same)} goes on where this ended", file=sys.stderr)
        raise
    print(f"\n{expected_table(experiments, outcomes)}")
    bad = [outcome for outcome in outcomes if outcome.problem]
    if bad:
        raise RunFailedError(f"{len(bad)} of {len(outcomes)} experiments did not end well",
                             witness=f"{bad[0].name}: {bad[0].problem}", hint="polysched bench NAME --help")
    return 0
