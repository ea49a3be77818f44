"""What every command spells in the same way, in one place.

| spelling | meaning |
|---|---|
| `--size NAME=VALUE` | fixes the value of a parameter: what is made or run holds for it |
| `--assume NAME=VALUE` | guides the model: what is made is right for every value |
| `--json [FILE]` | the results as JSON; `-` or nothing is standard output, where they replace the text |
| `--target NAME\\|FILE` | the machine that code is made for, `opencl`, `cuda` or `mpi` |
| `--machine FILE` | its costs, as they were measured |
| `--cc COMMAND` | the C compiler |
| `-` | standard input for a text that is read, standard output for one that is written |

`tests/cli/test_conventions.py` goes through all commands.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.target import Target

STANDARD = "-"
STANDARD_OUTPUT_FILES = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Other names of the standard output."""
RANKS = "mpi"
"""The value of `--target` for C over ranks, for this machine."""
WORK_ITEMS = ("opencl", "cuda")
"""The values of `--target` for kernels of work items."""
COMPILER_HELP = "the C compiler (default: $CC, gcc, clang, cc, or the one that polysched[compiler] brings)"
SIZE_PATTERN = re.compile(r"[^=\s-][^=\s]*=-?\d+(?:\.\.\d+)?")
USAGE_ERROR = 2


class Input(str):
    """The name of a file that a command reads; `-` is standard input."""

    __slots__ = ()


def refuse_reading_twice(arguments: argparse.Namespace) -> None:
    """Refuse a command line in which two files are standard input.

    Raises
    ------
    UsageError : it can be read once.
    """
    values = [value for given in vars(arguments).values() for value in (given if isinstance(given, list) else [given])]
    if sum(isinstance(value, Input) and value == STANDARD for value in values) > 1:
        raise UsageError("only one file can be standard input", hint="name the others")


def name_standard_output(arguments: argparse.Namespace) -> None:
    """Replace other names of the standard output by `-`, so that every rule for it holds for them."""
    for option, value in vars(arguments).items():
        if isinstance(value, str) and not isinstance(value, Input) and value in STANDARD_OUTPUT_FILES:
            setattr(arguments, option, STANDARD)


class OncePerName(argparse.Action):
    """Collects pairs of a name and a value; a name that is given again with another value is a mistake of usage.

    For options whose values of one name look as if they added up.  Of `--size` and `--assume` a later value stands.
    """

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option_string: str | None = None) -> None:
        pairs: list[tuple[str, Any]] = list(getattr(namespace, self.dest) or ())
        name, value = values
        for other, before in pairs:
            if other == name and before != value:
                raise argparse.ArgumentError(self, f"{name} is given twice, as {_shown(before)} and {_shown(value)}")
        setattr(namespace, self.dest, [*pairs, (name, value)])


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def add_size(container: argparse._ActionsContainer, effect: str, *, ranges: bool = False) -> None:
    """`--size`, several of which may follow each other.

    Parameters
    ----------
    effect : what the command does with a fixed value.
    ranges : one may be a range, `NAME=64..2048`; its value is a text then.
    """
    container.add_argument("--size", type=size_or_range if ranges else size, action="append", default=[],
                           metavar="NAME=VALUE", help=f"fix the value of a parameter, may be repeated: {effect}")


def add_assume(container: argparse._ActionsContainer) -> None:
    """`--assume`."""
    container.add_argument("--assume", type=size, action="append", default=[], metavar="NAME=VALUE",
                           help="the value that the model takes for a parameter, may be repeated; the result is right "
                                "for all values (default: what arrays of constant extents admit, else a typical size)")


def add_json(container: argparse._ActionsContainer, what: str) -> None:
    """`--json`.

    Parameters
    ----------
    what : is written.
    """
    container.add_argument("--json", nargs="?", const=STANDARD, type=json_file, metavar="FILE",
                           help=f"write {what} as JSON to FILE; - or no name: to standard output, in place of the text")


