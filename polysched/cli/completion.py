"""`polysched completion`: a script that makes a shell complete commands, options and their choices.

Experiments and their cases belong to the folder that one is in: the scripts ask `polysched bench` for their names.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from polysched.cli.conventions import STANDARD, add_json
from polysched.cli.shown.output import prepared
from polysched.errors import UsageError

NAME = "completion"
HELP = "Print a completion script for bash, zsh or fish."
EPILOG = """\
examples:
  source <(polysched completion bash)
  polysched completion zsh > ~/.zfunc/_polysched
  polysched completion fish > ~/.config/fish/completions/polysched.fish
  polysched completion --json commands.json      for an editor or another shell"""

BASH = """\
_polysched() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  case "${{COMP_WORDS[1]}} $previous" in
{choices}
  esac
  if [ "${{COMP_WORDS[1]}}" = bench ] && [ "$COMP_CWORD" -gt 1 ]; then
    if [ "$COMP_CWORD" -eq 2 ] && [ "${{current#-}}" = "$current" ]; then words="$({names})"
    elif [ "$COMP_CWORD" -gt 2 ]; then
      case "$previous" in
        --only) words="$({cases})" ;;
        *) case "$current" in -*) words="{bench}" ;; esac ;;
      esac
    fi
  fi
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current")); return; fi
  if [ "$COMP_CWORD" -eq 1 ]; then words="{commands}"
  else
    case "${{COMP_WORDS[1]}}" in
{options}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$current" in -*) ;; *) COMPREPLY+=($(compgen -f -- "$current")) ;; esac
}}
complete -o filenames -F _polysched polysched
"""

SHELLS = ("bash", "zsh", "fish")
NAMES = "polysched bench --names 2>/dev/null"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("shell", choices=SHELLS, nargs="?", help="the shell that reads the script")
    add_json(parser, "commands, options and their choices")


def run(arguments: argparse.Namespace) -> int:
    """Print the script.

    Raises
    ------
    UsageError : neither a shell nor `--json` is named.
    """
    commands: dict[str, argparse.ArgumentParser] = arguments.commands
    if arguments.shell is None and arguments.json is None:
        raise UsageError("no shell is named", hint=f"one of {', '.join(SHELLS)}")
    with prepared(arguments.json) as report:
        if report is not None:
            report.write_json([_as_json(name, parser) for name, parser in commands.items()])
    if arguments.shell is not None and arguments.json != STANDARD:
        print(_script(arguments.shell, commands), end="")
    return 0


def _as_json(name: str, parser: argparse.ArgumentParser) -> dict[str, object]:
    return {"name": name, "help": parser.description, "arguments": [
        {"spellings": list(action.option_strings) or [action.dest], "option": bool(action.option_strings),
         "choices": None if action.choices is None else list(map(str, action.choices)),
         "help": (action.help or "") % _help_values(action)} for action in parser._actions]}


def _script(shell: str, commands: dict[str, argparse.ArgumentParser]) -> str:
    if shell == "fish":
        return fish_script(commands)
    start = "#compdef polysched\nautoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return start + bash_script(commands)


def subcommands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every subcommand with its parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def bash_script(commands: dict[str, argparse.ArgumentParser]) -> str:
    """The script for bash."""
    options, choices = [], []
    for name, parser in commands.items():
        words = [option for action in parser._actions for option in action.option_strings]
        words += [str(c) for action in parser._actions if not action.option_strings for c in action.choices or ()]
        options.append(f'      {name}) words="{" ".join(words)}" ;;')
        for action in parser._actions:
            if action.choices and action.option_strings:
                patterns = "|".join(f'"{name} {option}"' for option in action.option_strings)
                choices.append(f'    {patterns}) words="{" ".join(map(str, action.choices))}" ;;')
    return BASH.format(commands=" ".join(commands), options="\n".join(options), choices="\n".join(choices), names=NAMES,
                       cases='polysched bench "${COMP_WORDS[2]}" --list 2>/dev/null',
                       bench=" ".join(option for action in experiment_options() for option in action.option_strings))


def experiment_options() -> list[argparse.Action]:
    """The options that all experiments have."""
    from polysched.experiment.driver import add_common
    from polysched.experiment.folders import Found
    parser = argparse.ArgumentParser()
    add_common(parser, Found(name="NAME", folder=Path(), config={}))
    return parser._actions


def fish_script(commands: dict[str, argparse.ArgumentParser]) -> str:
    """The script for fish."""
    words = "(commandline -opc)"
    lines = [f"complete -c polysched -n '__fish_seen_subcommand_from bench; and test (count {words}) -eq 2' "
             f"-fa '({NAMES})'"]
    for action in experiment_options():
        cases = f"-xa '(polysched bench {words}[3] --list 2>/dev/null)'" if "--only" in action.option_strings else ""
        lines.append(f"complete -c polysched -n '__fish_seen_subcommand_from bench; and test (count {words}) -gt 2' "
                     f"{_fish_names(action)} {cases} -d {_quoted((action.help or '') % _help_values(action))}")
    for name, parser in commands.items():
        lines.append(f"complete -c polysched -n __fish_use_subcommand -a {name} -d {_quoted(parser.description or '')}")
        for action in parser._actions:
            values = f" -xa '{' '.join(map(str, action.choices))}'" if action.choices else ""
            names = _fish_names(action)
            if names or values:
                lines.append(f"complete -c polysched -n '__fish_seen_subcommand_from {name}' {names}{values}"
                             f" -d {_quoted((action.help or '') % _help_values(action))}")
    return "\n".join(lines) + "\n"


def _fish_names(action: argparse.Action) -> str:
    return " ".join(f"-l {o[2:]}" if o.startswith("--") else f"-s {o[1:]}" for o in action.option_strings)


def _help_values(action: argparse.Action) -> dict[str, object]:
    return {"default": action.default, "prog": "polysched"}


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
