"""`polysched fuzz`: random programs through every scheduler, checked by three witnesses."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

from polysched.cli.conventions import STANDARD, add_json
from polysched.cli.shown.output import Output, prepared
from polysched.cli.shown.progress import progress
from polysched.cli.shown.unserved import OF_CAMPAIGNS, refuse_unserved
from polysched.cli.values import natural
from polysched.errors import UsageError, WrongResultError

if TYPE_CHECKING:
    from polysched.fuzz.campaign import ProgramResult

Result = TypeVar("Result")

NAME = "fuzz"
MOST_SECONDS = 86_400   # of one program: a day, which every clock can count
HELP = "Check the program itself on random programs."
EPILOG = """\
examples:
  polysched fuzz --count 200 --seed 0
  polysched fuzz --count 1 --seed 17 --save wrong --json result.json
  polysched fuzz --programs contractions --count 50
  polysched fuzz --graphs --count 100 --json graphs.json
  polysched fuzz --target mpi --count 100
  polysched fuzz --instructions --pairs 500 --results pairs.jsonl
  polysched fuzz --instructions --pairs 1 --seed 44 --save wrong

each program is transformed in several configurations; the interpreter, the compiled C and the order of the
instances have to agree; the last line is `N programs, W wrong, R refused`, the one above it counts the programs that
took too long and were given up

--graphs: random operator graphs (broadcasts, reshapes, reductions, convolutions, gathers, branches, loops), compiled
and after every pass over graphs, against the interpreter

--target: stencils, products, triangles, reductions and conditional writes over ranks of MPI (blocks, cyclic, tiles of
time, overlap) or on a device (OpenCL; CUDA by a header that runs it on the CPU), each at two sizes

--instructions: pairs of a random described instruction and a program that is the same function in other words, or
has one subscript, type, constant or wrap changed; what matches is emitted, with the description's own text for the
instruction, and run against the program at two sizes; the table has the share of same pairs that match

