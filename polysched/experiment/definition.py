"""What an experiment is: its cases, how one is measured, and how the results are shown."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from polysched.records import dataclass

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polysched.experiment.claims import Claim
    from polysched.experiment.record import Record

Report: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One thing to measure; it runs in a process of its own.

    Parameters
    ----------
    name : unique in its experiment; `--only` selects by it.
    parameters : what `Experiment.measure` needs to know, as JSON values.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What holds for all cases of a run.

    Parameters
    ----------
    folder : the experiment's folder.
    config : the contents of its `experiment.toml`.
    threads : the numbers of threads to measure with.
    budget_seconds : how long the repeats of one case may take together.
    pin, cold_cache : bind what is timed to its cores; flush the caches before every call.
    options : the experiment's own options by name, as JSON values.
    local_options : those that say where things are on this machine; they are neither recorded nor compared.
    """

    folder: Path
    config: Mapping[str, Any]
    threads: tuple[int, ...]
    budget_seconds: float
    pin: bool = False
    cold_cache: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    local_options: tuple[str, ...] = ()

    @property
    def recorded_options(self) -> dict[str, Any]:
        """The options that results depend on."""
        how = {"pin": self.pin, "cold_cache": self.cold_cache}
        return {name: value for name, value in self.options.items() if name not in self.local_options} | {
            name: True for name, asked in how.items() if asked}


def _no_arguments(group: argparse._ArgumentGroup) -> None:
    """An experiment without options of its own."""


def _no_claims(records: Sequence[Record]) -> Sequence[Claim]:
    """An experiment that repeats no publication."""
    return ()


def _no_objection(records: Sequence[Record]) -> str:
    """An experiment whose finding is no matter of right or wrong."""
    return ""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """The value `EXPERIMENT` of a `run.py`.

    Parameters
    ----------
    cases : everything that could be measured with these settings.
    measure : measure one case, in a process of its own; the values of its record, as JSON.  The third argument
        takes what is being done now (`timing`); it is what a progress display shows and what restarts the time limit.
    table : the results as text (Markdown).
    plot : the results as a figure; None when there is nothing to draw.
    add_arguments : declare options of the experiment; their values have to be JSON values.
    local_options : names of options that only say where things are on this machine: folders, files, processes.
    times_calls : it times calls, pinned and with cold caches where `Settings.pin` and `Settings.cold_cache` say so; the
        driver then has the options for that.
    verdict : why the run is a failure; empty when it is not.
    claims : what a publication states beside our results; shown behind the table.
    """

    cases: Callable[[Settings], Sequence[Case]]
    measure: Callable[[Case, Settings, Report], Mapping[str, Any]]
    table: Callable[[Sequence[Record]], str]
    plot: Callable[[Sequence[Record]], Figure] | None = None
    add_arguments: Callable[[argparse._ArgumentGroup], None] = _no_arguments
    local_options: tuple[str, ...] = ()
    times_calls: bool = False
    verdict: Callable[[Sequence[Record]], str] = _no_objection
    claims: Callable[[Sequence[Record]], Sequence[Claim]] = _no_claims
