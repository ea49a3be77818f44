"""`polysched explain`: what was done to each loop of a file, and why not more."""

from __future__ import annotations

import argparse

from polysched.cli.conventions import STANDARD, add_json, add_size
from polysched.cli.options import add_choices, add_source, known_sizes, pipeline_options
from polysched.cli.shown.output import prepared, refuse_same_file
from polysched.cli.shown.progress import progress

NAME = "explain"
HELP = "Say what is done to each loop of a C file, and why not more."
EPILOG = """\
examples:
  polysched explain gemm.c
  polysched explain gemm.c --scheduler isl --json

with --json: {"regions": [...], "refused": [...]}
more of it: `polysched deps IN.c --blocks LOOP` has all dependences that prevent more of a loop,
`polysched tile IN.c --explain` the traffic of its tiles"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_source(parser)
    group = add_choices(parser)
    add_json(group, "the same")
    add_size(parser, "the code of an instruction is made for it")


def run(arguments: argparse.Namespace) -> int:
    """Transform a file, and tell how."""
    from polysched.pipeline.explained import explained
    from polysched.search.lookup import transform_file
    refuse_same_file(arguments.source, arguments.json)
    with prepared(arguments.json) as report, progress(quiet=bool(arguments.quiet)) as shown:
        transformed = transform_file(arguments.source, pipeline_options(arguments))
        known_sizes([*arguments.size, *arguments.assume], [region.scop for region in transformed.regions],
                    arguments.source, some_left=arguments.autodetect)
        shown.step("gathering what was done")
        regions = [explained(region) for region in transformed.regions]
        if report is not None:
            report.write_json({"regions": [region.to_json() for region in regions],
                               "refused": list(transformed.refused)})
    if arguments.json == STANDARD:
        return 0
    print("\n".join(map(str, regions)), end="")
    for line in transformed.refused:
        print(f"left as it is: {line}")
    return 0
