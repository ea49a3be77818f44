"""`--verify-order`: run the emitted loops at small sizes and check the order of their instances."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polysched.pipeline import Optimized


def add_verify_order(parser: argparse.ArgumentParser) -> None:
    """Declare the option."""
    parser.add_argument("--verify-order", action="store_true",
                        help="also compile and run the emitted loops at small sizes and check that every dataflow "
                             "keeps its order, without the dependence analysis")


def verify_order_if_asked(arguments: argparse.Namespace, regions: Sequence[Optimized]) -> None:
    """Check every region and say so on standard error.

    Raises
    ------
    IllegalScheduleError : the emitted loops run dependent instances in the wrong order.
    """
    if not arguments.verify_order:
        return
    from polysched.measure.programs.instance_trace import instance_count, verify_order
    from polysched.target import find_compiler
    compiler = find_compiler(arguments.cc)
    for region in regions:
        sizes = verify_order(region.tiled, compiler=compiler)
        at = ", ".join(f"{p.spelling}={sizes[p.name]}" for p in region.scop.parameters) or "its only size"
        if not arguments.quiet:
            print(f"order of {region.scop.name} verified: {instance_count(region.scop, sizes)} instances at {at}",
                  file=sys.stderr)
