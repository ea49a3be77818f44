"""The searches that a peer needs before its contest: run once, kept in a folder, used again for the same request."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from polysched.errors import PolyschedError

NOTE = "searched.json"
RECORDS = "database_tuning_record.json"
"""TVM's name: one line per candidate that was measured."""
SECONDS = "search_seconds"
START_SECONDS, TRIAL_SECONDS = 120.0, 40.0
"""A search that takes longer has hung; TVM's own limits per candidate are lower."""
POLL_SECONDS = 2.0


def searched(request: Mapping[str, Any], folder: Path, command: Sequence[str], environment: Mapping[str, str],
             report: Callable[[str], None]) -> Path:
    """The folder with the records of a search; searches unless it was done for the same with as many trials.

    Parameters
    ----------
    request : what the records depend on, as JSON values, and `trials`.
    folder : of the records of this request.
    command : gets the name of a file with the request, and the folder as its `records`.

    Raises
    ------
    PolyschedError : the search fails, or does not end.
    """
    note = folder / NOTE
    found = json.loads(note.read_text()) if note.exists() else {}
    found.pop(SECONDS, None)
    if found | {"trials": 0} == dict(request) | {"trials": 0} and found["trials"] >= request["trials"]:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    asked = folder / "request.json"
    asked.write_text(json.dumps({**request, "records": str(folder)}))
    started = time.monotonic()
    run([*command, str(asked)], environment, START_SECONDS + TRIAL_SECONDS * request["trials"],
        lambda: report(f"searching, {measured(folder)} of {request['trials']}"))
    note.write_text(json.dumps({**request, SECONDS: time.monotonic() - started}))
    return folder


def seconds_of(folder: Path) -> float | None:
    """Wall seconds that the search in a folder took; None where there was none."""
    note = folder / NOTE
    found: float | None = json.loads(note.read_text()).get(SECONDS) if note.exists() else None
    return found


def measured(folder: Path) -> int:
    """How many candidates were measured so far."""
    records = folder / RECORDS
    return len(records.read_bytes().splitlines()) if records.exists() else 0


def run(command: Sequence[str], environment: Mapping[str, str], limit_seconds: float,
        heard: Callable[[], None]) -> None:
    """Run a program to its end, and tell now and then that it goes on.

    Raises
    ------
    PolyschedError : it fails, or takes longer than the limit; the witness is its last line.
    """
    with tempfile.TemporaryFile("w+") as output, subprocess.Popen(
            command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT) as process:
        try:
            left = limit_seconds
            while process.poll() is None and left > 0:
                heard()
                left -= POLL_SECONDS
                try:
                    process.wait(POLL_SECONDS)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            killed = process.poll() is None
            process.kill()
        output.seek(0)
        lines = [line for line in output.read().splitlines() if line.strip()]
    if killed or process.returncode:
        raise PolyschedError(f"the search took more than {limit_seconds:.0f} s" if killed else
                             f"the search ended with status {process.returncode}",
                             witness=lines[-1] if lines else None, hint="fewer --trials take less time")
