"""Schedules and C in a record: what a report shows side by side, and what its roofline needs.

A listing is packed (zlib, base64) and kept once per case, so that a results file stays small beside its repeats.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from polysched.errors import UsageError
from polysched.measure.measurement import Listing
from polysched.measure.timing.peak import cached_peaks
from polysched.target import find_compiler


def pack(listings: Sequence[Listing]) -> str:
    """Regions as one short line of text."""
    text = json.dumps([asdict(listing) for listing in listings], separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogateescape"), 9)).decode("ascii")


def unpack(packed: str) -> tuple[Listing, ...]:
    """The inverse of `pack`.

    Raises
    ------
    UsageError : the text was not made by `pack`.
    """
    try:
        text = zlib.decompress(base64.b64decode(packed, validate=True)).decode("utf-8", "surrogateescape")
        return tuple(Listing(**listing) for listing in json.loads(text))
    except (binascii.Error, zlib.error, ValueError, TypeError) as error:
        raise UsageError(f"the listings of a record cannot be read: {error}") from None


def report_values(report: Path) -> dict[str, Any]:
    """What a record keeps of the file that `polysched c2c --json` wrote.

    Returns
    -------
    `listings` (packed), `steps`, and, where the report has them, `sizes`, `flop_count` and `bytes_moved`.

    Raises
    ------
    UsageError : it is no such file.
    """
    try:
        found = json.loads(report.read_text(encoding="utf-8"))
        regions = found["regions"]
        values = {"listings": pack([Listing(**region["listing"]) for region in regions]),
                  "steps": [step for region in regions for step in region["steps"]]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"this is no report of polysched c2c: {error}", where=str(report)) from None
    return values | ({"sizes": found["sizes"]} if "sizes" in found else {}) | (found.get("work") or {})


def peak_values(dtype: str, threads: int) -> dict[str, Any]:
    """The machine's peaks as a record keeps them; None where `polysched machine` has not measured them."""
    peaks = cached_peaks(find_compiler())
    return {"dtype": dtype, "peaks": None if peaks is None else asdict(peaks),
            "peak_flop_per_second": None if peaks is None else peaks.operations_per_second(dtype, threads)}
