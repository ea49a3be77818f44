"""Results as rows, one per variant of a result: for CSV files and for pandas.

- `experiment`, `kernel`, `label`: which result; `experiment` is empty for those of `polysched run`
- `size.NAME`, `value.NAME`: the sizes; what an experiment keeps besides, where it is one number, word or truth value
- `threads`, `variant`, `reference`: which program; speed-ups are over the reference
- `seconds`, `least_seconds`, `largest_seconds`: the median of the repeats, and their range
- `repeats`, `disturbed`: how many there were, and how many other work on the machine disturbed
- `speed_up`, `speed_up_low`, `speed_up_high`: the median of the paired ratios, and its interval
- `flop_per_second`, `share_of_peak`: as far as operations and peak are known
- `largest_relative_difference`: from the reference's results
- `problem`: why there is no time; empty where there is one
- `machine`, `cores`, `compiler`, `flags`, `git_revision`, `started`, `command`: where it comes from

An entry is absent (empty in CSV, NaN in pandas) where it is not known.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from polysched.report.entry import Entry, Variant
from polysched.report.extras import required

if TYPE_CHECKING:
    import pandas as pd

    from polysched.report.reading import Results

Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = dict[str, Cell]

FIRST = ("experiment", "kernel", "label")
LAST = ("threads", "variant", "reference", "seconds", "least_seconds", "largest_seconds", "repeats", "disturbed",
        "speed_up", "speed_up_low", "speed_up_high", "flop_per_second", "share_of_peak", "largest_relative_difference",
        "problem", "machine", "cores", "compiler", "flags", "git_revision", "started", "command")


def rows(results: Results) -> list[Row]:
    """A row per variant of each result, and one for a result without variants."""
    return [row for entry in results.entries for row in _rows(entry)]


def columns(found: list[Row]) -> list[str]:
    """The columns of some rows: those of every result, around sizes and values in the order in which they occur."""
    own = dict.fromkeys(name for row in found for name in row if name not in FIRST + LAST)
    sizes = [name for name in own if name.startswith("size.")]
    return [*FIRST, *sizes, *LAST, *(name for name in own if not name.startswith("size."))]


def csv_text(results: Results) -> str:
    """The rows as CSV (RFC 4180) with a line of headings."""
    found = rows(results)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns(found), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue()


def frame(results: Results) -> pd.DataFrame:
    """The rows as a table of pandas.

    Raises
    ------
    UsageError : pandas is not installed.
    """
    found = rows(results)
    table: pd.DataFrame = required("pandas").DataFrame(found, columns=columns(found))
    return table


def _rows(entry: Entry) -> Iterator[Row]:
    shared: Row = {"experiment": entry.group, "kernel": entry.kernel, "label": entry.label}
    shared |= {f"size.{name}": value for name, value in entry.sizes.items() if _is_cell(value)}
    shared |= {"threads": entry.threads, "reference": entry.reference, "problem": entry.problem}
    where = entry.provenance
    end: Row = {"machine": where.machine.cpu, "cores": where.machine.cores, "compiler": where.compiler,
                "flags": where.flags, "git_revision": where.git_revision, "started": where.started,
                "command": where.command}
    end |= {f"value.{name}": value for name, value in entry.values.items() if _is_cell(value)}
    if not entry.variants:
        yield shared | end
    for variant in entry.variants:
        yield shared | _times(entry, variant) | end


def _times(entry: Entry, variant: Variant) -> Row:
    if variant.seconds is None:
        return {"variant": variant.name, "problem": variant.problem}
    rate, between = entry.rate(variant), variant.interval
    return {"variant": variant.name, "problem": variant.problem, "seconds": variant.seconds,
            "least_seconds": variant.least, "largest_seconds": variant.largest, "repeats": variant.repeats,
            "disturbed": variant.disturbed, "speed_up": variant.speed_up,
            "speed_up_low": between.low if between else None, "speed_up_high": between.high if between else None,
            "flop_per_second": rate, "share_of_peak": rate / entry.peak if rate and entry.peak else None,
            "largest_relative_difference": variant.largest_relative}


def _is_cell(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)
