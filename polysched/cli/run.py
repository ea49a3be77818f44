"""`polysched run`: transform, verify against the original, and time both."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polysched.cli.conventions import WORK_ITEMS, add_size, chosen_device
from polysched.cli.options import add_source, add_transformation, known_sizes, pipeline_options
from polysched.cli.shown.distribution import add_distribution, is_distributed, run_distributed
from polysched.cli.shown.instructions import show_instructions
from polysched.cli.shown.json_report import file_report
from polysched.cli.shown.measuring import measure_options
from polysched.cli.shown.order import add_verify_order, verify_order_if_asked
from polysched.cli.shown.output import STANDARD_OUTPUT, prepared, refuse_same_file
from polysched.cli.shown.progress import Progress, progress
from polysched.cli.shown.unserved import refuse_unserved
from polysched.cli.values import natural, positive, positive_seconds, share
from polysched.errors import RunFailedError, UsageError, WrongResultError

if TYPE_CHECKING:
    from polysched.measure.measurement import Measurement
    from polysched.pipeline import Optimized, TransformedFile
    from polysched.scop.scop import Scop

NAME = "run"
HELP = "Transform a function's scop, verify the result against the original code, and time both."
EPILOG = """\
examples:
  polysched run gemm.c
  polysched run gemm.c --size n=1024 --threads 2 --tile 32
  polysched run stencil.c --target mpi --distribute i --ranks 1,2,4 --size n=500 T=20
  polysched run kernel.c -I include --function kernel --json result.json --results results.jsonl

