"""The page `docs/command_line.md`, made from the commands themselves so that it cannot disagree with them."""

from __future__ import annotations

import argparse

from polysched.cli.completion import subcommands
from polysched.cli.entry import make_parser

HEAD = """\
# The command line

This page is made from the program (`pytest tests/cli/shown/test_reference.py --update-golden` writes it anew).
`polysched COMMAND --help` prints the same.

## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | an error of polysched itself, with a traceback: please report it |
| 2 | refused: the input, the options or the output; nothing was written |
| 3 | a measured program crashed, hung or ran out of memory |
| 4 | a transformed program computed something else than the original |
| 5 | a comparison found something slower |
| 130, 143 | interrupted by Ctrl-C, terminated; children are killed and temporary files removed |

## Environment

| variable | effect |
|---|---|
| `CC` | the C compiler when `--cc` is not given |
| `NO_COLOR` | no colours |
| `TMPDIR` | where the private folders of compilations and measured processes stand |
| `XDG_CACHE_HOME` | the cache folder (default: `~/.cache`): figures of `polysched machine`, what is compiled |
| `POLYSCHED_CACHE_DIR` | another place for what is compiled |
| `CUDA_HOME`, `POLYSCHED_CUDA_...`, `POLYSCHED_OPENCL_...` | see [devices](devices.md) |
"""


def command_line_page() -> str:
    """The whole page in Markdown."""
    return HEAD + "".join(_section(name, parser) for name, parser in subcommands(make_parser()))


def _section(name: str, parser: argparse.ArgumentParser) -> str:
    lines = ["", f"## polysched {name}", "", parser.description or "", "", "| option | meaning |", "|---|---|"]
    lines += [f"| {_names(action)} | {_meaning(action)} |" for action in parser._actions
              if action.option_strings != ["-h", "--help"]]
    if parser.epilog:
        lines += ["", "```text", parser.epilog.rstrip(), "```"]
    return "\n".join(lines) + "\n"


def _names(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar or '|'.join(map(str, action.choices or [action.dest]))}`"
    value = ""
    if action.nargs != 0:
        value = str(action.metavar) if action.metavar else "|".join(map(str, action.choices or [action.dest.upper()]))
    return ", ".join(f"`{option}{' ' if value else ''}{value}`" for option in action.option_strings).replace("|", "\\|")


def _meaning(action: argparse.Action) -> str:
    text = (action.help or "") % {"default": action.default, "prog": "polysched"}
    return text.replace("|", "\\|")
