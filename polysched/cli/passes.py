"""`polysched passes`: the passes over the loop IR, and what each makes of a file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from polysched.cli.options import add_choices, add_source, pipeline_options
from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.emit_c.pass_history import PassRecord
    from polysched.pipeline import Optimized

NAME = "passes"
HELP = "List the passes over the loop IR, or show what each of them makes of a file."
EPILOG = """\
examples:
  polysched passes                                     every pass, in order, with what it needs
  polysched passes gemm.c                              which of them change the loops of gemm.c
  polysched passes gemm.c --print-after vectorise      the loops behind one pass, as text
  polysched passes gemm.c --diff array_contraction     what one pass changes

the text form is Python's syntax; polysched.emit_c.loop_ir.parser.parse_loops reads it back"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_source(parser, optional=True)
    add_choices(parser)
    parser.add_argument("--print-after", metavar="NAME", help="print the loops behind this pass")
    parser.add_argument("--diff", metavar="NAME", help="print what this pass changes, as a unified diff")


def run(arguments: argparse.Namespace) -> int:
    """List the passes, or run them and show what they did."""
    from polysched.emit_c.passes import all_passes
    names = [each.name for each in all_passes()]
    for wanted in (arguments.print_after, arguments.diff):
        if wanted is not None and wanted not in names:
            raise UsageError(f"no pass {wanted}", hint=f"one of {', '.join(names)}")
    if arguments.source is None:
        if arguments.print_after or arguments.diff:
            raise UsageError("a pass needs a file to run on", hint="polysched passes FILE.c --print-after NAME")
        width = max(map(len, names))
        for each in all_passes():
            needs = f" (needs {', '.join(need.words for need in each.needs)})" if each.needs else ""
            print(f"{each.name:{width}}  {each.summary}{needs}")
        return 0
    from polysched.pipeline import transform_file
    for region in transform_file(arguments.source, pipeline_options(arguments)).regions:
        _show(arguments, region, names)
    return 0


def _show(arguments: argparse.Namespace, region: Optimized, names: list[str]) -> None:
    from polysched.emit_c.loop_ir.text import loop_text
    from polysched.emit_c.pass_history import pass_history
    records = {record.loop_pass.name: record for record in pass_history(region.tiled, region.options.emit_options())}
    print(f"function {region.scop.name}:")
    if arguments.print_after or arguments.diff:
        name = arguments.print_after or arguments.diff
        if name not in records:
            print(f"  {name} did not run: its needs do not hold")
        elif arguments.print_after:
            print(loop_text(records[name].after), end="")
        else:
            print(records[name].difference() or f"  {name} changed nothing\n", end="")
        return
    width = max(map(len, names))
    for name in names:
        print(f"  {name:{width}}  {_what(records.get(name))}")


def _what(record: PassRecord | None) -> str:
    if record is None:
        return "did not run"
    if not record.changed:
        return "changed nothing"
    lines = record.difference().splitlines()[2:]
    return f"+{sum(line.startswith('+') for line in lines)} -{sum(line.startswith('-') for line in lines)} lines"
