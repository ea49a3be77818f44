"""Run emitted loops for the order of their instances alone: each reports itself and computes nothing.

No array is needed, so this works for any region whose sizes can be made small.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from polysched.emit_c import EmitOptions, Scan, emit
from polysched.errors import RunFailedError, UsageError
from polysched.measure.processes.building import compile_shared
from polysched.measure.processes.isolation import End, Limits, run_isolated
from polysched.measure.programs.execution_order import (
    BEGIN,
    END,
    ITERATION,
    check_expected,
    execution_of,
    expected_order,
)
from polysched.measure.programs.trace_run import TRACE
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop
from polysched.target import Compiler, find_compiler
from polysched.tiling.tiled_schedule import TiledSchedule

CHILD_MODULE = "polysched.measure.programs.trace_run"
FLAGS = ("-std=gnu11", "-O1")
SMALL = (7, 6, 5, 4, 3, 2, 1)
MOST_INSTANCES = 2000
MOST_GUESSES = 20_000

RECORDER = f"""\
static long *{TRACE}_buffer;
static long {TRACE}_size, {TRACE}_used;
void {TRACE}_start(long *buffer, long size) {{
  {TRACE}_buffer = buffer; {TRACE}_size = size; {TRACE}_used = 0;
}}
long {TRACE}_stop(void) {{ return {TRACE}_used; }}
static void {TRACE}_record(long code, long count, const long *values) {{
  if ({TRACE}_used + count + 2 <= {TRACE}_size) {{
    {TRACE}_buffer[{TRACE}_used] = code;
    {TRACE}_buffer[{TRACE}_used + 1] = count;
    for (long v = 0; v < count; v++) {TRACE}_buffer[{TRACE}_used + 2 + v] = values[v];
  }}
  {TRACE}_used += count + 2;
}}
#define {TRACE}_report(code, ...) {TRACE}_record(code, sizeof((long[]){{0, __VA_ARGS__}}) / sizeof(long) - 1, \\
                                                 (long[]){{0, __VA_ARGS__}} + 1)
#define {TRACE}_begin(kind) {TRACE}_report({BEGIN}, kind)
#define {TRACE}_iteration(kind) {TRACE}_report({ITERATION}, kind)
#define {TRACE}_end(kind) {TRACE}_report({END}, kind)
"""


def recorder(statements: int) -> str:
    """The C text in front of functions that report the instances of this many statements."""
    return RECORDER + "".join(f"#define {TRACE}_{s}(...) {TRACE}_report({s}, __VA_ARGS__)\n" for s in range(statements))


def traced_function(tiled: TiledSchedule, *, name: str, scanned: Scan | None = None) -> str:
    """A C function of the parameters alone that runs the emitted loops and reports each instance.

    Parameters
    ----------
    scanned : what `scan` gave for this schedule; generated when there is none.
    """
    scop = tiled.schedule.scop
    bare = replace(scop, parameters=tuple(replace(p, c_name=p.name) for p in scop.parameters), source=None, arrays=(),
                   statements=tuple(replace(s, body=(), accesses=()) for s in scop.statements))
    dependences = replace(tiled.schedule.dependences, scop=bare)
    loops = emit(replace(tiled, schedule=replace(tiled.schedule, dependences=dependences)),
                 options=EmitOptions(trace=TRACE, vector_bits=0), scanned=scanned)
    parameters = ", ".join(f"{p.dtype.c_name} {p.name}" for p in bare.parameters) or "void"
    return f"void {name}({parameters})\n{{\n{loops.text}}}\n"


def small_sizes(scop: Scop) -> dict[str, int]:
    """Small values for all parameters, inside the context, with many instances but not too many.

    Raises
    ------
    UsageError : no small sizes have an acceptable number of instances.
    """
    names = [p.name for p in scop.parameters]
    guesses = itertools.islice(itertools.product(SMALL, repeat=len(names)), MOST_GUESSES)
    for values in sorted(guesses, key=lambda guess: (max(guess, default=0) - min(guess, default=0), -sum(guess))):
        sizes = dict(zip(names, values, strict=True))
        if not fix_parameters(scop.context, sizes).is_empty() and 0 < instance_count(scop, sizes) <= MOST_INSTANCES:
            return sizes
    raise UsageError(f"the order of {scop.name} cannot be checked: no small sizes have 1 to {MOST_INSTANCES} instances",
                     hint="check a version of it with smaller constants")


def instance_count(scop: Scop, sizes: Mapping[str, int]) -> int:
    """How many statement instances run at these sizes."""
    return sum(int(fix_parameters(s.domain, sizes).count_val().to_python()) for s in scop.statements)


def verify_order(tiled: TiledSchedule, *, sizes: Mapping[str, int] | None = None,
                 compiler: Compiler | None = None) -> dict[str, int]:
    """Compile and run the emitted loops and check the order of their instances; the sizes it was done at.

    Raises
    ------
    IllegalScheduleError : some instance is missing, or two dependent ones run in the wrong order.
    """
    scop = tiled.schedule.scop
    chosen = dict(sizes) if sizes is not None else small_sizes(scop)
    text = (f"#pragma GCC visibility push(default)\n{recorder(len(scop.statements))}"
            f"{traced_function(tiled, name='traced')}#pragma GCC visibility pop\n")
    with TemporaryDirectory(prefix="polysched-order-") as temporary:
        folder = Path(temporary)
        binary = compile_shared(text, name="order", folder=folder, compiler=compiler or find_compiler(), flags=FLAGS,
                                openmp=False, what="the instrumented code")
        values = [chosen[p.name] for p in scop.parameters]
        request = {"library": str(binary.path), "values": values, "records": str(folder / "records.npy")}
        end = run_isolated(CHILD_MODULE, request, folder=folder,
                           limits=Limits(seconds=60))
        if end.end is not End.FINISHED:
            raise RunFailedError(f"the instrumented code of {scop.name} {end.describe()}")
        records = np.load(folder / "records.npy").tolist()
    expected = expected_order(scop, chosen, relaxed=tiled.schedule.dependences.relaxed)
    check_expected(expected, execution_of(records, [s.name for s in scop.statements]))
    return chosen
