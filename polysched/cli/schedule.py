"""`polysched schedule`: the schedule of every region, its bands and parallel loops, and how it was found."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from polysched.cli.conventions import STANDARD, Input, add_assume, add_json, add_target, chosen_target
from polysched.cli.options import (
    add_any_source,
    add_scheduling,
    known_sizes,
    read_regions,
    read_text,
    scheduling_options,
)
from polysched.cli.shown.output import prepared, refuse_same_file
from polysched.cli.shown.progress import Progress, progress
from polysched.cli.shown.unserved import OF_GIVEN_SCHEDULES, OF_SCHEDULES, refuse_unserved
from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.dependence.expansion import Expansion
    from polysched.scheduling import Schedule
    from polysched.scheduling.schedule import SolverReport
    from polysched.scop.scop import Scop

NAME = "schedule"
FORMS = ("stored", "tree", "map", "pluto", "halide", "openscop", "cloog")
REGIONS = ("affine", "tir")
"""Forms of the whole region, with its bodies."""
FOUND_AS_ASKED = "found as asked: no step had to be repeated with weaker conditions"
HELP = "Schedule a C file's regions and show bands, parallel loops and how they were found."
EPILOG = """\
examples:
  polysched schedule gemm.c
  polysched schedule gemm.c --scheduler isl --json
  polysched schedule gemm.c --scheduler best           what the cost model finds cheapest
  polysched schedule jacobi.c --concurrent-start 1     hyperplanes for diamond tiling
  polysched schedule ring.c --iss                      time tiles for a periodic stencil
  polysched schedule gemm.c --strategy strategy.json   cost functions and rows per dimension
  polysched schedule gemm.c --form pluto               lines like T(S1): (i, j, k)
  polysched schedule gemm.c --given order.txt          what these dependences say of somebody's schedule

The schedule is that of `c2c` and `run` with the same options, temporaries with a copy per iteration included. The
exception shows only in emitted code: temporaries whose copies need more memory than all arrays keep one for all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_any_source(parser)
    add_scheduling(parser)
    parser.add_argument("--reductions", choices=("keep", "exact", "reassociate"), default="keep",
                        help="whose updates may run in another order (default: keep)")
    parser.add_argument("--inputs", action="store_true", help="keep reads of one element close together, too")
    parser.add_argument("--memory-based", action="store_true", help="dependences on every earlier access of an element")
    parser.add_argument("--given", type=Input, metavar="FILE",
                        help="instead of scheduling, check a schedule: a stored one, a tree or a union map in isl's "
                             "notation, lines like T(S1): (k, i, j), chains like S0.split(i, io, ii, 32), OpenScop or "
                             "CLooG's input; - reads standard input")
    parser.add_argument("--form", choices=(*FORMS, *REGIONS),
                        help="print the schedule in this form, which --given and Schedule.from_text read, in place of "
                             "the text for people; affine is the region as a function of MLIR's affine dialect, which "
                             "the command reads in place of a C file; tir the same as TVMScript, which "
                             "polysched.scop.from_tir reads once TVM has parsed it")
    add_assume(parser)
    add_target(parser)
    add_json(parser, "the same, with the tree in isl's notation,")


def run(arguments: argparse.Namespace) -> int:
    """Schedule every region and print what was found."""
    from polysched.scheduling.tree.tree_text import tree_text
    refuse_same_file(arguments.source, arguments.json)
    refuse_unserved(arguments, (OF_GIVEN_SCHEDULES, *OF_SCHEDULES))
    with prepared(arguments.json) as report, progress(quiet=bool(arguments.quiet)) as shown:
        schedules = _schedules(arguments, shown)
        if report is not None:
            report.write_json_of_regions([_as_json(schedule, expansion) for schedule, expansion in schedules])
    if arguments.json != STANDARD:
        for schedule, expansion in schedules:
            if arguments.form is not None:
                print(_in_form(schedule, arguments.form), end="")
                continue
            print(*_lines(schedule, expansion), sep="\n")
            print(tree_text(schedule.tree), end="")
    return 0


