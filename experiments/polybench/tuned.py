"""A search for the recipe of a kernel before it is translated, kept in a database that `polysched c2c` looks up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polysched.errors import PolyschedError
from polysched.experiment import Report, Settings
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.source_options import SourceOptions
from polysched.search import Budget, tune

DATABASE = "tuned.db"


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What is searched.

    Parameters
    ----------
    file, include_dirs, defines : as `polysched tune` reads it.
    sizes : by C spelling.
    """

    file: Path
    sizes: Mapping[str, int]
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Found:
    """What came of it.

    Parameters
    ----------
    options : of `polysched c2c`.
    values : for the record.
    """

    options: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


def tuned(what: Tuning, settings: Settings, folder: Path, report: Report) -> Found:
    """Search as long as `--tuned` says; nothing where it is not given. Trials of a kept database are not repeated."""
    minutes = settings.options["tuned"]
    if minutes is None:
        return Found()
    database = folder / DATABASE
    options = PipelineOptions(source=SourceOptions(include_dirs=what.include_dirs, defines=what.defines))
    try:
        found = tune(what.file, sizes=what.sizes, options=options, budget=Budget(minutes=minutes), database=database,
                     resume=True, on_trial=lambda trial, count: report(f"trial {count}"))
    except PolyschedError as error:   # the models' code takes part, then
        return Found(values={"tuned": {"refused": str(error)}})
    return Found(options=("--database", str(database)), values={"tuned": found.to_json()})
