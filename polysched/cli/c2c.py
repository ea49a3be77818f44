"""`polysched c2c`: a C file in, the same file with its regions optimized out."""

from __future__ import annotations

import argparse
import sys

from polysched.cli.conventions import add_size, output_beside
from polysched.cli.options import add_source, add_transformation, known_sizes, pipeline_options
from polysched.cli.shown.distribution import add_distribution, is_distributed, write_distributed
from polysched.cli.shown.instructions import show_instructions
from polysched.cli.shown.json_report import file_report
from polysched.cli.shown.order import add_verify_order, verify_order_if_asked
from polysched.cli.shown.output import prepared, refuse_same_file
from polysched.cli.shown.progress import progress
from polysched.cli.shown.unserved import refuse_unserved

NAME = "c2c"
HELP = "Transform the scop regions of a C file; everything else stays, with --no-portable byte for byte."
EPILOG = """\
examples:
  polysched c2c gemm.c -o gemm.opt.c
  polysched c2c gemm.c -o gemm.opt.c --tile 32,32,64 --scheduler isl --no-parallel
  polysched c2c stencil.c --target mpi --distribute i -o stencil.mpi.c
  polysched c2c kernel.c -I include -D N=1024 --json report.json --dump-stages stages

compile the result with the compiler's OpenMP option, best as gcc -O3 -march=native -fopenmp; with plain gcc -O2
functions for wide vectors are chosen at run time, beside the original for processors that have none"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_source(parser)
    parser.add_argument("-o", "--output", metavar="OUT.c",
                        help="the transformed file (default: -, standard output, unless the JSON goes there)")
    add_transformation(parser)
    add_size(parser, "the code of an instruction is made for it, and the report of --json counts operations and bytes")
    add_verify_order(parser)
    add_distribution(parser)
    parser.add_argument("--preemptible", action="store_true",
                        help="code on one thread that stops after a tile when polysched_preemption.stop says so, and "
                             "continues when its function is called again; one region a file")


def run(arguments: argparse.Namespace) -> int:
    """Transform one file."""
    from polysched.pipeline.stage_texts import dump_stages
    from polysched.search.lookup import transform_file
    refuse_unserved(arguments)
    arguments.output = output_beside(arguments, "C")
    for name in (arguments.output, arguments.json):
        refuse_same_file(arguments.source, name)
    if is_distributed(arguments):
        return write_distributed(arguments)
    if arguments.preemptible:
        return _write_preemptible(arguments)
    with (prepared(arguments.output) as output, prepared(arguments.json) as report,
          progress(quiet=bool(arguments.quiet)) as shown):
        transformed = transform_file(arguments.source, pipeline_options(arguments))
        known_sizes([*arguments.size, *arguments.assume], [region.scop for region in transformed.regions],
                    arguments.source, some_left=arguments.autodetect)
        show_instructions(arguments, transformed.regions)
        verify_order_if_asked(arguments, transformed.regions)
        if arguments.dump_stages:
            dump_stages(transformed.regions, arguments.dump_stages)
        shown.stop()
        if output is not None:
            output.write(transformed.text)
        if report is not None:
            report.write_json(file_report(transformed, output=arguments.output, sizes=dict(arguments.size)))
    return 0


def _write_preemptible(arguments: argparse.Namespace) -> int:
    """`c2c --preemptible`."""
    from polysched.pipeline.whole_files.preemptible import preemptible_file
    from polysched.search.lookup import searching
    options = pipeline_options(arguments)
    with prepared(arguments.output) as output, progress(quiet=bool(arguments.quiet)) as shown:
        with searching(options):
            made = preemptible_file(arguments.source, options)
        shown.stop()
        for sentence in made.source.fallbacks:
            print(f"polysched: {sentence}", file=sys.stderr)
        assert output is not None
        output.write(made.text)
    return 0
