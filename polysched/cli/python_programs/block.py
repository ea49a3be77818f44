"""`polysched block`: a block program as the text of a target."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from polysched.cli.conventions import STANDARD, OncePerName, add_json, add_target, chosen_device, output_beside, size
from polysched.cli.shown.output import prepared
from polysched.cli.shown.programs import named_object
from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.kernel import BlockProgram
    from polysched.pipeline.options import PipelineOptions

HOST = "host"
NAME = "block"
HELP = "Print a block program as C, OpenCL, CUDA or Triton."
EPILOG = """\
examples:
  polysched block programs:matmul --target triton -o matmul.py
  polysched block programs:matmul --target triton --compile sm_80 --compile sm_90 --constant BM=64 -o matmul.py
  polysched block programs:softmax --target cuda --type float32 -o softmax.cu.c
  polysched block programs:grouped_matmul --type rows=int64

MODULE:NAME is a function that @polysched.block_program takes, decorated or not. A program whose result depends on the
order of its program ids is refused with two of them and the element"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("program", metavar="MODULE:NAME", help="the function; modules of the current folder are found")
    parser.add_argument("-o", "--output", metavar="OUT",
                        help="the text (default: -, standard output, unless the JSON goes there)")
    parser.add_argument("--type", action="append", default=[], metavar="[NAME=]TYPE",
                        help="the element type of an argument, without NAME of all that are not named, may be "
                             "repeated (default: float64)")
    parser.add_argument("--constant", type=size, action=OncePerName, default=[], metavar="NAME=VALUE",
                        help="another value for an argument with a default, may be repeated")
    parser.add_argument("--compile", action="append", default=[], metavar="sm_NN",
                        help="with --target triton, also compile for that architecture and print registers and shared "
                             "memory, may be repeated; no GPU is needed")
    add_target(parser)
    add_json(parser, "the program's arguments, constants and text, and what it takes of a multiprocessor")


def run(arguments: argparse.Namespace) -> int:
    """Print one program."""
    from polysched.kernel import TRITON
    is_triton = arguments.target == TRITON
    if arguments.compile and not is_triton:
        raise UsageError("--compile is for --target triton", hint="NVRTC compiles CUDA when a program runs")
    arguments.output = output_beside(arguments, "text")
    with prepared(arguments.output) as output, prepared(arguments.json) as report:
        program = _program(arguments)
        constants = dict(arguments.constant)
        kernel = program.with_constants(**constants)
        types = kernel.types_of(_types(arguments, kernel.block_source.arguments))
        made = kernel.specialised(types)   # refuses races, whatever the target is
        text = kernel.to_triton() if is_triton else made.c_function.text
        found = [kernel.triton_resources(types, architecture) for architecture in arguments.compile]
        if output is not None:
            output.write(text)
        if report is not None:
            report.write_json({
                "program": kernel.block_source.name, "target": arguments.target, "constants": dict(
                    kernel.block_source.constants), "arguments": {n: str(t.dtype.name) for n, t in types.items()},
                "text": text, "compiled": [
                    {"architecture": a, "registers": f.registers, "spilled_bytes": f.spilled, "shared_bytes": f.shared}
                    for a, f in zip(arguments.compile, found, strict=True)]})
    if arguments.json != STANDARD:
        stream = sys.stderr if arguments.output == STANDARD else sys.stdout
        for architecture, own in zip(arguments.compile, found, strict=True):
            print(f"{architecture}: {own.headline()}", file=stream)
    return 0


def _program(arguments: argparse.Namespace) -> BlockProgram:
    """The program that the command line names, for its target.

    Raises
    ------
    UsageError : it names no function.
    """
    from polysched.kernel import BlockProgram
    found = named_object(arguments.program)
    function = found.function if isinstance(found, BlockProgram) else found
    if not callable(function):
        raise UsageError(f"{arguments.program} is a {type(found).__name__}", hint="MODULE:NAME is a block program")
    return BlockProgram(function, options=_options(arguments))


def _options(arguments: argparse.Namespace) -> PipelineOptions:
    """As the author of the program wrote it, on a device or on this machine.

    Raises
    ------
    UsageError : another machine.
    """
    from polysched.kernel import TRITON, as_written
    device = chosen_device(arguments)
    if (device is None and arguments.target not in (TRITON, HOST)) or arguments.machine is not None:
        raise UsageError("block programs keep the tiles of their author, so costs of a machine change nothing",
                         witness=arguments.machine or arguments.target,
                         hint="--target host, opencl, cuda or triton, without --machine")
    return as_written(device)


def _types(arguments: argparse.Namespace, names: tuple[str, ...]) -> dict[str, str]:
    """The named types; that of all others under the empty name."""
    found = {"": "float64"}
    for text in arguments.type:
        name, _, kind = text.rpartition("=")
        if name and name not in names:
            raise UsageError(f"the program has no argument {name}", hint=f"it has {', '.join(names)}")
        found[name] = kind
    return found
