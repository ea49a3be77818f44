"""`polysched extract`: the Scop in isl notation."""

from __future__ import annotations

import argparse
import json

from polysched.cli.options import add_source, read_regions
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
    add_source(parser)
    parser.add_argument("--json", action="store_true", help="JSON with every set and relation in isl notation")


def run(arguments: argparse.Namespace) -> int:
    """Print the regions."""
    from polysched.scop.serialise import scop_to_json
    from polysched.scop.text import scop_text
    with progress(quiet=bool(arguments.quiet)) as shown:
        shown.step(f"reading {arguments.source}")
        scops = read_regions(arguments)
    if arguments.json:
        values = [scop_to_json(scop) for scop in scops]
        print(json.dumps(values[0] if len(values) == 1 else values, indent=2))
    else:
        print("\n".join(f"function {scop.name}\n{scop_text(scop)}" for scop in scops), end="")
    return 0
