"""`polysched schedule`: the schedule of every region, its bands and parallel loops, and how it was found."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from polysched.cli.options import add_scheduling, add_source, read_regions, scheduling_options
from polysched.cli.shown.progress import progress

if TYPE_CHECKING:
    from polysched.dependence.expansion import Expansion
    from polysched.scheduling import Schedule

NAME = "schedule"
FIRST_RUNG = "first rung of the ladder: every row was found as it should be"
HELP = "Schedule a C file's regions and show bands, parallel loops and how they were found."
EPILOG = """\
examples:
  polysched schedule gemm.c
  polysched schedule gemm.c --scheduler isl --json
  polysched schedule gemm.c --scheduler best           what the cost model finds cheapest
  polysched schedule jacobi.c --concurrent-start 1     hyperplanes for diamond tiling
  polysched schedule ring.c --iss                      time tiles for a periodic stencil
  polysched schedule gemm.c --strategy strategy.json   cost functions and rows per dimension

The schedule is that of `c2c` and `run` with the same options, temporaries with a copy per iteration included, but for
one case that only the emitted code shows: copies that need more memory than all arrays go back to one for all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_source(parser)
    add_scheduling(parser)
    parser.add_argument("--reductions", choices=("keep", "exact", "reassociate"), default="keep",
                        help="whose updates may run in another order (default: keep)")
    parser.add_argument("--inputs", action="store_true", help="keep reads of one element close together, too")
    parser.add_argument("--memory-based", action="store_true", help="dependences on every earlier access of an element")
    parser.add_argument("--json", action="store_true", help="the same as JSON, with the tree in isl's notation")


def run(arguments: argparse.Namespace) -> int:
    """Schedule every region and print what was found."""
    from polysched.dependence.last_values import kept_storage
    from polysched.pipeline import analysed, scheduled
    from polysched.scheduling.tree.tree_text import tree_text
    options, schedules = scheduling_options(arguments), []
    with progress(quiet=bool(arguments.quiet)) as shown:
        shown.step(f"reading {arguments.source}")
        for scop in read_regions(arguments):
            shown.step(f"finding the dependences of {scop.name}")
            expansion = analysed(scop, expand=options.expand, value_based=not arguments.memory_based,
                                 inputs=arguments.inputs, reductions=arguments.reductions)
            shown.step(f"scheduling {scop.name}")
            schedules.append((scheduled(expansion.dependences, options, input_dependences=arguments.inputs), expansion))
    values = []
    for schedule, expansion in schedules:
        scop, dependences = schedule.scop, schedule.dependences
        values.append(_as_json(schedule, expansion))
        if not arguments.json:
            report = schedule.report
            print(f"function {scop.name}: {schedule.algorithm}, {report.solves} solves of at most {report.variables} "
                  f"variables and {report.rows} rows, {report.total_seconds:.3f} s")
            for candidate in report.candidates:
                print(f"  candidate {candidate}")
            for rung in report.rungs or (FIRST_RUNG,):
                print(f"  {rung}")
            for copied in expansion.last_values:
                print(f"  {copied}")
            for array in expansion.arrays:
                print(f"  temporary {array.name}: a copy per iteration of {', '.join(array.loops)}")
            for name, home in expansion.moved:
                print(f"  temporary {name}: in {home}, where its result goes")
            for reason in kept_storage(dependences):
                print(f"  {reason}")
            if dependences.relaxed:
                print(f"  updates in any order: {', '.join(dependences.relaxed)}")
            print(tree_text(schedule.tree), end="")
    if arguments.json:
        print(json.dumps(values[0] if len(values) == 1 else values, indent=2))
    return 0


def _as_json(schedule: Schedule, expansion: Expansion) -> dict[str, Any]:
    from polysched.scheduling.tree.tree_text import band_list
    return {"name": schedule.scop.name, "algorithm": schedule.algorithm, "bands": band_list(schedule.tree),
            "expanded": {array.name: list(array.loops) for array in expansion.arrays}, "moved": dict(expansion.moved),
            "last_values": {copied.array: copied.copy for copied in expansion.last_values},
            "relaxed": list(schedule.dependences.relaxed), "report": asdict(schedule.report),
            "rung": list(schedule.report.rungs or (FIRST_RUNG,)),
            "tree": str(schedule.tree)}
