"""`polysched explain`: what was done to each loop of a file, and why not more."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from polysched.cli.conventions import STANDARD, WORK_ITEMS, add_json, add_size, chosen_device
from polysched.cli.options import add_choices, add_source, known_sizes, pipeline_options
from polysched.cli.shown.output import prepared, refuse_same_file
from polysched.cli.shown.progress import progress
from polysched.cli.shown.unserved import NO_PORTABLE_TEXT, OF_CHOICES, refuse_unserved
from polysched.cli.values import positive
from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.pipeline import Optimized

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
    add_size(parser, "the code of an instruction is made for it, and that of an accelerator")
    group.add_argument("--time-tile", type=positive, metavar="STEPS",
                       help="with `--target opencl` or `cuda`: iterations of a loop over time that one launch runs, in "
                            "diamonds (default: a launch each)")
    parser.add_argument("--timeline", metavar="OUT.svg",
                        help="with `--target davinci` or `gemmini`: write what each engine does when as a Gantt chart; "
                             "for a file with one region")


def run(arguments: argparse.Namespace) -> int:
    """Transform a file, and tell how."""
    from polysched.pipeline.explained import explained
    from polysched.search.lookup import transform_file
    refuse_same_file(arguments.source, arguments.json)
    refuse_unserved(arguments, (NO_PORTABLE_TEXT, *OF_CHOICES))
    if arguments.time_tile and chosen_device(arguments) not in WORK_ITEMS:
        raise UsageError(f"--time-tile belongs to --target {' or '.join(WORK_ITEMS)}", hint="leave it out")
    if arguments.timeline and arguments.timeline in (arguments.json, arguments.source):
        raise UsageError("the chart needs a file of its own", where=arguments.timeline)
    with (prepared(arguments.json) as report, prepared(arguments.timeline) as chart,
          progress(quiet=bool(arguments.quiet)) as shown):
        transformed = transform_file(arguments.source, pipeline_options(arguments))
        known_sizes([*arguments.size, *arguments.assume], [region.scop for region in transformed.regions],
                    arguments.source, some_left=arguments.autodetect)
        shown.step("gathering what was done")
        regions = [explained(region) for region in transformed.regions]
        if chart is not None:
            chart.write(_chart(transformed.regions))
        if report is not None:
            report.write_json({"regions": [region.to_json() for region in regions],
                               "refused": list(transformed.refused)})
    if arguments.json == STANDARD:
        return 0
    print("\n".join(map(str, regions)), end="")
    for line in transformed.refused:
        print(f"left as it is: {line}")
    return 0


def _chart(regions: Sequence[Optimized]) -> str:
    """The timeline of the only region.

    Raises
    ------
    UsageError : there are several, or it is not for an accelerator.
    """
    from polysched.gpu.scratchpad.chart import gantt
    if len(regions) != 1 or regions[0].accelerator is None:
        raise UsageError("a timeline is of one region on an accelerator", witness=f"{len(regions)} regions",
                         hint="--target davinci or gemmini, with --size NAME=VALUE")
    timeline = regions[0].accelerator.timeline
    return gantt(timeline.headline().removeprefix("of "), timeline.engines, timeline.runs)
