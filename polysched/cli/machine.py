"""`polysched machine`: what this machine is, and what it can do at most."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

from polysched.cli.conventions import STANDARD, add_cc, add_json
from polysched.cli.shown.output import prepared
from polysched.cli.shown.progress import progress
from polysched.cli.shown.unserved import OF_MACHINES, refuse_unserved
from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.measure.timing.machine import Machine
    from polysched.measure.timing.peak import Peaks
    from polysched.target import Compiler
    from polysched.target.calibrated import Calibrated

NAME = "machine"
HELP = "Describe this machine and measure its peak: operations by element type, bandwidth by cache level."
EPILOG = """\
examples:
  polysched machine
  polysched machine --again --json machine.json
  polysched c2c gemm.c --target machine.json    code for that machine, on another one
  polysched machine --calibrate costs.json
  polysched c2c gemm.c --machine costs.json     with the costs that were measured

the figures are measured once per machine and compiler and kept in the user's cache folder; results quote
percentages of them. --calibrate measures what the models assume instead: the clock, the start of a team of threads, a
barrier, the start of a row, multiply-adds, an allocation, a line out of each cache, how many cores saturate memory.
While other programs use the cores both are refused (exit code 3): the figures would be wrong"""

GIGA = 1e9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--again", action="store_true", help="measure even if there are figures already")
    parser.add_argument("--busy", action="store_true",
                        help="measure even if other programs use the cores; the figures are not kept, and "
                             "--calibrate leaves out what takes all cores")
    parser.add_argument("--targets", action="store_true",
                        help="list the names that --target knows, and measure nothing")
    parser.add_argument("--calibrate", metavar="FILE",
                        help="measure the costs that the models assume, and write them for --machine; - is standard "
                             "output")
    add_json(parser, "everything, and the target for --target,")
    add_cc(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print description and peaks."""
    from polysched.measure.timing.machine import describe_conditions, describe_machine
    from polysched.measure.timing.peak import peaks
    from polysched.target import find_compiler
    refuse_unserved(arguments, OF_MACHINES)
    if arguments.targets:
        return _list_targets(arguments)
    compiler = find_compiler(arguments.cc)
    if arguments.calibrate is not None:
        return _calibrate(arguments, compiler)
    machine, conditions = describe_machine(), describe_conditions()
    with prepared(arguments.json) as report:
        with progress(quiet=bool(arguments.quiet)) as shown:
            found = peaks(compiler, again=arguments.again or arguments.busy, even_if_busy=arguments.busy,
                          on_report=shown.report)
        if report is not None:
            report.write_json({
                "machine": dataclasses.asdict(machine), "conditions": dataclasses.asdict(conditions),
                "peaks": dataclasses.asdict(found), "target": _target(found)})
    if arguments.json == STANDARD:
        return 0
    _print(machine, found)
    if arguments.busy:
        print("measured although other programs may use the cores: the figures are not kept")
    return 0


def _calibrate(arguments: argparse.Namespace, compiler: Compiler) -> int:
    """Measure costs and write them as a whole; an interrupt leaves the file as it was."""
    from polysched.measure.timing.calibration import calibrate
    if arguments.json is not None:
        raise UsageError("--calibrate writes JSON already", hint="name its file, or - for standard output")
    with prepared(arguments.calibrate) as output, progress(quiet=bool(arguments.quiet)) as shown:
        found = calibrate(compiler, even_if_busy=arguments.busy, on_report=shown.report)
        if output is not None:
            output.write_json(found.as_json())
    if arguments.calibrate != STANDARD:
        _print_costs(found)
    return 0


def _print_costs(found: Calibrated) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from polysched.cli.shown.tables import console
    table = Table(box=SIMPLE_HEAD)
    for heading in ("cost", "measured", "least", "most", "shipped", "unit"):
        table.add_column(heading, justify="left" if heading in ("cost", "unit") else "right")
    for f in found.figures:
        table.add_row(f.name, *(f"{value:.3g}" for value in (f.value, f.least, f.most, f.shipped)), f.unit)
    console().print(table)
    if found.disturbed:
        print("measured although other programs may use the cores: the file says so, and has no costs of several cores")


def _list_targets(arguments: argparse.Namespace) -> int:
    """A line per target that has a name, or their JSON."""
    from polysched.target import TARGETS
    from polysched.target.targets import target_to_json
    targets = {name: make() for name, make in TARGETS.items()}
    with prepared(arguments.json) as report:
        if report is not None:
            report.write_json([{"name": name, "target": target_to_json(target)} for name, target in targets.items()])
    for name, target in targets.items() if arguments.json != STANDARD else ():
        print(f"{name:10}{target.name}: {target.architecture}, {target.cores} cores, "
              f"vectors of {target.vector_bits} bits")
    return 0


def _target(found: Peaks) -> dict[str, Any]:
    """This machine as the models see it, with what was measured, for `--target` elsewhere."""
    from polysched.target import host
    from polysched.target.targets import target_to_json
    return target_to_json(dataclasses.replace(
        host(), peak_flop_per_second=dict(found.one_core), bandwidth_bytes_per_second=dict(found.bandwidth)))


def _print(machine: Machine, found: Peaks) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from polysched.cli.shown.tables import console
    print(f"{machine.cpu}, {machine.cores} cores, {machine.memory_bytes / 2**30:.1f} GiB, {machine.system}")
    print(f"extensions: {', '.join(machine.isa) or 'none'}")
    print("caches: " + ", ".join(f"{name} {size // 1024} KiB" for name, size in machine.caches.items()))
    table = Table(box=SIMPLE_HEAD)
    for heading in ("", "one core", f"{found.threads} cores", "unit"):
        table.add_column(heading, justify="left" if heading in ("", "unit") else "right")
    for name, rate in found.one_core.items():
        unit = "GOP/s" if name == "int8" else "GFLOP/s"
        table.add_row(name, f"{rate / GIGA:.0f}", f"{found.all_cores[name] / GIGA:.0f}", unit)
    for level, rate in sorted(found.bandwidth.items(), key=lambda item: item[0] or 99):
        together = f"{found.memory_all_cores / GIGA:.0f}" if level == 0 else ""
        table.add_row(f"L{level}" if level else "memory", f"{rate / GIGA:.0f}", together, "GB/s read")
    console().print(table)
