"""`polysched bench`: run an experiment, or list them."""

from __future__ import annotations

import argparse

from polysched.cli.conventions import STANDARD, Parser, add_json
from polysched.cli.shown.output import prepared
from polysched.errors import UsageError

NAME = "bench"
HELP = "Run an experiment of the folder experiments/, or list them."
EPILOG = """\
examples:
  polysched bench
  polysched bench amos_mappings
  polysched bench blas --only 'f32_product_*' --threads 2 --plot blas.svg
  polysched bench polybench --help
  polysched bench path/to/my_experiment --resume

experiments come with the source tree: run this inside a checkout, or give the path of an experiment's folder;
`python experiments/NAME/run.py` does the same. Results are lines of JSON in NAME.jsonl of the current folder."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--names", action="store_true", help="list the names only")
    add_json(parser, "the list of experiments")
    parser.add_argument("name", nargs="?", metavar="NAME", help="an experiment's name or folder; none: list them")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="OPTIONS",
                        help="options of the experiment: see polysched bench NAME --help")


def run(arguments: argparse.Namespace) -> int:
    """Run one, or list all."""
    from polysched.experiment.driver import run_experiment
    from polysched.experiment.folders import list_experiments
    if arguments.name is not None and (arguments.json is not None or arguments.names):
        raise UsageError("--json and --names are for the list of experiments, without a NAME",
                         hint="the results of an experiment are lines of JSON in NAME.jsonl")
    if arguments.name is not None:
        loudness = ["--verbose"] * bool(arguments.verbose) + ["--quiet"] * bool(arguments.quiet)
        return run_experiment(arguments.name, [*arguments.options, *loudness], parser_class=Parser)
    experiments = list_experiments()
    with prepared(arguments.json) as report:
        if report is not None:
            report.write_json([f.name for f in experiments] if arguments.names else
                              [{"name": f.name, **f.config} for f in experiments])
    for found in experiments if arguments.json != STANDARD else ():
        print(found.name if arguments.names else
              f"{found.name:<18}{found.config['question']} ({found.config['expected_time']})")
    return 0
