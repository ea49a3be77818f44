"""`polysched extract`: the Scop in isl notation."""

from __future__ import annotations

import argparse

from polysched.cli.conventions import STANDARD, add_json
from polysched.cli.options import add_any_source, read_regions
from polysched.cli.shown.output import prepared, refuse_same_file
from polysched.cli.shown.progress import progress

NAME = "extract"
HELP = "Print the polyhedral model of a C file's regions."
EPILOG = """\
examples:
  polysched extract gemm.c
  polysched extract gemm.c --json | python -c 'import json, sys; print(json.load(sys.stdin)["context"])'

with --json one region is printed as an object, several as a list of objects"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_any_source(parser)
    add_json(parser, "every set and relation in isl notation")


def run(arguments: argparse.Namespace) -> int:
    """Print the regions."""
    from polysched.scop.serialise import scop_to_json
    from polysched.scop.text import scop_text
    refuse_same_file(arguments.source, arguments.json)
    with prepared(arguments.json) as report, progress(quiet=bool(arguments.quiet)) as shown:
        shown.step(f"reading {arguments.source}")
        scops = read_regions(arguments)
        if report is not None:
            report.write_json_of_regions([scop_to_json(scop) for scop in scops])
    if arguments.json != STANDARD:
        print("\n".join(f"function {scop.name}\n{scop_text(scop)}" for scop in scops), end="")
    return 0