def output_beside(arguments: argparse.Namespace, what: str) -> str | None:
    """Where `-o` goes: to standard output where nobody says, unless `--json` takes its place there.

    Parameters
    ----------
    what : is written.

    Raises
    ------
    UsageError : both are to go there, or to one file.
    """
    if arguments.output == arguments.json == STANDARD:
        raise UsageError(f"the {what} and the JSON cannot both go to the standard output", hint="name a file with -o")
    if arguments.output is None and arguments.json != STANDARD:
        return STANDARD
    output: str | None = arguments.output
    if output and arguments.json and os.path.realpath(output) == os.path.realpath(arguments.json):
        raise UsageError(f"the {what} and the JSON have one name", where=output, hint="give another with --json")
    return output


def add_target(container: argparse._ActionsContainer) -> None:
    """`--target`, and `--machine` for what it costs there."""
    container.add_argument("--target", type=Input, metavar="NAME|FILE", default="host",
                           help="the machine that code is made for: a name that `polysched machine --targets` lists, "
                                "or a file that `polysched machine --json FILE` wrote; `mpi`: C over ranks, for c2c "
                                "and run; `opencl` and `cuda`, for c2c, run, explain "
                                "and block; `davinci` and `gemmini`, for c2c, run and explain at known sizes; "
                                "`triton`, for block (default: %(default)s)")
    container.add_argument("--machine", type=Input, metavar="FILE",
                           help="costs of that machine as `polysched machine --calibrate FILE` measured them (default: "
                                "the target's)")


def chosen_device(arguments: argparse.Namespace) -> str | None:
    """The value of `--target` where it names a device beside this machine's cores; None for a machine."""
    from polysched.pipeline.options import DEVICES
    return arguments.target if arguments.target in DEVICES else None


def refuse_device(arguments: argparse.Namespace) -> None:
    """Refuse what is no machine of cores with one memory, for commands that show what is made for these.

    Raises
    ------
    UsageError : with the commands that take it.
    """
    if chosen_device(arguments) is not None or arguments.target == RANKS:
        takers = "c2c and run" if arguments.target == RANKS else "c2c, run and explain"
        raise UsageError(f"--target {arguments.target} is for commands that make or run code", witness=arguments.target,
                         hint=f"polysched {takers} take it; others need a machine")


def chosen_target(arguments: argparse.Namespace) -> Target:
    """The value of `--target`, with the costs of `--machine`."""
    from polysched.pipeline.options import DEVICES
    from polysched.target import TARGETS, find_target
    from polysched.target.calibrated import read_calibrated
    refuse_device(arguments)
    known = (*TARGETS, *DEVICES, RANKS)
    if arguments.target not in known and (close := meant(arguments.target, known)) and not (
            os.path.exists(arguments.target)):
        raise UsageError(f"no target {arguments.target}{close}",
                         hint=f"one of {', '.join(known)}, or a JSON file")
    target = find_target(arguments.target)
    return target if arguments.machine is None else read_calibrated(arguments.machine).of_target(target)


def add_cc(container: argparse._ActionsContainer) -> None:
    """`--cc`."""
    container.add_argument("--cc", metavar="COMMAND", help=COMPILER_HELP)


def size(text: str) -> tuple[str, int]:
    """One value of `--size` or `--assume`, NAME=VALUE."""
    name, equals, value = text.partition("=")
    try:
        number = int(value)
    except ValueError:
        number = None
    if not name or not equals or number is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE with a whole number")
    return name, number


def likely_sizes(text: str) -> tuple[str, tuple[int, ...]]:
    """One value of `--likely`, NAME=VALUE,VALUE."""
    name, equals, values = text.partition("=")
    if not name or not equals or not re.fullmatch(r"\d+(,\d+)*", values):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE,VALUE with whole numbers")
    return name, tuple(map(int, values.split(",")))


def size_or_range(text: str) -> tuple[str, int | str]:
    """One value of `--size`, NAME=VALUE or NAME=LOW..HIGH."""
    name, equals, value = text.partition("=")
    if name and equals and re.fullmatch(r"\d+\.\.\d+", value):
        return name, value
    return size(text)


