"""`polysched doctor`: what of the program works on this machine, and what would make more of it work."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict

from polysched.cli.conventions import STANDARD, add_cc, add_json
from polysched.cli.shown.output import prepared
from polysched.records import dataclass

NAME = "doctor"
HELP = "Check compiler, OpenMP, instruction set, cross compilers and optional packages, and say what each enables."
EPILOG = """\
examples:
  polysched doctor
  polysched doctor --json doctor.json

exit code 2 when the main job cannot run"""

CROSS_TOOLS = (
    ("aarch64-linux-gnu-gcc", "tests of ARM instructions"), ("riscv64-linux-gnu-gcc", "tests of RISC-V vectors"),
    ("qemu-aarch64", "running ARM code here"), ("qemu-riscv64", "running RISC-V code here"),
    ("polycc", "comparing with Pluto"), ("ppcg", "comparing with PPCG"))
PACKAGES = (
    ("ziglang", "compiling without a system compiler: polysched[compiler]"),
    ("distributed", "measuring on several machines: polysched[cluster]"),
    ("matplotlib", "plots of experiments: polysched[plot]"), ("jinja2", "polysched report: polysched[report]"),
    ("IPython", "notebooks: polysched[notebook]"), ("ipywidgets", "the explorer in notebooks: polysched[notebook]"),
    ("pygments", "C in colour: polysched[notebook]"), ("torch", "experiments beside PyTorch: polysched[peers]"))
OPENMP_TEST = """\
__attribute__((visibility("default"))) int f(void) {
  int n = 0;
#pragma omp parallel num_threads(2)
#pragma omp atomic
  n++;
  return n;
}
"""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One line of the report.

    Parameters
    ----------
    name : what was looked for.
    works : whether it is there and works.
    detail : what was found, or what is missing.
    needed : the main job does not run without it.
    """

    name: str
    works: bool
    detail: str
    needed: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_json(parser, "every check")
    add_cc(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print every check; 2 when a needed one fails."""
    from rich.markup import escape

    from polysched.cli.shown.tables import console
    with prepared(arguments.json) as report:
        checks = [*_compiler_checks(arguments.cc), *_machine_checks(), _opencl_check(arguments.cc), *_tool_checks()]
        if report is not None:
            from polysched.version import __version__
            report.write_json({"polysched": __version__, "checks": [asdict(check) for check in checks]})
    output = console()
    for check in checks if arguments.json != STANDARD else ():
        sign = "[green]ok[/]     " if check.works else "[red]missing[/]" if check.needed else "[yellow]absent[/] "
        output.print(f"{sign}  {check.name:<26} {escape(check.detail)}")
    return 2 if any(check.needed and not check.works for check in checks) else 0


def _compiler_checks(cc: str | None) -> list[Check]:
    """The compiler, OpenMP with it, and this machine's own instructions."""
    from polysched.errors import NoCompilerError
    from polysched.target import find_compiler
    try:
        compiler = find_compiler(cc)
    except NoCompilerError as refusal:
        return [Check(name="C compiler", works=False, detail=refusal.problem, needed=True)]
    return [Check(name="C compiler", works=True, detail=f"{compiler}: {compiler.version}", needed=True),
            _openmp_check(cc), _native_check(cc)]


def _openmp_check(cc: str | None) -> Check:
    """Two threads of a compiled program really run."""
    import ctypes

    from polysched.errors import CompileError
    from polysched.measure.processes.building import compile_shared
    from polysched.measure.processes.workspace import workspace
    from polysched.target import find_compiler
    try:
        with workspace() as folder:
            binary = compile_shared(OPENMP_TEST, name="openmp", folder=folder, compiler=find_compiler(cc),
                                    flags=("-O1",))
            threads = int(ctypes.CDLL(str(binary.path)).f())
    except (CompileError, OSError) as error:
        return Check(name="OpenMP", works=False, detail=str(error).splitlines()[0], needed=True)
    return Check(name="OpenMP", works=threads == 2, detail=f"{threads} threads ran", needed=True)


def _native_check(cc: str | None) -> Check:
    """Whether the compiler knows the vectors of this machine."""
    from polysched.measure.timing.machine import describe_machine
    from polysched.target import find_compiler
    done = find_compiler(cc).run(["-march=native", "-dM", "-E", "-x", "c", os.devnull])
    macros = {line.split()[1].strip("_").replace("_", "") for line in done.stdout.splitlines() if "#define" in line}
    unknown = [name for name in describe_machine().isa if name.upper().replace("_", "") not in macros]
    detail = f"the compiler does not use {', '.join(unknown)}" if unknown else "the compiler uses all extensions"
    return Check(name="-march=native", works=done.returncode == 0 and not unknown, detail=detail)


def _machine_checks() -> list[Check]:
    """The machine's extensions, its state, and the performance counters."""
    from polysched.measure.processes.perf_counters import PerfCounters
    from polysched.measure.timing.machine import busy_cores, describe_conditions, describe_machine
    from polysched.measure.timing.peak import LARGEST_BUSY_SHARE
    machine, conditions, counters = describe_machine(), describe_conditions(), PerfCounters().read()
    busy = busy_cores()
    return [Check(name="vector extensions", works=bool(machine.isa), detail=", ".join(machine.isa) or "none known"),
            Check(name="frequency governor", works=conditions.governor in ("", "performance"),
                  detail=conditions.governor or "the system does not say"),
            Check(name="performance counters", works=bool(counters),
                  detail=", ".join(counters) or "the system lets none be read; results go without"),
            Check(name="idle machine", works=busy <= LARGEST_BUSY_SHARE * machine.cores,
                  detail=f"{busy:.1f} of {machine.cores} cores are in use, load {conditions.load}")]


def _opencl_check(cc: str | None) -> Check:
    """The device that a compiled program finds."""
    from polysched.emit_gpu.interface import compiler_flags
    from polysched.emit_gpu.opencl_runtime import PROBE
    from polysched.errors import NoCompilerError
    from polysched.measure.processes.execution import run_program
    from polysched.measure.processes.workspace import workspace
    from polysched.target import find_compiler
    try:
        compiler = find_compiler(cc)
    except NoCompilerError as refusal:
        return Check(name="OpenCL", works=False, detail=refusal.problem)
    with workspace() as folder:
        (folder / "probe.c").write_text(PROBE)
        flags = compiler_flags("opencl")
        done = compiler.run(["-w", "probe.c", "-o", "probe", *flags], folder=folder)
        if done.returncode:
            return Check(name="OpenCL", works=False,
                         detail="for --target opencl: install OpenCL's headers and a loader, or polysched[opencl]")
        ran = run_program([folder / "probe"], seconds=60)
    origin = "the system" if flags == ("-lOpenCL",) else "wheels"
    detail = f"{ran.output.strip()}, by {origin}" if ran.status == 0 else ran.errors.strip()
    return Check(name="OpenCL", works=ran.status == 0, detail=detail)


def _tool_checks() -> list[Check]:
    """Programs and packages that enable more."""
    checks = [Check(name=tool, works=shutil.which(tool) is not None, detail=f"for {purpose}")
              for tool, purpose in CROSS_TOOLS]
    return checks + [Check(name=name, works=_has(importlib.util.find_spec, name), detail=f"for {purpose}")
                     for name, purpose in PACKAGES]


def _has(find: Callable[[str], object], name: str) -> bool:
    try:
        return find(name) is not None
    except ModuleNotFoundError:
        return False
