"""Read results files of both kinds: measurements (`polysched run --results`) and experiments (`polysched bench`)."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.errors import UsageError
from polysched.experiment.record import KIND, Record, record_from_json
from polysched.measure.json_lines import read_lines
from polysched.measure.measurement import Measurement
from polysched.measure.results import measurement_from_json
from polysched.records import dataclass
from polysched.report.entry import Entry
from polysched.report.from_measurements import entries_of_measurements
from polysched.report.from_records import entry_of_record

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Results:
    """The results of some files.

    Parameters
    ----------
    entries : the last result of each measurement and case.
    records : those of experiments as they are, for their own tables and plots.
    older : how many results a later one of the same thing replaced.
    """

    paths: tuple[str, ...]
    entries: tuple[Entry, ...]
    records: tuple[Record, ...]
    older: int = 0

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that the results come from, as text."""
        return tuple(dict.fromkeys(f"{e.provenance.machine.cpu}, {e.provenance.machine.cores} cores"
                                   for e in self.entries))

    def to_frame(self) -> pd.DataFrame:
        """A table of pandas, a row per variant of a result; `polysched.report.rows` lists the columns.

        Raises
        ------
        UsageError : pandas is not installed.
        """
        from polysched.report.rows import frame
        return frame(self)

    def to_csv(self) -> str:
        """The same as CSV, which needs no package."""
        from polysched.report.rows import csv_text
        return csv_text(self)


def read_results(paths: Sequence[str | Path], *, any_machine: bool = False) -> Results:
    """All results of the files; of repetitions the last.

    Parameters
    ----------
    any_machine : accept results of several machines.

    Raises
    ------
    UsageError : a file cannot be read or is no results file, holds nothing, or machines are mixed.
    """
    measurements: list[Measurement] = []
    records: list[Record] = []
    for path in paths:
        for number, value in read_lines(path):
            if value.get("kind") == KIND:
                records.append(record_from_json(value, f"{path}:{number}"))
            else:
                measurements.append(measurement_from_json(value))
    count = len(measurements) + len(records)
    if not count:
        raise UsageError("there is no result in these files", where=", ".join(map(str, paths)))
    last_measurements = _latest((_measurement_key(m), m) for m in measurements)
    last_records = _latest((r.key, r) for r in records)
    entries = (*entries_of_measurements(last_measurements), *map(entry_of_record, last_records))
    refuse_mixed_machines(entries, any_machine=any_machine)
    return Results(paths=tuple(map(str, paths)), entries=entries, records=last_records,
                   older=count - len(last_measurements) - len(last_records))


def refuse_mixed_machines(entries: Iterable[Entry], *, any_machine: bool) -> None:
    """Refuse results of several machines unless that is meant.

    Raises
    ------
    UsageError : there are several; the witness names them.
    """
    machines = {e.provenance.machine.identity: e.provenance.machine for e in entries}
    if len(machines) > 1 and not any_machine:
        raise UsageError("the results come from several machines, and their times cannot be compared",
                         witness="; ".join(f"{m.cpu}, {m.cores} cores" for m in machines.values()),
                         hint="show them together with --any-machine if that is meant")


def _measurement_key(measurement: Measurement) -> Hashable:
    """What two measurements share when the later one replaces the earlier one in a report."""
    return (Path(measurement.source).name, measurement.function, _text(measurement.sizes), measurement.threads,
            measurement.cold_cache, _text(measurement.options), measurement.machine.identity,
            measurement.transformed.version, measurement.transformed.flags)


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True)


def _latest(items: Iterable[tuple[Hashable, Any]]) -> tuple[Any, ...]:
    return tuple(dict(items).values())