def is_range(sizes: Sequence[tuple[str, int | str]]) -> bool:
    """Whether one of the values of `--size` is NAME=LOW..HIGH."""
    return any(isinstance(value, str) for _, value in sizes)


def json_file(text: str) -> str:
    """The place of the JSON; what is read and not written is refused, so that `--json IN.c` overwrites no program."""
    if text.endswith((".c", ".h")) or re.fullmatch(r"[A-Za-z_][\w.]*:\w+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is what is read, not a place for JSON; write --json -, or --json "
                                         "behind it")
    return text


def separate_sizes(argv: Sequence[str]) -> list[str]:
    """Write `--size N=1 M=2` as `--size N=1 --size M=2`, so that what follows may be a file name; `--assume`, too."""
    result: list[str] = []
    inside: str | None = None
    for word in argv:
        if inside and result[-1] != inside and SIZE_PATTERN.fullmatch(word):
            result.append(inside)
        elif result and result[-1] != inside:
            inside = None
        if word in ("--size", "--assume"):
            inside = word
        result.append(word)
    return result


class Parser(argparse.ArgumentParser):
    """A parser whose refusals are two lines: what is wrong and what may have been meant, and the command's usage.

    Its namespaces have the names of the options that a command line spells, as `spelled`.
    """

    _spelled: frozenset[str] = frozenset()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments and what nothing takes; a command's options add to those in front of it."""
        self._spelled = frozenset()
        arguments, unknown = super().parse_known_args(args, namespace)
        arguments.spelled = getattr(arguments, "spelled", frozenset()) | self._spelled
        return arguments, unknown

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if action.option_strings:
            self._spelled |= {action.dest}
        return super()._get_values(action, arg_strings)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments; what nothing takes is refused in two lines, too."""
        arguments, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.refuse_unknown(unknown)
        return arguments

    def error(self, message: str) -> NoReturn:
        """End with the two lines and exit code 2."""
        self.exit(USAGE_ERROR, f"{self.prog}: {message}\n{self.one_line_usage()}\n")

    def refuse_unknown(self, words: Sequence[str]) -> NoReturn:
        """End because of arguments that nothing took."""
        option = next((word for word in words if word.startswith("-") and word != STANDARD), None)
        if option is None:
            self.error(f"nothing takes {' '.join(words)}")
        name = option.partition("=")[0]
        known = [spelling for action in self._actions for spelling in action.option_strings]
        self.error(f"no option {name}{meant(name, known)}")

    def one_line_usage(self) -> str:
        """What the command needs, and where its options are listed."""
        needed = [f"{action.option_strings[-1]} {action.metavar}" for action in self._actions
                  if action.option_strings and action.required]
        words = [*needed, *(_place(action) for action in self._actions if not action.option_strings)]
        return f"usage: {self.prog} [OPTIONS] {' '.join(words)}".rstrip() + f"   ({self.prog} --help lists the options)"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        what = "no command" if isinstance(action, argparse._SubParsersAction) else "no choice"
        listed = "" if isinstance(action, argparse._SubParsersAction) else f" of {', '.join(choices)}"
        text = f"{what} {str(value)!r}{listed}{meant(str(value), choices)}"
        if isinstance(action, argparse._SubParsersAction):
            self.error(text)
        raise argparse.ArgumentError(action, text)


def meant(word: str, known: Iterable[str]) -> str:
    """A question after the closest known word; nothing where none is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _place(action: argparse.Action) -> str:
    if isinstance(action, argparse._SubParsersAction):
        return "COMMAND ..."
    name = str(action.metavar) if action.metavar else "|".join(map(str, action.choices or [action.dest]))
    if action.nargs == argparse.REMAINDER:
        return f"[{name}]"
    return {"?": f"[{name}]", "+": f"{name} ...", "*": f"[{name} ...]"}.get(str(action.nargs), name)
