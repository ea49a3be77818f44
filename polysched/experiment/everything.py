"""`polysched bench --all`: every experiment one after the other, and the table of what is expected of each."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from polysched.errors import OutputError, PolyschedError
from polysched.experiment.driver import run_experiment
from polysched.experiment.folders import Found, load
from polysched.experiment.tables import markdown_table

RESULTS, PLOT = "results.jsonl", "plot.svg"
NO_TOLERANCE = "not said"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How an experiment ended.

    Parameters
    ----------
    problem : why it failed or could not run; empty where it is good.
    """

    name: str
    problem: str = ""


def run_all(experiments: Sequence[Found], folder: Path, options: Sequence[str] = (), *,
            parser_class: type[argparse.ArgumentParser] = argparse.ArgumentParser,
            told: Callable[[str], None] = lambda line: None) -> tuple[Outcome, ...]:
    """Run experiments with their defaults; one that fails does not keep the others from running.

    Parameters
    ----------
    folder : `NAME/results.jsonl` and `NAME/plot.svg` are written below it; what is there is resumed.
    options : of every one of them, behind the defaults.
    told : takes a line in front of each.

    Raises
    ------
    OutputError : the folder cannot be made.
    """
    return tuple(_run(found, folder / found.name, options, parser_class, told) for found in experiments)


def _run(found: Found, folder: Path, options: Sequence[str], parser_class: type[argparse.ArgumentParser],
         told: Callable[[str], None]) -> Outcome:
    told(f"{found.name} ({found.config['expected_time']})")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"the folder cannot be made: {error.strerror}", where=str(folder)) from None
    argv = ["--resume", "--results", str(folder / RESULTS)]
    try:
        if load(found.folder).plot is not None:
            argv += ["--plot", str(folder / PLOT)]
        run_experiment(found.name, [*argv, *options], parser_class=parser_class)
    except PolyschedError as error:
        return Outcome(name=found.name, problem=error.problem)
    return Outcome(name=found.name)


def expected_table(experiments: Sequence[Found], outcomes: Sequence[Outcome] = ()) -> str:
    """Command, expected time and tolerance of each experiment, and how it ended where it ran."""
    ends = {outcome.name: outcome.problem or "good" for outcome in outcomes}
    headings = ["command", "expected time", "tolerance", *(["outcome"] if outcomes else [])]
    return markdown_table(headings, [
        [f"`polysched bench {f.name}`", f.config["expected_time"], f.config.get("tolerance", NO_TOLERANCE),
         *([ends.get(f.name, "not run")] if outcomes else [])] for f in experiments])
