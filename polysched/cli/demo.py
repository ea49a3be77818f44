"""`polysched demo`: the main job on two programs that ship with the package."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.cli.conventions import STANDARD, add_cc, add_json
from polysched.cli.shown.json_report import file_report
from polysched.cli.shown.output import prepared
from polysched.cli.shown.progress import Progress, progress
from polysched.demo import FOLDER, PROGRAMS
from polysched.errors import OutputError

if TYPE_CHECKING:
    from polysched.measure.measurement import Measurement
    from polysched.pipeline import TransformedFile

NAME = "demo"
HELP = "Transform, verify and time a matrix product and a stencil."
EPILOG = """\
example:
  polysched demo

shows each stage's value and writes the emitted C into a folder; takes less than a minute"""

SIZES = {"matrix_product.c": {"n": 500}, "stencil.c": {"steps": 100, "n": 1000}}
BUDGET_SECONDS = 6.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("-o", "--output", metavar="DIR", default="polysched-demo",
                        help="folder for the emitted C (default: %(default)s)")
    add_cc(parser)
    add_json(parser, "what was found in each program, and its measurement,")


def run(arguments: argparse.Namespace) -> int:
    """Show both programs; the first that fails ends the demo."""
    from polysched.target import find_compiler
    folder = Path(arguments.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"the folder for the emitted C cannot be made: {error.strerror}", where=str(folder)) from None
    compiler = find_compiler(arguments.cc)
    with prepared(arguments.json) as report:
        with redirect_stdout(sys.stderr if arguments.json == STANDARD else sys.stdout):
            print(f"compiler: {compiler} ({compiler.version})")
            found = []
            for name in PROGRAMS:
                with progress(quiet=bool(arguments.quiet)) as shown:
                    found.append(_show_program(name, folder / name, arguments.cc, shown))
        if report is not None:
            report.write_json(found)
    return 0


def _show_program(name: str, emitted: Path, cc: str | None, shown: Progress) -> dict[str, Any]:
    """Every stage of one program; what the report says of it."""
    from polysched.measure.results import measurement_to_json
    from polysched.pipeline import transform_file
    from polysched.pipeline.options import PipelineOptions
    print(f"\n==== {name} " + "=" * (70 - len(name)))
    shown.step(f"transforming {name}")
    transformed = transform_file(FOLDER / name, PipelineOptions(cc=cc))
    with prepared(str(emitted)) as output:
        assert output is not None
        output.write(transformed.text)
    shown.stop()
    _show_stages(transformed)
    print(f"emitted C: {emitted}")
    measurement = _measure(name, transformed, cc, shown)
    shown.stop()
    from polysched.cli.run import show
    show(measurement)
    return file_report(transformed, output=str(emitted)) | {"measurement": measurement_to_json(measurement)}


def _show_stages(transformed: TransformedFile) -> None:
    """The SCoP, the dependences and the schedule."""
    from polysched.dependence.text import dependences_text
    from polysched.scop.text import isl_tree_text, scop_text
    for region in transformed.regions:
        print(region.scop.source.text[region.scop.source.start:region.scop.source.end] if region.scop.source else "")
        print(f"\n-- SCoP\n{scop_text(region.scop)}")
        print(f"-- dependences ({len(region.dependences.pairs)}, exact and value-based)")
        print(dependences_text(region.dependences), end="")
        print(f"\n-- schedule ({region.schedule.algorithm}, {region.seconds['schedule']:.2f} s)")
        print(isl_tree_text(region.schedule.tree))
        print("\n-- tiles and threads")
        for step in region.steps():
            print(f"  {step}")
        print()


def _measure(name: str, transformed: TransformedFile, cc: str | None, shown: Progress) -> Measurement:
    """Verify and time one program at its size."""
    from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
    subject = Subject(scops=tuple(r.scop for r in transformed.regions), transformed_text=transformed.text,
                      options=transformed.regions[0].options.chosen(), steps=transformed.regions[0].steps(),
                      listings=tuple(r.listing() for r in transformed.regions))
    return compare_and_time(subject, SIZES[name], options=MeasureOptions(cc=cc, budget_seconds=BUDGET_SECONDS),
                            on_report=shown.report)
