"""Parse the command line, run one subcommand, and turn refusals into one message and an exit code."""

from __future__ import annotations

import argparse
import gc
import logging
import signal
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import FrameType
from typing import NoReturn

from polysched.cli.commands import COMMANDS
from polysched.cli.conventions import Parser, name_standard_output, refuse_reading_twice, separate_sizes
from polysched.cli.shown.standard_streams import heard_errors, written_output
from polysched.errors import PolyschedError, RunFailedError
from polysched.version import __version__

INTERRUPTED = 130
TERMINATED = 143
COLLECT_AFTER = (50_000, 50, 50)
"""When Python looks for garbage (`gc.set_threshold`): commands make little, and looking takes 6% of their time."""
DESCRIPTION = "Polyhedral scheduling, tiling and parallelisation of C loops."
EPILOG = """\
examples:
  polysched demo
  polysched c2c gemm.c -o gemm.opt.c
  polysched run gemm.c --size n=1024 --threads 2
  polysched deps gemm.c --json

exit codes: 0 done, 1 an error of polysched itself, 2 refused (input, options, output), 3 a measured program
crashed, hung or ran out of memory, 4 a transformed program computed something else, 5 a comparison found
something slower, 130 interrupted, 143 terminated"""


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code (see EPILOG)."""
    with heard_errors():
        try:
            with written_output():
                return _run(argv)
        except PolyschedError as refusal:
            print(f"polysched: {refusal}", file=sys.stderr)
            return refusal.exit_code
        except KeyboardInterrupt:
            print("polysched: interrupted", file=sys.stderr)
            return INTERRUPTED
        except MemoryError as error:
            print(f"polysched: there is not enough memory: {error}", file=sys.stderr)
            return RunFailedError.exit_code
        except BrokenPipeError:
            return 0


def _run(argv: Sequence[str] | None) -> int:
    """Read the command line and run its command; the exit code."""
    arguments, unknown = make_parser().parse_known_args(separate_sizes(sys.argv[1:] if argv is None else argv))
    if unknown:
        arguments.parser.refuse_unknown(unknown)
    logging.basicConfig(format="%(message)s", stream=sys.stderr,
                        level={-1: logging.ERROR, 0: logging.WARNING, 1: logging.INFO}.get(
                            arguments.verbose - arguments.quiet, logging.DEBUG))
    previous, collected_after = signal.signal(signal.SIGTERM, _terminate), gc.get_threshold()
    gc.set_threshold(*COLLECT_AFTER)
    try:
        with _signals_at_once():
            refuse_reading_twice(arguments)
            name_standard_output(arguments)
            return int(arguments.run(arguments))
    finally:
        signal.signal(signal.SIGTERM, previous)
        gc.set_threshold(*collected_after)


def _signals_at_once() -> AbstractContextManager[None]:
    """Ctrl-C and SIGTERM in the middle of a long computation of isl."""
    from polysched.scop.isl_interrupt import signals_stop_isl
    return signals_stop_isl()


def make_parser() -> Parser:
    """The parser of the whole command line."""
    parser = Parser(prog="polysched", description=DESCRIPTION, epilog=EPILOG,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"polysched {__version__}")
    _add_loudness(parser, default=0)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        sub = commands.add_parser(command.NAME, help=command.HELP, description=command.HELP, epilog=command.EPILOG,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
        command.add_arguments(sub)
        _add_loudness(sub, default=argparse.SUPPRESS)   # what stands in front of the command holds where it is silent
        sub.set_defaults(run=command.run, parser=sub, commands=commands.choices)
    return parser


def _add_loudness(parser: argparse.ArgumentParser, default: int | str) -> None:
    parser.add_argument("-v", "--verbose", action="count", default=default, help="say what happens; twice: in detail")
    parser.add_argument("-q", "--quiet", action="count", default=default, help="say nothing but results and errors")


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """SIGTERM unwinds the stack, so that children are killed and temporary folders removed."""
    raise SystemExit(TERMINATED)
