"""`--target mpi` of `c2c` and `run`: regions over ranks with memories of their own."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from polysched.cli.conventions import RANKS, WORK_ITEMS, OncePerName, chosen_device
from polysched.cli.options import pipeline_options
from polysched.cli.shown.output import STANDARD_OUTPUT, prepared
from polysched.cli.shown.progress import progress
from polysched.cli.shown.unserved import given, spelling
from polysched.cli.values import positive
from polysched.errors import UsageError, WrongResultError

if TYPE_CHECKING:
    from polysched.distribute import Distributed, Partition
    from polysched.measure.ranks import RanksRun
    from polysched.pipeline.whole_files.distributed import DistributedFile

RUN_ON_RANKS = "--target mpi"
PARTITIONS = "block, cyclic, or block-cyclic:N"
OWN = ("distribute", "partition", "owner", "ranks", "time_tile", "overlap")
"""Options that other targets have no use for."""


def add_distribution(parser: argparse.ArgumentParser, *, several: bool = False, when: str = RUN_ON_RANKS) -> None:
    """The options of programs over ranks.

    Parameters
    ----------
    several : `--ranks` takes several numbers.
    when : the option that they belong to.
    """
    group = parser.add_argument_group(f"ranks ({when})")
    group.add_argument("--distribute", metavar="LOOP", help="the loop whose iterations are dealt out, by its variable")
    group.add_argument("--partition", type=_partition, metavar="KIND",
                       help=f"how they are dealt out: {PARTITIONS} (default: block)")
    group.add_argument("--owner", action=OncePerName, default=[], metavar="STATEMENT=LOOP", type=_owner,
                       help="where a statement runs that does not have the loop; may be repeated")
    group.add_argument("--time-tile", type=positive, metavar="STEPS",
                       help="steps between two exchanges, with wide halos that neighbours compute again; needs block "
                            "(default: 1)" + ("; with --target opencl or cuda: iterations of a loop over time that "
                                              "one launch runs, in diamonds (default: a launch each)"
                                              if when == RUN_ON_RANKS else ""))
    group.add_argument("--overlap", action="store_true",
                       help="send what others read first, and run the rest of the step while messages are on their way")
    if several:
        group.add_argument("--ranks", type=_numbers, metavar="N,N",
                           help="numbers of ranks, one run each (default: 1,2)")
    else:
        group.add_argument("--ranks", type=positive, metavar="N",
                           help="the number of ranks; block needs none and is right for any")


def is_distributed(arguments: argparse.Namespace) -> bool:
    """Whether `--target mpi` is asked for.

    Raises
    ------
    UsageError : options of one without the other.
    """
    mpi = str(arguments.target) == RANKS
    if mpi and arguments.distribute is None:
        raise UsageError("--target mpi needs the loop to distribute", hint="--distribute LOOP, by its variable")
    own = tuple(name for name in OWN if name != "time_tile") if chosen_device(arguments) in WORK_ITEMS else OWN
    for name in () if mpi else own:
        if given(arguments, name):
            targets = f"--target {' or '.join((RANKS, *WORK_ITEMS) if name == 'time_tile' else (RANKS,))}"
            raise UsageError(f"{spelling(arguments, name)} belongs to {targets}", hint="leave it out")
    return mpi


def write_distributed(arguments: argparse.Namespace) -> int:
    """`c2c --target mpi`."""
    with (prepared(arguments.output) as output, prepared(arguments.json) as report,
          progress(quiet=bool(arguments.quiet)) as shown):
        made = _made(arguments, arguments.ranks)
        shown.stop()
        if output is not None:
            output.write(made.text)
        if report is not None:
            report.write_json(_described(made))
    return 0


def run_distributed(arguments: argparse.Namespace) -> int:
    """`run --target mpi`: every rank's arrays have to be the sequential program's, bit for bit."""
    from polysched.cli.shown.measuring import measure_options
    from polysched.measure.paired import Subject
    from polysched.measure.ranks import run_on_ranks
    found: list[RanksRun] = []
    replicas: list[float] = []
    with (prepared(arguments.output) as output, prepared(arguments.json) as report,
          progress(quiet=bool(arguments.quiet)) as shown):
        options = measure_options(_changed(arguments, threads=arguments.threads or 1))
        for ranks in arguments.ranks or (1, 2):
            shown.step(f"{ranks} rank{'s' * (ranks != 1)}")
            made = _made(arguments, ranks)
            own = _of_function(made, arguments.function)
            subject = Subject(scops=tuple(r.scop for r in own), transformed_text=made.text)
            found.append(run_on_ranks(subject, ranks, dict(arguments.size), options=options))
            replicas.append(_replicas(own, ranks, found[-1].sizes))
        shown.stop()
        if output is not None:
            output.write(made.text)
        if report is not None:
            report.write_json(_described(made) | {"runs": [
                run.to_json() | {"replicas": share} for run, share in zip(found, replicas, strict=True)]})
        _show(found, replicas, to_errors=STANDARD_OUTPUT in (arguments.output, arguments.json))
    if wrong := next((run for run in found if run.wrong), None):
        raise WrongResultError(f"on {wrong.ranks} ranks: {wrong.wrong[0]}", where=arguments.source)
    return 0


def _of_function(made: DistributedFile, name: str | None) -> list[Distributed]:
    functions = {r.scop.source.function for r in made.regions if r.scop.source is not None}
    if name is None and len(functions) > 1:
        raise UsageError(f"several functions have distributed regions: {', '.join(sorted(map(str, functions)))}",
                         hint="choose one with --function")
    own = [r for r in made.regions if r.scop.source is not None and name in (None, r.scop.source.function)]
    if not own:
        raise UsageError(f"no function {name} has a distributed region", hint=", ".join(sorted(map(str, functions))))
    return own


def _made(arguments: argparse.Namespace, ranks: int | None) -> DistributedFile:
    from polysched.pipeline.whole_files.distributed import distribute_file
    from polysched.search.lookup import searching
    options = pipeline_options(_changed(arguments, target="host"))
    with searching(options):
        return distribute_file(arguments.source, arguments.distribute, partition=chosen_partition(arguments, ranks),
                               owners=dict(arguments.owner), time_tile=arguments.time_tile or 1,
                               overlap=arguments.overlap, options=options)


def _changed(arguments: argparse.Namespace, **values: object) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(arguments), **values})


def chosen_partition(arguments: argparse.Namespace, ranks: int | None) -> Partition:
    """What `--partition` says; blocks by default."""
    from polysched.distribute import Partition
    if arguments.partition is None:
        return Partition()
    kind, block = arguments.partition
    return Partition(kind=kind, block=block, ranks=None if kind == "block" else ranks)


def _described(made: DistributedFile) -> dict[str, object]:
    return {"source": str(made.path), "regions": [str(region) for region in made.regions], "whole": list(made.whole)}


def _replicas(regions: list[Distributed], ranks: int, sizes: Mapping[str, int]) -> float:
    """Instances that ranks run besides their own, for each of the program."""
    from polysched.distribute import count_instances
    counts = [count_instances(r, ranks, {p.name: sizes[p.spelling] for p in r.scop.parameters}) for r in regions
              if all(p.spelling in sizes for p in r.scop.parameters)]
    program = sum(c.program for c in counts)
    return sum(c.replicas for c in counts) / program if program else 0.0


def _show(found: list[RanksRun], replicas: list[float], *, to_errors: bool) -> None:
    from rich.table import Table

    from polysched.cli.shown.tables import console
    output = console(stderr=to_errors)
    table = Table("ranks", "results", "CPU s in all", "of sequential", "bytes between steps", "messages",
                  "bytes gathered", "replicas")
    for run, own in zip(found, replicas, strict=True):
        share = run.cpu_seconds / run.sequential_cpu_seconds if run.sequential_cpu_seconds else float("nan")
        table.add_row(str(run.ranks), "wrong" if run.wrong else "equal, bit for bit", f"{run.cpu_seconds:.4g}",
                      f"{share:.3g}", f"{run.step_bytes:.0f}", f"{run.step_messages:.0f}", f"{run.gathered_bytes:.0f}",
                      f"{own:.2%}")
    output.print(table)
    sizes = ", ".join(f"{name}={value}" for name, value in found[0].sizes.items())
    output.print(f"{sizes}; CPU time includes waiting for messages", markup=False)


def _partition(text: str) -> tuple[str, int]:
    kind, colon, number = text.partition(":")
    if kind == "block-cyclic" and number.isdigit() and int(number) > 0:
        return kind, int(number)
    if kind in ("block", "cyclic") and not colon:
        return kind, 1
    raise argparse.ArgumentTypeError(f"{text!r} is not one of {PARTITIONS}")


def _owner(text: str) -> tuple[str, str]:
    statement, equals, loop = text.partition("=")
    if not statement or not equals or not loop:
        raise argparse.ArgumentTypeError(f"{text!r} is not STATEMENT=LOOP")
    return statement, loop


def _numbers(text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers of ranks, such as 1,2,4")
    return found
