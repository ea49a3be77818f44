"""`calibrate`: the costs of this machine that a small program can measure, in an isolated process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2
from statistics import median
from typing import Any

from polysched.errors import RunFailedError
from polysched.measure.processes.building import DEFAULT_FLAGS, compile_shared
from polysched.measure.processes.isolation import End, Limits, run_isolated
from polysched.measure.processes.threads import thread_environment
from polysched.measure.processes.workspace import workspace
from polysched.measure.timing.calibration_source import calibration_program
from polysched.measure.timing.machine import available_cores
from polysched.measure.timing.peak import refuse_busy, working_sets
from polysched.target import Compiler, Target, host
from polysched.target.calibrated import CLOCK, Calibrated, Figure
from polysched.target.costs import Costs

CHILD_MODULE = "polysched.measure.timing.calibration_run"
LIMIT_SECONDS = 120
LEAST_VECTOR_BITS = 128   # of the vectors in the program


def calibrate(compiler: Compiler, *, even_if_busy: bool = False,
              on_report: Callable[[Mapping[str, Any]], None] | None = None) -> Calibrated:
    """Measure this machine; takes some seconds and wants it idle.

    Parameters
    ----------
    even_if_busy : measure although other programs use the cores; the value says so.  What takes all cores is left out
        then: a barrier would wait for the other programs.

    Raises
    ------
    CompileError, RunFailedError : the program does not compile or does not end well, or the cores are in use.
    """
    if not even_if_busy:
        refuse_busy()
    target, threads = host(), 1 if even_if_busy else available_cores()
    with workspace() as folder:
        binary = compile_shared(calibration_program(target.vector_bits), name="calibration", folder=folder,
                                compiler=compiler,
                                flags=(*DEFAULT_FLAGS, "-ffp-contract=fast"), what="the calibration program")
        request = {"library": str(binary.path), "threads": threads, "working_sets": working_sets(target)}
        ended = run_isolated(CHILD_MODULE, request, folder=folder, limits=Limits(seconds=LIMIT_SECONDS),
                             environment=thread_environment(threads, pin=False), on_report=on_report)
    if ended.end is not End.FINISHED:
        raise RunFailedError(f"the calibration program {ended.describe()}", witness=ended.error_output or None)
    if not even_if_busy:
        refuse_busy()
    return calibrated(ended.reports, target, threads, compiler=compiler.version, disturbed=even_if_busy)


def calibrated(reports: Sequence[Mapping[str, Any]], target: Target, threads: int, *, compiler: str,
               disturbed: bool) -> Calibrated:
    """The value of what the child measured, in the units of `Costs`.

    Cycles are those of the measured clock: systems name that of the idle core, or a nominal one.
    """
    seconds = {str(r["measured"]): list(r["seconds"]) for r in reports if "measured" in r and "level" not in r}
    shipped = target.costs
    clock = _figure(CLOCK, [1 / s for s in seconds["clock"]], "Hz", target.frequency_hz)
    figures = [clock, *(_team_figures(seconds, threads, shipped) if "team" in seconds else ())]
    rows = [max(0.0, s) * clock.value for s in seconds["row"]]
    figures += [_figure("row_cycles", rows, "cycles", shipped.row_cycles),
                _figure("allocation_seconds", seconds["allocation"], "s", shipped.allocation_seconds)]
    if target.vector_bits >= LEAST_VECTOR_BITS:
        slower = [s * clock.value * target.ports.fma_pipes for s in seconds["vector"]]
        figures.append(_figure("vector_slowdown", slower, "1", shipped.vector_slowdown))
    levels = {int(r["level"]): list(r["seconds"]) for r in reports if "level" in r}
    if "shared byte" in seconds:
        figures.append(_figure("memory_cores", [median(levels[0]) / s for s in seconds["shared byte"]], "1",
                               shipped.memory_cores))
    figures += [_line_figure(level, per_byte, target) for level, per_byte in levels.items()]
    return Calibrated(machine=target.name, compiler=compiler, disturbed=disturbed, figures=tuple(figures),
                      bandwidth=tuple((level, 1 / median(per_byte)) for level, per_byte in levels.items()))


def _team_figures(seconds: Mapping[str, Sequence[float]], threads: int, shipped: Costs) -> list[Figure]:
    """A team's start, of whose time two barriers are taken off, and a barrier per doubling of the threads."""
    around = 2 * median(seconds["barrier"])
    return [_figure("team_start_seconds", [max(0.0, s - around) for s in seconds["team"]], "s",
                    shipped.team_start_seconds),
            _figure("barrier_seconds", [s / log2(threads) for s in seconds["barrier"]], "s", shipped.barrier_seconds)]


def _line_figure(level: int, seconds_per_byte: Sequence[float], target: Target) -> Figure:
    return _figure(f"line_{f'L{level}' if level else 'memory'}", [s * target.line_bytes for s in seconds_per_byte], "s",
                   target.line_bytes / target.bandwidth(level))


def _figure(name: str, values: Sequence[float], unit: str, shipped: float) -> Figure:
    return Figure(name=name, value=median(values), least=min(values), most=max(values), unit=unit, shipped=shipped)