The function's arrays are allocated and filled from its parameter list. Sizes that are not given are chosen: the
largest that stay within arrays of constant extent, else some that run for about a second. The results of the
transformed code are compared with those of the original before anything is timed; without that there is no time."""

SLOWER = "slower than the original at these sizes: "
OTHER_CODES = ("--assume NAME=VALUE makes the code for them, --tile N, --tile off, --no-parallel, --scheduler best "
               "give other codes, and --safe keeps the original where it is faster")
OTHER_KERNELS = ("--assume NAME=VALUE makes the kernels for them, --block X,Y, --points X,Y, --no-shared-memory and "
                 "--time-tile STEPS give others, and without --target the loops run on this machine's cores")
STANDS_IN = "this machine's cores compute what {} would: `polysched explain` has the cycles that it would take"
LIMITS = ("--timeout and --memory set the limits; where the original code fails, other sizes (--size) or inputs "
          "(--seed) may suit it")
FEWER_BITS = ("--tensor-cores tf32 cuts operands of float to 10 bits; --tolerance 1e-2 allows differences of a "
              "hundredth of an array's magnitude")
NEVER_COMPARED = ("arguments are filled with random numbers; smaller sizes (--size) keep results finite and well "
                  "conditioned, and conditions have to hold for some numbers between -1000 and 1000")
NOT_LINKED = ("link the library that has the function: --cflags '-O3 -march=native -lNAME', with -LDIR and "
              "-Wl,-rpath,DIR where it lies in no usual folder")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_source(parser)
    add_transformation(parser)
    add_measuring(parser)
    add_verify_order(parser)
    add_distribution(parser, several=True)
    parser.add_argument("--function", metavar="NAME", help="which function, when several contain a scop")
    parser.add_argument("-o", "--output", metavar="OUT.c", help="also write the transformed file; - is standard output")
    parser.add_argument("--results", metavar="FILE.jsonl",
                        help="append the measurement as one line of JSON; - prints it")
    parser.add_argument("--resume", action="store_true",
                        help="do not measure again what the --results file holds already")


def add_measuring(parser: argparse.ArgumentParser) -> None:
    """What decides the measurement."""
    group = parser.add_argument_group("measurement")
    add_size(group, "what is run has it; parameters without one get a value that suits a measurement")
    group.add_argument("--threads", type=positive, metavar="N", help="OpenMP threads (default: all cores)")
    group.add_argument("--pin", action="store_true", help="bind the threads to cores")
    group.add_argument("--cold-cache", action="store_true", help="flush the caches before every call")
    group.add_argument("--pairs", type=positive, default=20, metavar="N",
                       help="timed pairs of original and transformed code (default: %(default)s)")
    group.add_argument("--budget", type=positive_seconds, default=20.0, metavar="SECONDS",
                       help="start no further pair after this time (default: %(default)g; at least 3 pairs run)")
    group.add_argument("--seed", type=natural, default=1, metavar="N", help="of the input values")
    group.add_argument("--tolerance", type=share, metavar="SHARE",
                       help="how far floats may differ from the original's, over the larger of an element and the mean "
                            "magnitude of its array; 0 for equal bits; what --tensor-cores tf32 computes needs about "
                            "1e-2 (default: 1e-9 for double, 1e-4 for float, 2e-2 and 6e-2 for those of 16 bits)")
    group.add_argument("--cflags", metavar="'FLAGS'", help="compiler options (default: -O3 -march=native)")
    group.add_argument("--timeout", type=positive_seconds, default=60.0, metavar="SECONDS",
                       help="longest time without progress (default: %(default)g)")
    group.add_argument("--memory", type=positive, default=None, metavar="MIB",
                       help="most memory of the measured process (default: 3/4 of what is free)")


def run(arguments: argparse.Namespace) -> int:
    """Measure one function; 0 when it was verified."""
    from polysched.pipeline.stage_texts import dump_stages
    from polysched.search.lookup import transform_file
    refuse_unserved(arguments)
    for name in _written(arguments):
        refuse_same_file(arguments.source, name)
    if _written(arguments).count(STANDARD_OUTPUT) > 1:
        raise UsageError("only one of -o, --json and --results can go to the standard output",
                         hint="name a file with -o OUT.c")
    if is_distributed(arguments):
        return run_distributed(arguments)
    with (prepared(arguments.output) as output, prepared(arguments.json) as report,
          progress(quiet=bool(arguments.quiet)) as shown):
        shown.step(f"transforming {arguments.source}")
        transformed = transform_file(arguments.source, pipeline_options(arguments),
                                     checked=partial(check_sizes, arguments) if arguments.size else None)
        known_sizes(arguments.assume, [region.scop for region in transformed.regions], arguments.source,
                    some_left=arguments.autodetect)
        show_instructions(arguments, transformed.regions)
        verify_order_if_asked(arguments, transformed.regions)
        if arguments.dump_stages:
            dump_stages(transformed.regions, arguments.dump_stages)
        checked = effects_lines(transformed, arguments, shown)
        known = known_results(arguments)
        if output is not None and not arguments.safe:
            output.write(transformed.text)
        measurement = measure_function(transformed, arguments, shown, known)
        shown.stop()
        if output is not None and arguments.safe:
            output.write(safer_text(transformed, measurement))
        if report is not None:
            from polysched.measure.results import measurement_to_json
            report.write_json(file_report(transformed, output=arguments.output) |
                              {"measurement": measurement_to_json(measurement)})
        if arguments.results and measurement.experiment not in known:
            keep(measurement, arguments.results)
        _tell(checked, arguments)
        return show(measurement, to_errors=STANDARD_OUTPUT in _written(arguments), safe=arguments.safe,
                    device=chosen_device(arguments), cut="tf32" in arguments.tensor_cores)


def check_sizes(arguments: argparse.Namespace, scops: Sequence[Scop]) -> None:
    """Refuse sizes with which the function cannot run, before it is transformed.

    Raises
    ------
    UsageError : an access would leave its array, or nothing would run.
    """
    from polysched.measure.programs.problem_size import choose_size
    functions = {scop.source.function for scop in scops if scop.source is not None}
    wanted = {arguments.function} if arguments.function else functions
    own = [scop for scop in scops if scop.source is not None and scop.source.function in wanted]
    if own and len(wanted) == 1:   # else no function is measured, which is refused later
        choose_size(own, dict(arguments.size))


def effects_lines(transformed: TransformedFile, arguments: argparse.Namespace, shown: Progress) -> list[str]:
    """What calling functions says of the effects that a file declares for them, or that their bodies say.

    Raises
    ------
    WrongResultError : one has other effects.
    """
    from polysched.scop.body import performed_calls
    source = transformed.regions[0].scop.source
    called = [call for r in transformed.regions for s in r.scop.statements for call in performed_calls(s.body)]
    if source is None or not (called or re.search(r"pragma\s+polysched\s+effects\b", source.text)):
        return []   # a header may declare the effects of what is called
    from polysched.measure.bit_for_bit.effects_check import check_effects
    shown.step("calling functions with known effects")
    options = transformed.regions[0].options
    checked = check_effects(source.path, source.text, include_dirs=options.include_dirs, defines=options.defines,
                            cc=options.cc, flags=measure_options(arguments).flags,
                            called=[call.function for call in called], pure=options.pure)
    for each in checked:
        if each.problem:
            raise WrongResultError(f"{each}", where=source.path,
                                   hint="declare all that the function reads and writes: `reads x[0:n] writes y[0:n]`")
    return [str(each) for each in checked]


def _tell(lines: Sequence[str], arguments: argparse.Namespace) -> None:
    """Print lines where no file goes."""
    for line in lines:
        print(line, file=sys.stderr if STANDARD_OUTPUT in _written(arguments) else sys.stdout)


def _written(arguments: argparse.Namespace) -> tuple[str | None, ...]:
    return arguments.output, arguments.json, arguments.results


def keep(measurement: Measurement, name: str) -> None:
    """Add a measurement to a results file, or print its line."""
    from polysched.measure.results import append, measurement_to_json
    if name == STANDARD_OUTPUT:
        print(json.dumps(measurement_to_json(measurement), allow_nan=False))
    else:
        append(name, measurement)


def is_slower(measurement: Measurement) -> bool:
    """Whether the transformed code lost against the original, or has no time because its results were wrong."""
    return measurement.timing is None or measurement.timing.ratio < 1


def safer_text(transformed: TransformedFile, measurement: Measurement) -> str:
    """The transformed file; the original one where that is faster."""
    source = transformed.regions[0].scop.source
    return source.text if source is not None and is_slower(measurement) else transformed.text


def known_results(arguments: argparse.Namespace) -> dict[str, Measurement]:
    """The verified results that `--resume` need not repeat."""
    from polysched.measure.results import read
    if not arguments.resume:
        return {}
    if arguments.results in (None, STANDARD_OUTPUT):
        raise UsageError("--resume needs a results file", hint="name it with --results")
    if not Path(arguments.results).exists():
        return {}
    return {m.experiment: m for m in read(arguments.results, any_machine=True) if m.verified}


def measure_function(transformed: TransformedFile, arguments: argparse.Namespace, shown: Progress,
                     known: Mapping[str, Measurement]) -> Measurement:
    """Verify and time the function that the arguments name."""
    from polysched.measure.paired import Subject, compare_and_time
    from polysched.pipeline.files import compiler_flags
    regions = regions_of_function(transformed, arguments.function)
    subject = Subject(scops=tuple(r.scop for r in regions), transformed_text=transformed.text,
                      options=regions[0].options.chosen(), steps=tuple(s for r in regions for s in r.steps()),
                      listings=tuple(r.listing() for r in regions))
    shown.step(f"compiling {arguments.source}")
    options = measure_options(arguments)
    options = replace(options, flags=(*options.flags, *compiler_flags(regions)))
    return compare_and_time(subject, dict(arguments.size), options=options,
                            on_report=shown.report, known=known)


def regions_of_function(transformed: TransformedFile, name: str | None) -> tuple[Optimized, ...]:
    """The regions that stand in one function: the named one, or the only one.

    Raises
    ------
    UsageError : there is no such function, or several and none is named.
    """
    by_function: dict[str | None, list[Optimized]] = {}
    for region in transformed.regions:
        function = region.scop.source.function if region.scop.source is not None else None
        by_function.setdefault(function, []).append(region)
    found = ", ".join(str(f) for f in by_function if f is not None)
    if name is None and len(by_function) > 1:
        raise UsageError(f"several functions contain a scop: {found}", where=str(transformed.path),
                         hint="choose one with --function")
    if name is not None and name not in by_function:
        raise UsageError(f"no function {name} contains a scop", where=str(transformed.path),
                         hint=f"those that do: {found}" if found else None)
    return tuple(by_function[name] if name is not None else next(iter(by_function.values())))


def if_slower(device: str | None) -> str:
    """What to try where the transformed code lost; `device` is what it runs on in place of this machine's cores."""
    if device is None:
        return SLOWER + OTHER_CODES
    return SLOWER + (OTHER_KERNELS if device in WORK_ITEMS else STANDS_IN.format(device))


