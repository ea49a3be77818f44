"""One line of an experiment's results file."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from polysched.errors import UsageError
from polysched.experiment.definition import Case, Settings
from polysched.measure.json_lines import append_line, read_lines
from polysched.measure.timing.machine import Machine, describe_conditions, describe_machine, git_revision, versions
from polysched.records import dataclass

FORMAT_VERSION = 1
KIND = "experiment"
DONE = "done"


@dataclass(frozen=True, kw_only=True)
class Record:
    """What became of one case.

    Parameters
    ----------
    experiment : its name.
    case : name of the case.
    key : a hash of what was asked for (case, threads, options, machine), not of the outcome: `--resume` skips a case
        that is done under its key.
    parameters : of the case, without paths on that machine.
    threads : numbers of threads that were asked for.
    options : of the command line, without paths on that machine.
    status : `done`, `refused` (a PolyschedError), `crashed`, `hung`, `memory` or `failed`.
    problem : the reason, unless it is done.
    values : the experiment's own results.
    seconds : wall time of the case's process.
    machine : where it ran.
    conditions : of the machine when the result was recorded.
    libraries : versions of the packages that were used.
    git_revision : of the checkout.
    started : when, in UTC (ISO 8601).
    """

    experiment: str
    case: str
    key: str
    parameters: Mapping[str, Any]
    threads: tuple[int, ...]
    options: Mapping[str, Any]
    status: str
    problem: str
    values: Mapping[str, Any]
    seconds: float
    machine: Mapping[str, Any]
    conditions: Mapping[str, Any]
    libraries: Mapping[str, str]
    git_revision: str
    started: str
    kind: str = KIND
    format_version: int = field(default=FORMAT_VERSION)

    @property
    def done(self) -> bool:
        return self.status == DONE

    @property
    def machine_identity(self) -> tuple[Any, ...]:
        """What two records must share before their times are compared."""
        return self.machine["cpu"], tuple(self.machine["isa"]), self.machine["cores"]


def now() -> str:
    """The time in UTC (ISO 8601)."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def make_record(experiment: str, case: Case, settings: Settings, *, status: str, problem: str,
                values: Mapping[str, Any], seconds: float, started: str) -> Record:
    """A record of a case that ran on this machine."""
    machine = describe_machine()
    return Record(experiment=experiment, case=case.name, key=key_of(experiment, case, settings, machine),
                  parameters=case.parameters, threads=settings.threads, options=settings.recorded_options,
                  status=status, problem=problem, values=values, seconds=round(seconds, 3), machine=asdict(machine),
                  conditions=asdict(describe_conditions()), libraries=versions(),
                  git_revision=git_revision(Path(__file__).parent), started=started)


def key_of(experiment: str, case: Case, settings: Settings, machine: Machine) -> str:
    """The hash that names what was asked for."""
    asked = (experiment, case.name, _canonical(case.parameters), settings.threads,
             _canonical(settings.recorded_options), machine.identity, FORMAT_VERSION)
    return hashlib.sha256(repr(asked).encode()).hexdigest()[:32]


def _canonical(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True)


def append(path: Path, record: Record) -> None:
    """Add a record to a results file, atomically.

    Raises
    ------
    OutputError : the file cannot be written.
    """
    append_line(path, asdict(record))


def read(path: Path, *, experiment: str | None = None) -> tuple[Record, ...]:
    """The last record of each case in the file, in the order in which the cases first appear.

    Parameters
    ----------
    experiment : refuse records of another one.

    Raises
    ------
    UsageError : the file cannot be read, or is no results file of this experiment.
    """
    return latest(record_from_json(value, f"{path}:{number}", experiment) for number, value in read_lines(path))


def latest(records: Iterable[Record]) -> tuple[Record, ...]:
    """The last record under each key: a later run replaces an earlier one."""
    by_key: dict[str, Record] = {}
    for record in records:
        by_key[record.key] = record
    return tuple(by_key.values())


def record_from_json(value: Mapping[str, Any], where: str, experiment: str | None = None) -> Record:
    """The record of one line; another experiment than `experiment` is refused.

    Raises
    ------
    UsageError : the line is no record, or of another experiment.
    """
    if value.get("kind") != KIND or value.get("format_version") != FORMAT_VERSION:
        raise UsageError(f"this is no record of an experiment in format {FORMAT_VERSION}", where=where)
    if experiment is not None and value.get("experiment") != experiment:
        raise UsageError(f"this is a record of the experiment {value.get('experiment')}, not {experiment}", where=where,
                         hint="name another file with --results")
    try:
        record = Record(**value)
    except TypeError as error:
        raise UsageError(f"a record is not complete: {error}", where=where) from None
    return record


def machines_of(records: Sequence[Record]) -> tuple[str, ...]:
    """The machines that the records come from, as text."""
    found = {r.machine_identity: f"{r.machine['cpu']}, {r.machine['cores']} cores" for r in records}
    return tuple(found.values())