Ctrl-C ends all children at once; what was found until then is said, saved and written as at the end of a campaign"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--count", type=int, default=100, metavar="N", help="how many programs (default: %(default)s)")
    parser.add_argument("--seed", type=natural, default=0, metavar="N",
                        help="number of the first program (default: %(default)s)")
    parser.add_argument("--programs", choices=("affine", "contractions"), default="affine",
                        help="any loops and assignments, or sums of products computed by instructions (default: "
                             "%(default)s)")
    parser.add_argument("--instructions", action="store_true",
                        help="random described instructions against programs that are the same function, or nearly")
    parser.add_argument("--graphs", action="store_true", help="random operator graphs against the interpreter")
    parser.add_argument("--target", choices=("mpi", "opencl", "cuda"),
                        help="random programs on other targets against their originals, bit for bit: over 1 to 4 ranks "
                             "with everything poisoned that a rank does not own, on a device, or as CUDA on the CPU")
    parser.add_argument("--pairs", type=int, default=200, metavar="N",
                        help="how many pairs with --instructions (default: %(default)s)")
    parser.add_argument("--results", metavar="FILE",
                        help="with --instructions, one JSON line per pair; - is standard output")
    parser.add_argument("--time-limit", type=float, default=10.0, metavar="S",
                        help="with --instructions, CPU time of one pair; one that needs more is a fault (default: "
                             "%(default)g)")
    add_json(parser, "every finding")
    parser.add_argument("--save", type=Path, metavar="DIR", default=Path("polysched-fuzz"),
                        help="folder for wrong programs, made smaller, and slow ones (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="processes at a time (default: one per core)")
    parser.add_argument("--limit-seconds", type=float, default=10.0, metavar="S",
                        help="CPU time of one program in one configuration; one that needs more is slow (default: "
                             "%(default)g)")
    parser.add_argument("--data-dependent", type=float, default=0.02, metavar="P",
                        help="probability that a statement has a data-dependent condition (default: %(default)g)")


def run(arguments: argparse.Namespace) -> int:
    """Run the campaign; 0 when nothing is wrong, WrongResultError's exit code otherwise.

    Raises
    ------
    OutputError : a result file cannot be written.
    """
    kinds = [name for name in ("graphs", "instructions", "target") if getattr(arguments, name)]
    if len(kinds) > 1:
        raise UsageError(f"--{kinds[0]} and --{kinds[1]} are two campaigns", hint="leave one of them out")
    refuse_unserved(arguments, OF_CAMPAIGNS)
    if arguments.results == arguments.json == STANDARD:
        raise UsageError("--results and --json cannot both go to the standard output", hint="name a file for one")
    with prepared(arguments.json) as report, prepared(arguments.results) as lines:
        if arguments.instructions:
            return _instructions(arguments, report, lines)
        return _graphs(arguments, report) if arguments.graphs or arguments.target else _programs(arguments, report)


def _graphs(arguments: argparse.Namespace, report: Output | None) -> int:
    """Random operator graphs, or programs on another target; 0 when nothing is wrong, crashes or hangs."""
    from dataclasses import asdict

    from polysched.fuzz.graph_campaign import Drawn, GraphCampaign, GraphRecord, run_graphs, save_faults, summary
    from polysched.fuzz.targets.programs import target_program
    if arguments.count < 1 or arguments.jobs < 1:
        raise UsageError("--count and --jobs must be at least 1", hint="polysched fuzz --graphs --count 100 --jobs 2")
    drawn: Drawn = arguments.target or "graphs"
    what = "programs" if arguments.target else "graphs"
    said = sys.stderr if arguments.json == STANDARD else sys.stdout
    with progress(quiet=bool(arguments.quiet)) as shown:
        done = itertools.count(1)

        def tell(record: GraphRecord) -> None:
            if record.is_fault:
                shown.hide()
                print(f"{record.verdict.upper()}: {what[:-1]} {record.seed} {record.reason}", flush=True, file=said)
            shown.count(next(done), arguments.count, what)

        shown.step(f"the first {what}")
        options = GraphCampaign(count=arguments.count, seed=arguments.seed, jobs=arguments.jobs, drawn=drawn)
        records, stop = _heard(lambda hear: run_graphs(options, on_record=hear), tell)
    if report is not None:
        report.write_json([asdict(record) for record in records])
    as_file = ("program_{}.c", lambda seed: target_program(seed).text) if arguments.target else ()
    for path in save_faults(records, arguments.save, *as_file):
        print(f"saved {path}", file=said)
    print(summary(records, what), file=said)
    _go_on(stop, f"{len(records)} of {arguments.count} {what}", said)
    return WrongResultError.exit_code if any(r.is_fault for r in records) else 0


def _programs(arguments: argparse.Namespace, report: Output | None) -> int:
    """Random programs; 0 when nothing is wrong."""
    from polysched.fuzz.campaign import CampaignOptions, as_json, run_campaign, save_findings, slow_summary, summary
    if arguments.count < 1 or arguments.jobs < 1:
        raise UsageError("--count and --jobs must be at least 1", hint="polysched fuzz --count 100 --jobs 2")
    if not 0 < arguments.limit_seconds <= MOST_SECONDS or not 0 <= arguments.data_dependent <= 1:
        raise UsageError(f"--limit-seconds has to be more than 0 and at most {MOST_SECONDS}, and --data-dependent a "
                         "probability",
                         hint="polysched fuzz --limit-seconds 10 --data-dependent 0.02")
    options = CampaignOptions(count=arguments.count, seed=arguments.seed, jobs=arguments.jobs,
                              limit_seconds=arguments.limit_seconds, data_dependent=arguments.data_dependent,
                              programs=arguments.programs)
    with progress(quiet=bool(arguments.quiet)) as shown:
        done = itertools.count(1)

        def tell(result: ProgramResult) -> None:
            if result.findings:
                shown.hide()
                _tell(result, to_errors=arguments.json == STANDARD)
            shown.count(next(done), options.count, "programs")

        shown.step("the first programs")
        results, stop = _heard(lambda hear: run_campaign(options, on_result=hear), tell)
    if report is not None:
        report.write(as_json(results, options))
    said = sys.stderr if arguments.json == STANDARD else sys.stdout
    as_they_are = options if stop is None else replace(options, shrink_seconds=0.0)
    for path in save_findings(results, as_they_are, arguments.save):
        print(f"saved {path}", file=said)
    print(slow_summary(results, options), file=said)
    print(summary(results), file=said)
    _go_on(stop, f"{len(results)} of {options.count} programs", said)
    return WrongResultError.exit_code if any(r.wrong for r in results) else 0


def _instructions(arguments: argparse.Namespace, report: Output | None, lines: Output | None) -> int:
    """Pairs of descriptions and programs; 0 when nothing is wrong, crashes or hangs."""
    from polysched.fuzz.matches.campaign import MatchCampaign, run_pairs, save_faults
    from polysched.fuzz.matches.records import PairRecord, as_lines, last_line, summary_table
    if arguments.pairs < 1 or arguments.jobs < 1 or not 0 < arguments.time_limit <= MOST_SECONDS:
        raise UsageError("--pairs and --jobs must be at least 1, and --time-limit more than 0 and at most "
                         f"{MOST_SECONDS}",
                         hint="polysched fuzz --instructions --pairs 200 --jobs 2")
    options = MatchCampaign(pairs=arguments.pairs, seed=arguments.seed, jobs=arguments.jobs,
                            limit_seconds=arguments.time_limit)
    said = sys.stderr if STANDARD in (arguments.json, arguments.results) else sys.stdout
    with progress(quiet=bool(arguments.quiet)) as shown:
        done = itertools.count(1)

        def tell(record: PairRecord) -> None:
            if record.is_fault:
                shown.hide()
                named = f"pair {record.seed} ({record.kind}, {record.relation})"
                print(f"{record.verdict.upper()}: {named} {record.reason}", flush=True, file=said)
            shown.count(next(done), options.pairs, "pairs")

        shown.step("the first pairs")
        records, stop = _heard(lambda hear: run_pairs(options, on_record=hear), tell)
    if lines is not None:
        lines.write(as_lines(records))
    if report is not None:
        report.write_json([record.to_json() for record in records])
    as_they_are = options if stop is None else replace(options, shrink_seconds=0.0)
    for path in save_faults(records, as_they_are, arguments.save):
        print(f"saved {path}", file=said)
    print(summary_table(records), file=said)
    print(last_line(records), file=said)
    _go_on(stop, f"{len(records)} of {options.pairs} pairs", said)
    return WrongResultError.exit_code if any(r.is_fault for r in records) else 0


def _heard(run: Callable[[Callable[[Result], None]], list[Result]], tell: Callable[[Result], None]) -> tuple[
        list[Result], BaseException | None]:
    """What a campaign found, each told on the way, and what stopped it."""
    found: list[Result] = []

    def hear(result: Result) -> None:
        found.append(result)
        tell(result)

    try:
        return run(hear), None
    except (KeyboardInterrupt, SystemExit) as stop:
        return found, stop


def _go_on(stop: BaseException | None, checked: str, said: TextIO) -> None:
    """End as a stop asks, behind a line that says how far the campaign came."""
    if stop is not None:
        print(f"stopped: {checked} were checked", flush=True, file=said)
        raise stop


def _tell(result: ProgramResult, *, to_errors: bool) -> None:
    for finding in result.findings:
        kind = f"WRONG {finding.kind}" if finding.is_wrong else finding.kind
        print(f"{kind}: {finding.subject} {finding.configuration} {finding.detail}", flush=True,
              file=sys.stderr if to_errors else sys.stdout)