def _where_wrong(measurement: Measurement, cut: bool) -> str | None:
    """What to try where results are wrong, or were never compared."""
    if measurement.verification is None or measurement.verification.problem:
        return NEVER_COMPARED
    return FEWER_BITS if cut else None


def show(measurement: Measurement, *, to_errors: bool = False, safe: bool = False, device: str | None = None,
         cut: bool = False) -> int:
    """Print a measurement; raise when it is not a verified one.

    Parameters
    ----------
    to_errors : print to the standard error, because the standard output is taken.
    safe : say which of the two codes is kept.
    device : what the transformed code runs on in place of this machine's cores.
    cut : operands of floats may have lost bits, as was asked for.
    """
    from polysched.cli.shown.tables import console, times_table
    from polysched.measure.summary import ratio_line, verification_line
    sizes = ", ".join(f"{name}={value}" for name, value in measurement.sizes.items())
    output = console(stderr=to_errors)
    output.print(f"{measurement.function}({sizes}) in {Path(measurement.source).name}", markup=False)
    line = verification_line(measurement)
    if measurement.failure:
        hint = NOT_LINKED if "undefined symbol" in measurement.failure else LIMITS
        raise RunFailedError(measurement.failure, where=measurement.source, hint=hint)
    if not measurement.verified:
        raise WrongResultError(line, where=measurement.source, hint=_where_wrong(measurement, cut))
    output.print(line, markup=False)
    if measurement.timing is not None:
        output.print(times_table(measurement))
        output.print(ratio_line(measurement), markup=False)
        if measurement.timing.ratio_interval.high < 1 and not safe:
            output.print(if_slower(device), markup=False)
    if safe:
        output.print("the original code is kept: it was faster at these sizes" if is_slower(measurement) else
                     "the transformed code is kept: it was faster at these sizes", markup=False)
    return 0
