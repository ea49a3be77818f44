"""`polysched schedule`: the schedule of every region, its bands and parallel loops, and how it was found."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from polysched.cli.options import add_scheduling, add_source, read_regions, read_strategy
from polysched.cli.progress import progress

if TYPE_CHECKING:
    from polysched.dependence import Dependences
    from polysched.scheduling import Schedule

NAME = "schedule"
HELP = "Schedule a C file's regions and show bands, parallel loops and how they were found."
EPILOG = """\
examples:
  polysched schedule gemm.c
  polysched schedule gemm.c --scheduler isl --json
  polysched schedule gemm.c --scheduler best           what the cost model finds cheapest
  polysched schedule jacobi.c --concurrent-start 1     hyperplanes for diamond tiling
  polysched schedule ring.c --iss                      time tiles for a periodic stencil
  polysched schedule gemm.c --strategy strategy.json   cost functions and rows per dimension"""


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
    from polysched.dependence import analyse
    from polysched.scheduling.tree_text import tree_text
    schedules = []
    with progress(quiet=bool(arguments.quiet)) as shown:
        shown.step(f"reading {arguments.source}")
        for scop in read_regions(arguments):
            shown.step(f"finding the dependences of {scop.name}")
            dependences = analyse(scop, value_based=not arguments.memory_based, inputs=arguments.inputs,
                                  reductions=arguments.reductions)
            shown.step(f"scheduling {scop.name}")
            schedules.append(_schedule(dependences, arguments))
    values = []
    for schedule in schedules:
        scop, dependences = schedule.scop, schedule.dependences
        values.append(_as_json(schedule))
        if not arguments.json:
            report = schedule.report
            print(f"function {scop.name}: {schedule.algorithm}, {report.solves} solves of at most {report.variables} "
                  f"variables and {report.rows} rows, {report.total_seconds:.3f} s")
            for candidate in report.candidates:
                print(f"  candidate {candidate}")
            for rung in report.rungs:
                print(f"  {rung}")
            if dependences.relaxed:
                print(f"  updates in any order: {', '.join(dependences.relaxed)}")
            print(tree_text(schedule.tree), end="")
    if arguments.json:
        print(json.dumps(values[0] if len(values) == 1 else values, indent=2))
    return 0


def _schedule(dependences: Dependences, arguments: argparse.Namespace) -> Schedule:
    from polysched.scheduling import ALGORITHMS, SchedulerOptions, by_strategy
    from polysched.tiling.best_schedule import NAME as BEST
    from polysched.tiling.best_schedule import best
    options = SchedulerOptions(fusion=arguments.fusion, input_dependences=arguments.inputs,
                               concurrent_start=arguments.concurrent_start, split_index_sets=arguments.split_index_sets)
    strategy = read_strategy(arguments.strategy)
    if strategy is not None:
        return by_strategy(dependences, strategy, options=options)
    if arguments.scheduler == BEST:
        return best(dependences, options=options).schedule
    return ALGORITHMS[arguments.scheduler](dependences, options=options)


def _as_json(schedule: Schedule) -> dict[str, Any]:
    from polysched.scheduling.tree_text import band_list
    return {"name": schedule.scop.name, "algorithm": schedule.algorithm, "bands": band_list(schedule.tree),
            "relaxed": list(schedule.dependences.relaxed), "report": asdict(schedule.report),
            "tree": str(schedule.tree)}