def _schedules(arguments: argparse.Namespace, shown: Progress) -> list[tuple[Schedule, Expansion]]:
    """The schedule of every region, with what was done to its temporaries."""
    from dataclasses import replace

    from polysched.pipeline import analysed, scheduled
    from polysched.scheduling import Schedule
    from polysched.search.lookup import searching
    options = scheduling_options(arguments)
    options = replace(options, tiling=replace(options.tiling, target=chosen_target(arguments)))
    shown.step(f"reading {arguments.source}")
    scops = read_regions(arguments)
    given = _given(arguments.given, scops)
    assumed = known_sizes(arguments.assume, scops, arguments.source)
    schedules = []
    for scop in scops:
        shown.step(f"finding the dependences of {scop.name}")
        expansion = analysed(scop, expand=options.expand, value_based=not arguments.memory_based,
                             inputs=arguments.inputs, reductions=arguments.reductions)
        if given is not None:
            schedules.append((Schedule.from_text(given, expansion.dependences), expansion))
            continue
        shown.step(f"scheduling {scop.name}")
        with searching(options):
            schedules.append((scheduled(expansion.dependences, options, input_dependences=arguments.inputs,
                                        parameters=assumed), expansion))
    return schedules


def _in_form(schedule: Schedule, form: str) -> str:
    """The schedule in one of `FORMS`, or the region with it."""
    if form not in REGIONS:
        return schedule.to_text(form)
    from polysched.emit_c.mlir import affine_text
    from polysched.emit_c.tir import tir_text
    from polysched.tiling.tiled_schedule import TiledSchedule
    text = affine_text if form == "affine" else tir_text
    return text(TiledSchedule(schedule=schedule, tree=schedule.tree))


def _given(name: str | None, scops: tuple[Scop, ...]) -> str | None:
    """The text of a schedule for the only region; None where none is given.

    Raises
    ------
    UsageError : the file cannot be read, or there are several regions.
    """
    if name is None:
        return None
    if len(scops) > 1:
        raise UsageError("a schedule is of one region", witness=", ".join(scop.name for scop in scops),
                         hint="give a file with that region alone")
    return read_text(name, "the schedule")


def _lines(schedule: Schedule, expansion: Expansion) -> Iterator[str]:
    """How the schedule was found, and what happened to temporaries."""
    from polysched.dependence.last_values import kept_storage
    report = schedule.report
    solved = f", {report.solves} integer programs of at most {report.variables} variables and {report.rows} rows" if (
        report.variables) else ""
    taken = f", {report.total_seconds:.3f} s" if report.total_seconds else ""
    yield f"function {schedule.scop.name}: {schedule.algorithm}{solved}{taken}"
    yield from (f"  candidate {candidate}" for candidate in report.candidates)
    yield from (f"  {rung}" for rung in _rungs(report))
    yield from (f"  {copied}" for copied in expansion.last_values)
    yield from (f"  temporary {array.name}: a copy per iteration of {', '.join(array.loops)}"
                for array in expansion.arrays)
    yield from (f"  temporary {name}: in {home}, where its result goes" for name, home in expansion.moved)
    yield from (f"  {reason}" for reason in kept_storage(schedule.dependences))
    if schedule.dependences.relaxed:
        yield f"  updates in any order: {', '.join(schedule.dependences.relaxed)}"


def _rungs(report: SolverReport) -> tuple[str, ...]:
    return report.rungs or (FOUND_AS_ASKED,) * (report.solves > 0)


def _as_json(schedule: Schedule, expansion: Expansion) -> dict[str, Any]:
    from polysched.scheduling.tree.tree_text import band_list
    return {"name": schedule.scop.name, "algorithm": schedule.algorithm, "bands": band_list(schedule.tree),
            "expanded": {array.name: list(array.loops) for array in expansion.arrays}, "moved": dict(expansion.moved),
            "last_values": {copied.array: copied.copy for copied in expansion.last_values},
            "relaxed": list(schedule.dependences.relaxed), "report": asdict(schedule.report),
            "rung": list(_rungs(schedule.report)),
            "tree": str(schedule.tree)}
