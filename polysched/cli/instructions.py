"""What `--intrinsic` came to, on the standard error."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polysched.pipeline import Optimized


def show_instructions(arguments: argparse.Namespace, regions: Iterable[Optimized]) -> None:
    """One line per statement that was looked at, unless `--quiet`; nothing without `--intrinsic`."""
    if arguments.quiet:
        return
    for region in regions:
        for reason in region.instructions:
            print(f"polysched: {reason}", file=sys.stderr)
