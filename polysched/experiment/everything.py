"""`polysched bench --all`: every experiment one after the other, and the table of what is expected of each."""

from __future__ import annotations

import argparse
import logging
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from polysched.errors import OutputError, PolyschedError
from polysched.experiment.driver import cases_of, make_parser, make_settings, run_experiment, select, unmeasured
from polysched.experiment.folders import RESULTS, Found, load, missing
from polysched.experiment.tables import markdown_table
from polysched.records import dataclass

logger = logging.getLogger(__name__)

PLOT = "plot.svg"
NO_TOLERANCE = "not said"
LONGEST_WITNESS = 120
"""Characters of a witness in the table."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How an experiment ended, or how far it is.

    Parameters
    ----------
    problem : why it failed or could not run; empty where it is good.
    progress : what is measured already, where nothing was run.
    """

    name: str
    problem: str = ""
    progress: str = ""


def run_all(experiments: Sequence[Found], folder: Path, options: Sequence[str] = (), *,
            parser_class: type[argparse.ArgumentParser] = argparse.ArgumentParser,
            told: Callable[[str], None] = lambda line: None) -> tuple[Outcome, ...]:
    """Run experiments as their committed results were made; one that fails does not keep the others from running.

    Parameters
    ----------
    folder : `NAME/results.jsonl` and `NAME/plot.svg` are written below it; what is there is resumed.
    options : of every one of them, behind those of the committed run (`arguments` of `experiment.toml`).
    told : takes a line in front of each.

    Raises
    ------
    OutputError : the folder cannot be made.
    """
    return tuple(_run(found, folder / found.name, options, parser_class, told) for found in experiments)


def plan_all(experiments: Sequence[Found], folder: Path, *,
             parser_class: type[argparse.ArgumentParser] = argparse.ArgumentParser) -> tuple[Outcome, ...]:
    """How many cases of each experiment `run_all` would measure, and how many it would find done; nothing runs."""
    return tuple(_attempted(found, partial(_progress, found, folder / found.name, parser_class))
                 for found in experiments)


def _run(found: Found, folder: Path, options: Sequence[str], parser_class: type[argparse.ArgumentParser],
         told: Callable[[str], None]) -> Outcome:
    told(f"{found.name} ({found.config['expected_time']})")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"the folder cannot be made: {error.strerror}", where=str(folder)) from None

    def run() -> str:
        argv = [*arguments_of(found), "--resume", "--results", str(folder / RESULTS)]
        if load(found.folder).plot is not None:
            argv += ["--plot", str(folder / PLOT)]
        run_experiment(str(found.folder), [*argv, *options], parser_class=parser_class)
        return ""
    return _attempted(found, run)


def _attempted(found: Found, attempt: Callable[[], str]) -> Outcome:
    """What an attempt returns; or why it failed, whatever an experiment's own code raises."""
    try:
        return Outcome(name=found.name, progress=attempt())
    except PolyschedError as error:
        witness = " ".join((error.witness or "").split())
        more = f": {witness[:LONGEST_WITNESS]}" if witness else ""
        return Outcome(name=found.name, problem=f"{error.problem}{more}")
    except ImportError as error:
        return Outcome(name=found.name, problem=missing(error))
    except Exception as error:  # an experiment's own fault, told with its traceback: the others are no worse for it
        logger.exception("the experiment %s has an error of its own", found.name)
        return Outcome(name=found.name, problem=f"an error of its own: {type(error).__name__}: {error}")


def _progress(found: Found, folder: Path, parser_class: type[argparse.ArgumentParser]) -> str:
    experiment = load(found.folder)
    arguments = make_parser(found, experiment, parser_class).parse_args(arguments_of(found))
    settings = make_settings(found, experiment, arguments)
    cases = select(cases_of(experiment, settings), arguments.only)
    missing = unmeasured(found, settings, cases, folder / RESULTS)
    return f"{len(cases) - len(missing)} of {len(cases)} cases are measured"


def expected_table(experiments: Sequence[Found], outcomes: Sequence[Outcome] = ()) -> str:
    """Command, expected time and tolerance of each experiment, and how it ended where it ran."""
    ends = {outcome.name: outcome.problem or outcome.progress or "good" for outcome in outcomes}
    headings = ["command", "expected time", "tolerance", *(["outcome"] if outcomes else [])]
    return markdown_table(headings, [
        [f"`{command(f)}`", f.config["expected_time"], f.config.get("tolerance", NO_TOLERANCE),
         *([ends.get(f.name, "not run").replace("|", "/")] if outcomes else [])] for f in experiments])


def arguments_of(found: Found) -> list[str]:
    """The options of the committed run."""
    return list(found.config.get("arguments", []))


def command(found: Found) -> str:
    """The command line of the committed run."""
    return shlex.join(["polysched", "bench", found.name, *arguments_of(found)])
